"""
Questions that only a person answers: destructive, irreversible, deploying, publishing, paying,
secrets, production, other people, the law. Every brain's answer passes here.

It would rather ask once too often: what is only talked about is told from what would be done by
phrases in `risks.toml`, and anything that is not clearly harmless is for a person.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from perpetualcc.brain.rules.settled import rest_of_settled
from perpetualcc.brain.rules.stance import Stance, is_about_what_is_there, stance_of
from perpetualcc.brain.rules.tables import table
from perpetualcc.brain.rules.text import fold
from perpetualcc.brain.rules.vocabulary import one_of, patterns
from perpetualcc.domain.questions import Option, Question

# Scripts and languages for which `risks.toml` has words; in any other the guard is blind.
_KNOWN_SCRIPTS = re.compile(
    r"[\x00-\u024f\u1e00-\u1eff\u0300-\u036f\u0400-\u04ff\u2000-\u2bff\u3000-\u30ff\u3400-\u9fff"
    r"\uac00-\ud7af\u1100-\u11ff\uff00-\uffef\ufe00-\ufe0f\U0001f000-\U0001faff]*"
)


def risk_of(question: Question) -> str:
    """
    Why only a person may answer; empty when anybody may.

    An answer may be a person's all the same: see `risk_of_choice`.
    """
    asked = _spoken(f"{question.text} . {question.header}")
    if not _KNOWN_SCRIPTS.fullmatch(asked):
        return "it is written in a script whose dangerous words are not known here"
    stance = stance_of(_visible(question.text))
    rest = _rest_of_settled(question)
    if rest is not None:
        # What its header calls it, the sentence settles.
        rested = Question(text=rest, options=())
        return _risk_of_text(rested, Stance.ACT) or _risk_of_options(question, Stance.DESIGN)
    return _risk_of_text(question, stance) or _risk_of_options(question, stance)


def risk_of_choice(question: Question, labels: tuple[str, ...]) -> str:
    """Why only a person may choose these of the options; empty when anybody may."""
    chosen = [option for option in question.options if option.label in labels]
    texts = [text for one in chosen for text in (one.label, one.about)]
    asked = _visible(question.text)
    stance = stance_of(asked)
    if _rest_of_settled(question) is not None:
        return _risk_of_settling(chosen) or _risk_of_setting(question.text, texts)
    if stance is Stance.DESIGN and patterns("risks", "how_one_signs_in").search(fold(asked)):
        spoken = [_but_names(one) for one in texts]
    else:
        spoken = texts
    risks = (_first_risk(group, spoken) for group in _OF_CHOSEN[stance])
    return next(filter(None, risks), "") or _risk_of_setting(question.text, texts)


def _rest_of_settled(question: Question) -> str | None:
    labels = tuple(_visible(option.label) for option in question.options)
    return rest_of_settled(_visible(question.text), labels)


def _risk_of_settling(chosen: list[Option]) -> str:
    """An option that names a thing for good does nothing, and nothing now."""
    labels, descriptions = (
        [_but_names(getattr(one, part)) for one in chosen] for part in ("label", "about")
    )
    present = next((one for one in labels if is_about_what_is_there(one)), "")
    if present:
        return f"the option is about what is there (“{present.strip()}”)"
    both = [*labels, *descriptions]
    risks = (
        _first_risk(group, texts)
        for group, texts in (
            ("acted", both),
            ("chosen", both),
            ("option", labels),
            ("description", descriptions),
        )
    )
    return next(filter(None, risks), "")


def _but_names(text: str) -> str:
    return patterns("risks", "only_named").sub(" ", fold(_visible(text)))


def _risk_of_setting(asked: str, texts: list[str]) -> str:
    """Harmless words tell nothing apart here: "password hash" is what is asked about."""
    spoken = fold(_visible(asked))
    for reason, setting, value in _settings():
        if not setting.search(spoken):
            continue
        found = next(filter(None, (value.search(fold(one)) for one in texts)), None)
        if found:
            return f"{reason} (“{found[0].strip()}”)"
    return ""


def _risk_of_text(question: Question, stance: Stance) -> str:
    texts = (f"{question.text} . {question.header}", question.text)
    asked, alone = map(_spoken, texts)
    is_of_the_product = stance in {Stance.DESIGN, Stance.ENCOUNTER}
    if is_of_the_product:
        harmless = patterns("risks", "harmless_in_a_design")
        asked, alone = (harmless.sub(" ", one) for one in (asked, alone))
    for reason, pattern in _always():
        if is_of_the_product and reason in table("risks")["of_a_design"]:
            continue
        # "Prod DB" is what a header calls a choice; only a sentence touches it.
        found = pattern.search(alone if "production" in reason else asked)
        if found is None:
            continue
        # What the sentence says harmlessly, its header may repeat.
        said = is_of_the_product or found[0] in fold(question.text)
        if not said or pattern.search(alone):
            return f"it {reason} (“{found[0].strip()}”)"
    return ""


def _risk_of_options(question: Question, stance: Stance) -> str:
    labels, descriptions = _GROUPS[stance]
    return _first_risk(labels, (option.label for option in question.options)) or _first_risk(
        descriptions, (option.about for option in question.options)
    )


# What is looked for in an option that would be chosen.
_OF_CHOSEN = {
    Stance.ACT: ("acted", "chosen", "encountered"),
    Stance.MEANS: ("acted", "chosen"),
    Stance.DESIGN: ("chosen",),
    Stance.ENCOUNTER: ("encountered",),
}
# What is looked for in labels and in descriptions.
_GROUPS = {
    Stance.ACT: ("option", "description"),
    Stance.MEANS: ("option", "aside"),
    Stance.DESIGN: ("behaviour", "aside"),
    Stance.ENCOUNTER: ("behaviour", "aside"),
}


def _first_risk(group: str, texts: Iterable[str]) -> str:
    for text in texts:
        spoken = _spoken(text)
        for reason in table("risks")[group]:
            found = _patterns(group, reason).search(spoken)
            if found:
                return f"{reason} (“{found[0].strip()}”)"
    return ""


@lru_cache(maxsize=64)  # the texts of one question, which are looked at for several reasons
def _spoken(text: str) -> str:
    """Folded, with what is harmless and what cannot be seen taken out."""
    return " ".join(patterns("risks", "harmless").sub(" ", fold(_visible(text))).split())


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return "".join(char if char.isprintable() else " " for char in shown)


@cache
def _always() -> list[tuple[str, re.Pattern[str]]]:
    return [(reason, _patterns("always", reason)) for reason in table("risks")["always"]]


@cache
def _patterns(group: str, reason: str) -> re.Pattern[str]:
    return one_of(table("risks")[group][reason])


@cache
def _settings() -> list[tuple[str, re.Pattern[str], re.Pattern[str]]]:
    pairs = table("risks")["setting"]
    return [
        (reason, re.compile(setting), re.compile(value))
        for reason, settings in pairs.items()
        for setting, value in settings
    ]
