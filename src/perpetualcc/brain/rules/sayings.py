"""What one clause of the requirements says about one option of a question."""

import re
from enum import Enum, auto

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.closeness import KEYED, TOPICAL
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import phrase, read_terms, values
from perpetualcc.brain.rules.vocabulary import topics_of_name
from perpetualcc.domain.requirements import StatementKind

# "PDF and Word" is both.
_JOINED = re.compile(r"\s(?:and|und|et|och|&|\+)\s")


class Says(Enum):
    """What a clause says about an option."""

    CHOOSES = auto()
    REFUSES = auto()
    WEIGHS = auto()
    """Mentions it, and decides nothing."""


def says(clause: Clause, choice: Choice, near: float, asked: Asked) -> Says | None:
    """What a clause says about an option; None for nothing."""
    if choice.refuses:
        return _says_of_refusal(clause, choice, near, asked)
    if clause.says_none:
        return None
    if holds(clause, choice, clause.chosen, near, asked):
        return Says.CHOOSES
    if holds(clause, choice, clause.refused, near):
        return Says.REFUSES
    if holds(clause, choice, clause.open, near):
        return Says.WEIGHS
    return None


def _says_of_refusal(clause: Clause, choice: Choice, near: float, asked: Asked) -> Says | None:
    if clause.says_none:
        return Says.CHOOSES if near >= KEYED else None
    if phrase(clause.statement.text) == choice.folded:
        return Says.CHOOSES
    what = core(choice.own)
    if what and what <= clause.refused:
        return Says.CHOOSES
    refused_topics = clause.topics & asked.topics and clause.refused and not clause.chosen
    return Says.CHOOSES if refused_topics and near >= TOPICAL and len(choice.every) <= 1 else None


def _is_written(choice: Choice, text: str) -> bool:
    """
    Word for word, and sign for sign where that alone tells: `src/__main__.py`. Outside of code
    Markdown takes `__` away, so that `src/main.py` may be either.
    """
    if not choice.is_told_by_signs:
        return choice.folded in phrase(text)
    label = choice.label.casefold()
    return any(one in text.casefold() for one in (label, _EMPHASIS.sub("", label)))


_EMPHASIS = re.compile(r"[_*~`]+")


def holds(
    clause: Clause,
    choice: Choice,
    said: frozenset[str],
    near: float,
    asked: Asked | None = None,
) -> bool:
    """Whether what a clause says with one polarity names this option and no less than all of it."""
    if not said or (choice.twin and not _is_written(choice, clause.statement.text)):
        return False
    if choice.is_universal and not _is_universal(clause):
        return False
    if choice.excluded & clause.chosen or choice.rivals & values(read_terms(clause.statement.text)):
        return False
    if _JOINED.search(choice.label) and not core(choice.every) <= clause.about | said:
        return False
    if any(
        _names(clause, spelling, said, near, asked) for spelling in (choice.own, *choice.spellings)
    ):
        return True
    if near >= KEYED and _value_in(choice, said):
        return True
    return near >= KEYED and _is_described(choice, said, asked)


def _is_described(choice: Choice, said: frozenset[str], asked: Asked | None) -> bool:
    """Whether a key's value is what only this description names: "a fragment, swapped by HTMX"."""
    named = frozenset(term for term in choice.described if term[0] == "@")
    if not choice.names and named and named <= said:
        return True
    served = topics_of_name()
    topics = asked.topics if asked else frozenset[str]()
    return any(served.get(term[1:], frozenset()) & topics for term in named & said)


def _is_universal(clause: Clause) -> bool:
    words = phrase(clause.statement.text).split()
    return any(word in word_set("universal") for word in words)


def _is_meant(
    clause: Clause, more: frozenset[str], names: frozenset[str], asked: Asked | None
) -> bool:
    """Whether a name alone is what is asked for: of a "MongoDB text index" MongoDB says little."""
    plain = frozenset(term for term in core(more) if term[0] not in "@#")
    if asked is None or not asked.topics or not plain - generic() or plain & clause.about:
        return True
    served = topics_of_name()
    known = [served[name[1:]] for name in names if served.get(name[1:])]
    return not known or any(topics & asked.topics for topics in known)


def _names(
    clause: Clause,
    terms: frozenset[str],
    said: frozenset[str],
    near: float,
    asked: Asked | None = None,
) -> bool:
    if not terms:
        return False
    names = frozenset(term for term in terms if term.startswith("@"))
    numbers = frozenset(term for term in terms if term.startswith("#"))
    stated = frozenset(term for term in clause.about if term.startswith("#"))
    if numbers and not numbers <= said and (stated or not names):
        return False
    if names:
        return names <= said and _is_meant(clause, terms - names, names, asked)
    needed = core(terms)
    # What is to be done says nothing about how, unless it names it.
    if near < TOPICAL or clause.statement.kind is StatementKind.TASK:
        return False
    if numbers:
        words = needed - numbers - generic()
        return numbers <= said and (words <= said or near >= KEYED)
    return needed <= said


def _value_in(choice: Choice, said: frozenset[str]) -> bool:
    """The value of a key is part of the label: `cursor` in "Cursor-based pagination"."""
    value = said - generic() or said
    return bool(value & choice.own) and value <= choice.every
