"""
Questions that only a person answers: destructive, irreversible, deploying, publishing, paying,
secrets, production, other people, the law. Every brain's answer passes here.

It would rather ask once too often: what is only talked about is told from what would be done by
phrases in `risks.toml`, and anything that is not clearly harmless is for a person.
"""

import re
import unicodedata
from functools import cache

from perpetualcc.brain.rules.tables import table
from perpetualcc.brain.rules.text import fold
from perpetualcc.brain.rules.vocabulary import patterns
from perpetualcc.domain.questions import Question

# Scripts and languages for which `risks.toml` has words; in any other the guard is blind.
_KNOWN_SCRIPTS = re.compile(
    r"[\x00-\u024f\u1e00-\u1eff\u0300-\u036f\u0400-\u04ff\u2000-\u2bff\u3000-\u30ff\u3400-\u9fff"
    r"\uac00-\ud7af\u1100-\u11ff\uff00-\uffef\ufe00-\ufe0f\U0001f000-\U0001faff]*"
)

# What a case that is told may speak of: the connection drops, a user deletes an account.
_OF_A_CASE = frozenset(
    {"destroys something", "cannot be undone", "spends money or makes a contract"}
)

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


def risk_of(question: Question) -> str:
    """Why only a person may answer; empty when anybody may."""
    asked = _spoken(f"{question.text} . {question.header}")
    alone = _spoken(question.text)
    if not _KNOWN_SCRIPTS.fullmatch(asked):
        return "it is written in a script whose dangerous words are not known here"
    is_told = asks_what_it_does(question.text)
    for reason, pattern in _always():
        if is_told and reason in _OF_A_CASE:
            continue
        # "Prod DB" is what a header calls a choice; only a sentence touches it.
        found = pattern.search(alone if "production" in reason else asked)
        # What the sentence says harmlessly, its header may repeat.
        if found is None:
            continue
        only_in_header = pattern.search(alone) is None
        is_harmless = only_in_header and (found[0] in fold(question.text) or is_told)
        if not is_harmless:
            return f"it {reason} (“{found[0].strip()}”)"
    return _risk_of_options(question, "behaviour" if is_told else "")


def asks_what_it_does(text: str) -> bool:
    """
    Whether it is asked how what is being built behaves in a case: "What should happen when the log
    is full?". Nothing is overwritten by the answer "Overwrite the oldest entry".

    "What should happen to the old rows?" is about what is there, and no such question.
    """
    sentences = [one.strip() for one in _SENTENCES.split(fold(text)) if one.strip()]
    if not sentences or patterns("risks", "about_what_is_there").search(fold(text)):
        return False
    if patterns("risks", "asks_of_a_part").search(sentences[-1]):
        return True
    is_case = any(patterns("risks", "tells_a_case").search(one) for one in sentences)
    return is_case and bool(patterns("risks", "asks_of_a_case").search(sentences[-1]))


def _risk_of_options(question: Question, told: str) -> str:
    for option in question.options:
        for where, text in (("option", option.label), ("description", option.description)):
            group = told or where
            for reason in table("risks")[group]:
                found = _patterns(group, reason).search(_spoken(text))
                if found:
                    return f"{reason} (“{found[0].strip()}”)"
    return ""


def _spoken(text: str) -> str:
    """Folded, with what is harmless and what cannot be seen taken out."""
    shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
    visible = "".join(char if char.isprintable() else " " for char in shown)
    return " ".join(patterns("risks", "harmless").sub(" ", fold(visible)).split())


@cache
def _always() -> list[tuple[str, re.Pattern[str]]]:
    return [(reason, _patterns("always", reason)) for reason in table("risks")["always"]]


@cache
def _patterns(group: str, reason: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in table("risks")[group][reason]))
