"""
Several answers at once: what the closest lines choose together, or the one list that names two.

"Completions for bash, zsh and fish" chooses these three of four. A list that a person might read
otherwise is left: when another list near the question names other options, when an option is
refused or only weighed anywhere on it, or when the list speaks of nothing that was asked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from perpetualcc.brain.rules.apart import asked_for
from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, bland, core, generic
from perpetualcc.brain.rules.closeness import KEYED, TOPICAL
from perpetualcc.brain.rules.doubts import Found, Match
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.mentions import weak
from perpetualcc.brain.rules.nearness import has
from perpetualcc.brain.rules.tables import table, word_set
from perpetualcc.brain.rules.terms import spelled_out
from perpetualcc.brain.rules.text import fold, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import cues, find_phrases, topics_of_name
from perpetualcc.domain.requirements import StatementKind

_ONLY = re.compile(
    r"\b(?:only|nur|ausschliesslich|solo|seulement|uniquement|somente|apenas|soltanto|alleen)\b"
)
_OR = re.compile(r"\s(?:or|oder|ou|o|eller|или|lub)\s|或|または|もしくは|또는")
_EXAMPLES = re.compile(
    r"\b(?:e\.g|z\. ?b|p\. ?ej|such as|for example|zum beispiel|por ejemplo|par exemple|"
    r"por exemplo|ad esempio)\b"
)
_AT_LEAST = 2
# Of the question's words that say something, so many must be near the list.
_ENOUGH = 0.3
# Three quantities out of four stand together by no chance.
_FEW = 0.15
# So many of them, if they are only of one kind with its words.
_AKIN = 0.5
# "20, 40 or 60".
_A_LIST = 3


@dataclass(frozen=True, slots=True)
class Listing:
    """The options that one list names."""

    choices: tuple[Choice, ...]
    clause: Clause
    nearness: float
    """The share of the question's telling words that stand with it."""


def find_listing(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> Listing | None:
    """The list that answers; None when there is none, or several differ."""
    found = [
        one
        for group in _groups(clauses)
        if (one := _listed(asked, choices, group)) is not None
        and one.nearness >= (_FEW if _is_of_numbers(one) else _ENOUGH)
    ]
    if not found:
        return None
    if any(_refuses(clause, one) for clause in clauses for one in found[0].choices):
        return None
    best = max(found, key=lambda one: (one.nearness, len(one.choices)))
    agree = all(one.choices == best.choices for one in found if one.nearness >= best.nearness)
    return best if agree else None


def _is_of_numbers(listing: Listing) -> bool:
    return len(listing.choices) >= _A_LIST and all(one.numbers for one in listing.choices)


def _refuses(clause: Clause, choice: Choice) -> bool:
    """ "No SMS", and nothing else."""
    return _names(choice, clause.refused) and clause.refused - weak() <= choice.every


def _groups(clauses: Iterable[Clause]) -> Iterator[tuple[Clause, ...]]:
    """The clauses of each statement, and of all statements under one key."""
    by_line: dict[int, list[Clause]] = defaultdict(list)
    by_key: dict[str, list[Clause]] = defaultdict(list)
    for clause in clauses:
        by_line[id(clause.statement)].append(clause)
        if clause.statement.key and clause.statement.kind is not StatementKind.TASK:
            by_key[clause.statement.key].append(clause)
    for group in (*by_line.values(), *by_key.values()):
        yield tuple(group)


def _listed(asked: Asked, choices: tuple[Choice, ...], group: tuple[Clause, ...]) -> Listing | None:
    either = frozenset[str]().union(*map(_either, group))
    chosen = frozenset[str]().union(either, *(one.chosen for one in group))
    weighed = frozenset[str]().union(*(one.open for one in group)) - either
    doubted = weighed.union(*(one.refused for one in group))
    named = tuple(one for one in choices if not one.escapes and _names(one, chosen))
    if (
        len(named) < _AT_LEAST
        or len(named) == len(choices)
        or any(one.twin or _names(one, doubted) for one in named)
        or any(_is_half_named(one, chosen | weighed) for one in choices if one not in named)
        or any(asked.scopes and one.scopes and not asked.scopes & one.scopes for one in group)
    ):
        return None
    offered = frozenset[str]().union(*(one.every for one in choices))
    telling = asked.key_stems - weak() - offered or asked.stems - offered - word_set("asking")
    about = frozenset[str]().union(*(one.about for one in group))
    shared = {word for word in telling if has(about, word)}
    akin = {word for word in telling - shared if _kin(word) & about}
    if not shared and len(akin) < _AKIN * len(telling):
        akin = set()
    near = len(shared) + len(akin)
    return Listing(named, group[0], near / len(telling) if telling else 0.0)


def _either(clause: Clause) -> frozenset[str]:
    """ "20, 40 or 60 minutes" is a list, if three are named and nothing else is weighed."""
    numbers = frozenset(term.value for term in clause.terms if term.is_number)
    if len(numbers) < _A_LIST or numbers.isdisjoint(clause.open):
        return frozenset()
    words = [token.word for token in split_tokens(spelled_out(clause.statement.text))]
    weighs = find_phrases(cues("open"), words) or find_phrases(cues("after"), words)
    return frozenset() if weighs else numbers & clause.open


@cache
def _kin(word: str) -> frozenset[str]:
    """Words for things of one kind: a reminder is a notification."""
    groups = [frozenset(map(stem, line.split())) for line in table("words")["kin"]]
    return frozenset[str]().union(*(group - {word} for group in groups if word in group))


def _names(choice: Choice, said: frozenset[str]) -> bool:
    words = core(choice.own)
    if words and all(has(said, word) for word in words):
        return True
    return bool(choice.plain) and choice.plain <= said


def _is_half_named(choice: Choice, said: frozenset[str]) -> bool:
    """Whether some of its words stand there: it may be meant as well."""
    return any(has(said, word) for word in choice.own - generic())


def several(tier: list[Found], choices: tuple[Choice, ...]) -> Match:
    chosen: dict[str, Found] = {}
    for one in tier:
        chosen.setdefault(one.choice.label, one)
    for choice in choices:
        # "A dark and a light theme": an ordinary word is a name beside another name.
        beside = next(
            (one for one in tier if choice.plain and choice.plain <= one.clause.chosen), None
        )
        if beside is not None and not choice.escapes:
            chosen.setdefault(choice.label, replace(beside, choice=choice))
    if left := _numbers_left(tier[0], [one for one in choices if one.label not in chosen]):
        return Match(problem=f"line {tier[0].clause.statement.line} also says {left}")
    offered = frozenset().union(*(choice.every for choice in choices))
    for one in tier:
        missing = {
            term
            for term in one.clause.chosen - offered
            if term.startswith("@") and one.clause.key_topics
        }
        if missing and int(one.closeness) == KEYED and _serve_alike(missing, chosen.values()):
            name = min(missing)[1:]
            return Match(problem=f"the requirements also name {name}, which is not offered")
    in_order = [chosen[choice.label] for choice in choices if choice.label in chosen]
    return Match(chosen=tuple(in_order), confidence=0.9 if tier[0].closeness >= TOPICAL else 0.8)


def half_named(
    chosen: tuple[Found, ...], choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> str:
    """An option that is not chosen, and some words of which stand on the lines that choose."""
    lines = {id(one.clause.statement) for one in chosen}
    said = frozenset[str]().union(
        *(one.chosen | one.open for one in clauses if id(one.statement) in lines)
    )
    taken = frozenset[str]().union(*(one.choice.every for one in chosen))
    labels = {one.choice.label for one in chosen}
    return next(
        (
            one.label
            for one in choices
            if one.label not in labels and _is_half_named(one, said - taken)
        ),
        "",
    )


def doubt_of_list(
    chosen: tuple[Found, ...],
    asked: Asked,
    choices: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
) -> str:
    """
    Why a list may not be what is asked for; empty when nothing says so.

    "Roles: member, treasurer" names all that there are, and not who may see the accounts;
    "Reminder channels" are not those of alerts, and "Zenodo or Figshare" is not both.
    """
    statement = chosen[0].clause.statement
    text = fold(statement.text)
    if len(chosen) == len(choices):
        return f"line {statement.line} names all that there is"
    if len(chosen) == 1 and not _ONLY.search(text):
        return f"line {statement.line} names one of them"
    if _EXAMPLES.search(text) or (len(chosen) == _AT_LEAST and _OR.search(text)):
        return f"line {statement.line} decides on none"
    beside = [one for one in clauses if one.statement is statement]
    about = frozenset[str]().union(*(one.about for one in beside))
    told = asked.key_stems - weak() - frozenset[str]().union(*(one.every for one in choices))
    key = chosen[0].clause.key_stems - generic() - bland()
    if (
        any(has(key, word) for word in asked_for(asked.folded))
        and any(not has(asked.stems | asked.terms, word) for word in key)
        and any(not has(about, word) for word in told)
    ):
        return f"line {statement.line} lists those of something else"
    return ""


def _numbers_left(one: Found, others: list[Choice]) -> str:
    """ "40, 77 or 104 cells": the unit is said once, and holds for all of them."""
    said = {token.word for token in split_tokens(one.clause.statement.text)}
    numbers = [word for choice in others for word in choice.folded.split() if word.isdecimal()]
    return next((number for number in numbers if number in said), "")


def _serve_alike(missing: set[str], found: Iterable[Found]) -> bool:
    served = topics_of_name()
    ours = {
        topic for one in found for name in one.choice.names for topic in served.get(name[1:], ())
    }
    return any(ours & served.get(name[1:], frozenset()) for name in missing)
