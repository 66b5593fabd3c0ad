"""
Text as a sequence of terms: `@postgresql` for a known name in any spelling, `#900s` for a
quantity in any unit, and the stem of every other word.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from perpetualcc.brain.rules.text import Token, is_content, quantity, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import find_phrases, name_phrases, ordinary_names


@dataclass(frozen=True, slots=True)
class Term:
    """One unit of meaning in a text."""

    value: str
    word: str
    """The folded word, or the first word of a name."""
    at: int
    """Its first token."""

    @property
    def is_name(self) -> bool:
        return self.value.startswith("@")

    @property
    def is_number(self) -> bool:
        return self.value.startswith("#")


@lru_cache(maxsize=8192)
def read_terms(text: str, *, prose: bool = False) -> tuple[Term, ...]:
    """
    Terms in the order of the text, stop words included (their `value` is empty).

    In prose a name that is also an ordinary word counts only when it is written like a name.
    """
    tokens = split_tokens(spelled_out(text))
    names = {start: (end, name) for start, end, name in _names(tokens, prose=prose)}
    terms: list[Term] = []
    at = 0
    while at < len(tokens):
        word = tokens[at].word
        if at in names:
            end, name = names[at]
            terms.append(Term(f"@{name}", word, at))
            at = end
            continue
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        measured = quantity(word, following) if word[0].isdigit() else ""
        if measured:
            terms.append(Term(measured, word, at))
            at += 2
            continue
        terms.append(Term(_value(word), word, at))
        at += 1
    return tuple(terms)


_ONE_OF_A_UNIT = re.compile(
    r"\b(for|after|within|every|in|nach|fur|für|innerhalb|alle|pendant|apres|après|por|durante|tras|"
    r"depois de) (?:an?|eine[rnm]?|une?|una|uma)\s+"
    r"(?=(?:second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|seconde|"
    r"heure|jour|semaine|mois|an|hora|minut|d[ií]a|semana|mes|a[nñ]o)\w?\b)",
    re.IGNORECASE,
)


_EACH_UNIT = re.compile(
    r"\b(every|each|jede[nrs]?|chaque|cada|ogni|elke)\s+"
    r"(?=(?:second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|seconde|"
    r"heure|jour|semaine|mois|an|hora|minut[oa]|d[ií]a|semana|mes|a[nñ]o|uur|dag|giorno|ora)\b)",
    re.IGNORECASE,
)
# What both services call their own way to run it.
_RUNS_ON = re.compile(
    r"\bci(?:/cd)?(?: (?:pipelines?|jobs?))?(?: (?:runs?|is|lives?|happens?))?"
    r"(?: (?:on|in|with|via|through|by))? (git(?:hub|lab))\b"
    r"(?! (?:actions?|ci|pipelines?|workflows?))",
    re.IGNORECASE,
)


_JUST_ONE = re.compile(
    r"\b(?:(?:at most|only|exactly|just) (?:one|a single)|a single|"
    r"(?:höchstens|nur|genau) eine?[nmrs]?|(?:högst|bara|endast) en|(?:hoogstens|slechts) één|"
    r"une seule|un seul|(?:una|un) sol[ao]|uma única|um único|una sola|un solo)\s+(?=[^\W\d])",
    re.IGNORECASE,
)


def spelled_out(text: str) -> str:
    """`80%` and `600/min` in words."""
    text = re.sub(r"(?<=\d)\s*%", " percent", text)
    text = _ONE_OF_A_UNIT.sub(r"\1 1 ", text)
    text = _EACH_UNIT.sub(r"\1 1 ", text)
    text = _RUNS_ON.sub(r"\1 CI", text)
    text = _JUST_ONE.sub("1 ", text)
    return re.sub(r"(?<=\d)\s*/\s*(?=(?:s|sec|min|h|hour|second|minute|day|d)\b)", " per ", text)


def _value(word: str) -> str:
    if word[0].isdigit():
        return f"#{word}"
    return stem(word) if is_content(word) else ""


def _names(tokens: tuple[Token, ...], *, prose: bool) -> list[tuple[int, int, str]]:
    found = find_phrases(name_phrases(), [token.word for token in tokens])
    if not prose:
        return found
    return [
        (start, end, name)
        for start, end, name in found
        if end - start > 1 or tokens[start].word not in ordinary_names() or tokens[start].capital
    ]


def values(terms: tuple[Term, ...]) -> frozenset[str]:
    """The terms that say something."""
    return frozenset(term.value for term in terms if term.value)


@lru_cache(maxsize=4096)
def phrase(text: str) -> str:
    """Folded text with single blanks, for comparing whole labels."""
    return " ".join(token.word for token in split_tokens(text))
