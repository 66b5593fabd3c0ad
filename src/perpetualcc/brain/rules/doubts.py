"""
Second thoughts about an option that a line chooses: may the line be about something else?

What is doubted goes to a person. Where one line names two options, the part of it that stands by
the question's words tells them apart.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from perpetualcc.brain.rules.apart import asked_for
from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.cases import is_no_default, leaves_a_rest
from perpetualcc.brain.rules.choices import Choice, core
from perpetualcc.brain.rules.closeness import KEYED, TOPICAL
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.nearness import Near, Nearness, begins_compound, has
from perpetualcc.brain.rules.terms import phrase, read_terms, values
from perpetualcc.brain.rules.text import fold, is_content, split_tokens, stem

_ONLY = re.compile(
    r"\b(?:only|nur|ausschliesslich|solo|seulement|uniquement|somente|apenas|soltanto|alleen|bara|endast|tylko)\b"
    r"(?!\s+(?:if|when|for|wenn|falls|bei|si|quand|lorsque|pour|cuando|para|se|quando|als|bij|om))|только"
)
_FOR_WHAT = re.compile(
    r"(\d+(?:\.\d+)?)\s*[^\W\d_]{0,9}\s*\b(?:for|on|fur|bei|para|pour|per|voor|for)\s+(?:the\s+)?([^\W\d_]+)"
)


_NONE = re.compile(
    r"\b(?:no|none|nothing|nobody|without|kein\w*|nichts|ohne|nada|ningun\w*|aucun\w*|rien|"
    r"sans|sin|nenhum\w*|sem|nessun\w*|niente|geen|niets)\b"
)
_ALTERNATIVES = re.compile(r"\s(?:or|oder|ou|of|eller|или|lub)\s")
# A line with another option is a rival when it has so much of what this one has of the question.
_AS_NEAR = 0.7


@dataclass(frozen=True, slots=True)
class Found:
    """One clause that chooses one option."""

    choice: Choice
    clause: Clause
    closeness: float


@dataclass(frozen=True, slots=True)
class Match:
    """What came of matching: the options chosen, the clauses, or why there are none."""

    chosen: tuple[Found, ...] = ()
    confidence: float = 0.0
    problem: str = ""


def told_apart(tier: list[Found], nearness: Nearness) -> Match | None:
    """Of options that one line names, the one that is its whole value, or stands by the words."""
    whole = [one for one in tier if phrase(one.clause.statement.text) == one.choice.folded]
    if len({one.choice.label for one in whole}) == 1:
        return Match(chosen=(whole[0],), confidence=0.9)
    statements = {id(one.clause.statement) for one in tier}
    choices = tuple({one.choice.label: one.choice for one in tier}.values())
    said = values(read_terms(tier[0].clause.statement.text))
    full = [choice for choice in choices if choice.every <= said]
    if len(statements) > 1:
        return _apart(nearness.nearest(choices), statements)
    alone = [choice for choice in choices if _stands_alone(choice, tier[0].clause)]
    if len(alone) == 1:
        return Match(
            chosen=tuple(one for one in tier if one.choice is alone[0])[:1], confidence=0.75
        )
    offered = tuple(full) if len(full) == 1 else choices
    return _apart(nearness.nearest(offered, on_one_line=True), statements)


def _apart(near: Near | None, statements: set[int]) -> Match | None:
    if near is None or id(near.clause.statement) not in statements:
        return None
    return Match(chosen=(Found(near.choice, near.clause, TOPICAL),), confidence=0.75)


def _stands_alone(choice: Choice, clause: Clause) -> bool:
    """ "Chromium only, Firefox has no extensions": one part of the line says so."""
    parts = re.split(r"[,;()]\s*", clause.statement.text)
    return any(
        _ONLY.search(fold(part)) and core(choice.own) <= values(read_terms(part)) for part in parts
    )


def doubt_of(
    one: Found,
    asked: Asked,
    choices: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
    nearness: Nearness,
    speaks_of: Callable[[Clause, Choice], bool],
) -> str:
    """Why the line may be about something else than the question; empty when nothing says so."""
    line = one.clause.statement.line
    if _is_vague(one.choice, asked, nearness):
        return f"line {line} only speaks of the same things"
    if is_no_default(asked, one.choice, one.clause):
        return f"line {line} names another default"
    others = tuple(choice for choice in choices if choice is not one.choice)
    if leaves_a_rest(one.clause, others):
        return f"line {line} says another thing for the rest"
    if (
        _is_in_another_part(one, asked, nearness)
        or _is_for_another(one, asked)
        or is_another_parts(one, choices, clauses, nearness)
        or _is_told_from_a_sibling_by_nothing(one, asked, choices, clauses, speaks_of)
    ):
        return f"line {line} says it of something else"
    if one.closeness >= KEYED or not nearness.weights:
        return ""
    here = nearness.shared(one.clause.about)
    for clause in clauses:
        there = nearness.shared(clause.said_words)
        is_sibling = clause.statement is one.clause.statement
        if is_sibling and says_more(one.clause, clause, asked):
            continue
        is_rival = nearness.weight(there) > nearness.weight(here) * _AS_NEAR
        if ((there - here and is_rival) or (is_sibling and not here)) and any(
            speaks_of(clause, other) for other in others
        ):
            return f"line {clause.statement.line} speaks of the same, and of another option"
    return ""


def _is_told_from_a_sibling_by_nothing(
    one: Found,
    asked: Asked,
    choices: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
    speaks_of: Callable[[Clause, Choice], bool],
) -> bool:
    """
    Whether a part of the line with another option is as near, or nearer.

    "anyhow in the binary, thiserror in the library crate", and asked is which crate; "0 when
    something matched, 1 when nothing did", and the question is about no match.
    """
    head = asked_for(asked.folded)
    ours = _shared(one.clause, asked)
    asks_none = bool(_NONE.search(asked.folded))
    is_of_the_contrary = _says_none(one.clause) is not asks_none
    siblings = (
        clause
        for clause in clauses
        if clause.statement is one.clause.statement
        and clause is not one.clause
        and any(speaks_of(clause, other) for other in choices if other is not one.choice)
    )
    return any(
        (is_of_the_contrary and _says_none(clause) is asks_none)
        or (ours & head and not ours - head - _shared(clause, asked))
        for clause in siblings
    )


def _shared(clause: Clause, asked: Asked) -> set[str]:
    return {word for word in asked.stems if has(clause.said_words, word)}


def _says_none(clause: Clause) -> bool:
    return any(_NONE.fullmatch(term.word) for term in clause.terms)


def says_more(ours: Clause, other: Clause, asked: Asked) -> bool:
    """Whether of two parts of a line ours has all that the other one has of the question."""
    return _shared(other, asked) < _shared(ours, asked)


def _is_in_another_part(one: Found, asked: Asked, nearness: Nearness) -> bool:
    """ "The heater goes off and the pumps stay on", and the question is about the heater."""
    words = core(one.choice.own)
    parts = one.clause.parts
    ours = [part for part in parts if words <= part]
    if ours and not any(_has_part_of_compound(part, asked, nearness) for part in ours):
        others = [part for part in parts if part not in ours and _numbers(part)]
        if one.choice.numbers and any(
            _has_part_of_compound(part, asked, nearness) for part in others
        ):
            return True
    numbers = {term for term in asked.terms if term[0] == "#"}
    if ours and any(part & numbers for part in parts):
        return not any(part & numbers for part in ours)
    if not ours or any(nearness.shared(part | one.clause.key_stems) for part in ours):
        return False
    others = [part for part in parts if part not in ours]
    kinds = {number[-1] for number in one.choice.numbers}
    is_plain = not one.choice.names | one.choice.numbers and not _is_called_so(one)
    return any(
        nearness.shared(part)
        and (
            is_plain
            or any(
                term[0] == "#" and term[-1] in kinds and term not in asked.terms for term in part
            )
        )
        for part in others
    )


def _numbers(part: frozenset[str]) -> frozenset[str]:
    return frozenset(term for term in part if term[0] == "#")


def _has_part_of_compound(part: frozenset[str], asked: Asked, nearness: Nearness) -> bool:
    """`Impfung`, and the question is about an `Impftermin` that no line speaks of."""
    unknown = asked.stems - nearness.weights.keys()
    return any(begins_compound(word, said) for word in unknown for said in part)


def is_another_parts(
    one: Found, choices: tuple[Choice, ...], clauses: tuple[Clause, ...], nearness: Nearness
) -> bool:
    """ "Kept at full resolution, uploaded in 2048 px", and the question is about uploads."""
    parts = one.clause.parts
    ours = [_around(part, one.choice, nearness) for part in parts if core(one.choice.own) <= part]
    if not ours:
        return False
    beside = [
        clause.chosen
        for clause in clauses
        if clause.statement is one.clause.statement and not clause.condition
    ]
    return any(
        nearness.weight(_around(part, other, nearness)) > max(map(nearness.weight, ours))
        for other in choices
        if other is not one.choice and any(core(other.own) <= chosen for chosen in beside)
        for part in parts
        if core(other.own) <= part and not core(one.choice.own) <= part
    )


def _around(part: frozenset[str], choice: Choice, nearness: Nearness) -> frozenset[str]:
    """What a part of a line has of the question, beside the option itself."""
    return nearness.shared(part - choice.every)


def _is_called_so(one: Found) -> bool:
    """Whether the line writes it like a name."""
    tokens = split_tokens(one.clause.statement.text)
    capital = {stem(token.word) for token in tokens if token.capital}
    return bool(core(one.choice.own) & capital)


def _is_for_another(one: Found, asked: Asked) -> bool:
    """ "0.3 for P and 0.2 for S", and the question is about S."""
    words = {token.word for token in split_tokens(asked.whole)}
    aims = {aim: number for number, aim in _FOR_WHAT.findall(fold(one.clause.statement.text))}
    meant = {number for aim, number in aims.items() if aim in words}
    ours = {number for number in aims.values() if number in one.choice.folded.split()}
    return bool(one.choice.numbers and ours and meant) and not ours & meant


def _is_vague(choice: Choice, asked: Asked, nearness: Nearness) -> bool:
    """Whether a label says no more than the question, or shares only a word of many lines."""
    words = core(choice.own)
    if _ALTERNATIVES.search(asked.folded) and words & asked.stems:
        # "Events or plain rows?" spells the options out.
        return False
    if not choice.names | choice.numbers and words <= asked.key_stems:
        return bool(words)
    return (
        len(words) == 1
        and sum(map(is_content, choice.folded.split())) > 1
        and not choice.names | choice.numbers
        and nearness.rarity(choice) > 1
    )
