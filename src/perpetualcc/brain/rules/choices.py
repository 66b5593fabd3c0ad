"""What each option of a question is, and what tells it from the others."""

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property

from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import date_format_of, phrase, read_terms, values
from perpetualcc.brain.rules.text import fold, quantity, split_tokens, stem, unit_among
from perpetualcc.brain.rules.vocabulary import ordinary_names
from perpetualcc.domain.questions import Question

_MARKERS = re.compile(
    r"\s*[(\[（]\s*(?:recommended|default|suggested|preferred|empfohlen|recomendado|recommande|recommandé|"
    r"raccomandato|aanbevolen|推奨|推荐)\s*[)\]）]\s*|^\s*(?:\d+|[A-Ha-h])\s*[.):]\s+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*[(（]([^()（）]*)[)）]")
_HOW_MANY = re.compile(
    r"\b(?:how many|in|wie viele\w*|cuant[oa]s|combien de|quant[oa]s|quanti|hoeveel) (\w+)"
)
_ALTERNATIVES = re.compile(r"\s+/\s+|\s+(?:or|oder|ou)\s+|\s*[=]\s*", re.IGNORECASE)


_WITHOUT = re.compile(r"(?<=\w),?\s+\b(?:without|ohne|sin|sans|sem|senza|zonder|utan)\b\s+")
_COMPARED = re.compile(
    r"\b(?:than|unlike|like|instead of|rather than|replaces?|not|no|without|compatible with|als|"
    r"statt|ohne|kein\w*|wie|anders als|que|comme|sin|sans|sem|como|au lieu d\w+|en lugar de|"
    r"pas)\s+"
    r"(?:(?:the|a|an|in|plain|der|die|das|le|la|el|o)\s+)?[\w.+#-]+"
    r"|[\w.+#-]+[- ](?:compatible|like|style|kompatibel)\b",
    re.IGNORECASE,
)
"""What a description only compares with: "faster than Redis", "MySQL-compatible"."""
_ONLY = re.compile(
    r"\b(?:only|nur|solo|seulement|uniquement|somente|apenas|soltanto|alleen|bara)\b"
)


@dataclass(frozen=True)
class Choice:
    """An option as rules see it."""

    label: str
    own: frozenset[str]
    """Its terms that not every option has."""
    every: frozenset[str]
    """All terms of its label."""
    spellings: tuple[frozenset[str], ...]
    """Its label's alternatives, `Cursor / keyset`, each reduced to what is its own."""
    described: frozenset[str]
    """Terms that only its description has."""
    refuses: bool
    """Whether it is the option of doing without."""
    escapes: bool
    """Whether it is "other", "both" or the like: never chosen by rules."""
    folded: str
    plain: frozenset[str] = frozenset()
    """Its words when one of its names is an ordinary word too, such as "Signals"."""
    is_universal: bool = False
    """Whether it speaks of all or every: nothing less chooses it."""
    excluded: frozenset[str] = frozenset()
    """What it does without: `account` in "By link, without an account"."""
    rivals: frozenset[str] = frozenset()
    """For an option that is "only" something: what the other options name."""
    twin: bool = False
    """Whether another option has the same terms, in another order: only the label tells."""
    is_told_by_signs: bool = False
    """Whether another option has the same words in the same order, too."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Known names among its own terms."""
        return frozenset(term for term in self.own if term.startswith("@"))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Quantities and versions among its own terms."""
        return frozenset(term for term in self.own if term.startswith("#"))


def read_choices(question: Question) -> tuple[Choice, ...]:
    """The options of a question, told apart."""
    unit = _unit_asked_for(question)
    formats = _date_formats([option.label for option in question.options])
    rough = [
        _read(option.label, unit, shows=formats.get(option.label, ""))
        for option in question.options
    ]
    real = [choice for choice in rough if not choice.escapes]
    common = frozenset.intersection(*(one.every for one in real)) if len(real) > 1 else frozenset()
    descriptions = [
        values(read_terms(_COMPARED.sub(" ; ", option.description))) for option in question.options
    ]
    return tuple(
        _apart(
            replace(
                choice,
                twin=sum(one.every == choice.every for one in rough) > 1,
                is_told_by_signs=sum(one.folded == choice.folded for one in rough) > 1,
            ),
            real,
            common,
            descriptions,
            index,
        )
        for index, choice in enumerate(rough)
    )


def _unit_asked_for(question: Question) -> str:
    """`seconds` in "how many seconds …?" or `HOLD_SECONDS`: what bare numbers in labels count."""
    if not any(option.label.strip().isdecimal() for option in question.options):
        return ""
    found = _HOW_MANY.search(fold(question.text))
    if found and quantity("1", found[1]):
        return found[1]
    return unit_among(f"{question.header} ; {question.text}")


def _date_formats(labels: list[str]) -> dict[str, str]:
    """Where each label is the same date in another format, it stands for its format."""
    named = {label: date_format_of(_ASIDE.sub("", _MARKERS.sub(" ", label))) for label in labels}
    differ = len(set(named.values())) == len(labels) > 1 and all(named.values())
    return named if differ else {}


def _read(label: str, unit: str, *, shows: str = "") -> Choice:
    text = shows or _MARKERS.sub(" ", label).strip() or label
    if unit and text.isdecimal():
        text = f"{text} {unit}"
    asides = _ASIDE.findall(text)
    main = _ASIDE.sub(" ", text).strip() or text
    words = [token.word for token in split_tokens(main)]
    folded = phrase(main)
    every = values(read_terms(main))
    alternatives = [main, *asides]
    if not asides:
        parts = [part for part in _ALTERNATIVES.split(main) if part.strip()]
        alternatives = [main, *(parts if len(parts) > 1 else [])]
    without = _WITHOUT.search(fold(main))
    excluded = values(read_terms(main[without.end() :])) if without else frozenset[str]()
    if without and without.start():
        every = values(read_terms(main[: without.start()]))
    return Choice(
        label=label,
        excluded=excluded,
        own=every,
        every=every,
        spellings=tuple(values(read_terms(part)) for part in alternatives),
        described=frozenset(),
        refuses=bool(words)
        and (words[0] in word_set("refusing") or fold(main) in word_set("refusing")),
        escapes=folded in word_set("escapes"),
        folded=folded,
        is_universal=bool(words) and words[0] in word_set("universal") and not _is_period(words),
        plain=_plain(main),
    )


def _is_period(words: list[str]) -> bool:
    """ "Every 10 minutes" leaves nothing out, and still says how often."""
    following = words[1] if len(words) > 1 else ""
    return following.isdecimal() or bool(quantity("1", following))


def _plain(text: str) -> frozenset[str]:
    terms = [term for term in read_terms(text) if term.value]
    ordinary = [term for term in terms if term.is_name and term.word in ordinary_names()]
    if not ordinary:
        return frozenset()
    words = {stem(term.word) if term in ordinary else term.value for term in terms}
    return frozenset(words) - generic() or frozenset(words)


def _apart(
    choice: Choice,
    real: list[Choice],
    common: frozenset[str],
    descriptions: list[frozenset[str]],
    index: int,
) -> Choice:
    own = choice.every - common or choice.every
    others: frozenset[str] = frozenset().union(
        *(terms for at, terms in enumerate(descriptions) if at != index)
    )
    offered = frozenset[str]().union(*(one.every for one in real))
    return replace(
        choice,
        rivals=offered - choice.every if _ONLY.search(choice.folded) else frozenset(),
        own=own,
        spellings=tuple(
            dict.fromkeys(spelling - common for spelling in choice.spellings if spelling - common)
        ),
        described=descriptions[index] - others,
    )


@cache
def generic() -> frozenset[str]:
    """Stems that say little: they could stand in any label."""
    return frozenset(stem(word) for word in word_set("generic"))


@cache
def bland() -> frozenset[str]:
    """Stems that add nothing to a key."""
    return frozenset(stem(word) for word in word_set("bland"))


def core(terms: frozenset[str]) -> frozenset[str]:
    """Terms without the words that say little; all of them when there are no others."""
    return terms - generic() or terms
