"""
What a rule asks for: what it wants, what it refuses, how much, where, and how often.

Two claims agree, are contrary, or stand apart: a rule for one place and a rule for all do not meet.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from importlib.resources import files
from typing import Any

from perpetualcc.learning.corrections import families

_SAME = 0.6
"""Share of common words above which two rules are about the same thing."""
_OPPOSED = 0.5
"""The same for two of which one refuses what the other wants."""
REMOVE = "remove"
"""What a rule says that takes something away, in any language."""


class Relation(Enum):
    """How two rules stand to each other."""

    SAME = auto()
    """They ask for the same, in whatever words."""
    CONTRARY = auto()
    """They cannot both be followed."""
    APART = auto()
    """Neither: both may stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One rule, read."""

    words: dict[str, bool]
    """What it is about; whether that is wanted."""
    members: dict[str, dict[str, bool]]
    """Of what a project uses one (`families`): the members named, and whether they are wanted."""
    numbers: dict[str, bool]
    """Those that are named, and whether they are wanted."""
    order: tuple[str, ...]
    """The words in their order, where it matters: "tests before code"."""
    parts: frozenset[frozenset[str]]
    """The words of each of several things it asks for: "tabs for Go and spaces for Python"."""
    where: frozenset[str]
    """What it is narrowed to; nothing: it holds everywhere."""
    unless: frozenset[str]
    """What is excepted."""
    is_sometimes: bool
    """It allows rather than asks."""
    deeds: frozenset[str]
    """What is said of the members: the words that are none."""

    def refuses(self, family: str, member: str) -> bool:
        return self.members.get(family, {}).get(member) is False

    def numbers_that_are(self, *, wanted: bool) -> set[str]:
        return {number for number, is_wanted in self.numbers.items() if is_wanted is wanted}

    def preferring(self, prefers: Mapping[str, str]) -> "Claim":
        """The same, where of each family this member is wanted, unless the rule refuses it."""
        members = dict(self.members)
        for family, member in prefers.items():
            if not self.refuses(family, member):
                refused = {name: False for name, wanted in members.get(family, {}).items()
                           if not wanted}  # fmt: skip
                members[family] = {member: True, **refused}
        return replace(self, members=members)

    def first_wanted(self) -> dict[str, str]:
        """Family → the member that is named first of those that are wanted."""
        return {family: self.wanted(family)[0] for family in self.members if self.wanted(family)}

    def wanted(self, family: str) -> list[str]:
        """In the order in which they are named."""
        return [name for name, wanted in self.members.get(family, {}).items() if wanted]


def relation(one: Claim, other: Claim) -> Relation:
    """Whether two rules agree, exclude each other, or have nothing to do with each other."""
    if bool(one.where) != bool(other.where) or (one.where and not one.where & other.where):
        return Relation.APART
    shared = one.words.keys() & other.words.keys()
    opposed = {word for word in shared if one.words[word] is not other.words[word]}
    likeness = len(shared) / max(1, len(one.words.keys() | other.words.keys()))
    is_one_matter = likeness >= _SAME or (opposed and likeness >= _OPPOSED)
    if _spares(one, other) or _spares(other, one) or _in_other_order(one, other):
        return Relation.APART
    if _is_exchanged(one, other):
        return Relation.CONTRARY
    if _is_beside(one, other) or not (is_one_matter or _same_choice(one, other)):
        return Relation.APART
    if opposed and not _other_member(one, other) and _is_narrower(one, other, opposed):
        return Relation.APART
    is_opposed = len(opposed) > len(shared - opposed) or any(map(families.named, opposed))
    if is_opposed or _other_member(one, other) or _other_measure(one, other):
        return Relation.CONTRARY
    if opposed or _refuse_other_numbers(
        one, other
    ):  # they agree in one thing and not in another: a person sees both
        return Relation.APART
    return Relation.SAME if likeness >= _SAME or _wants_the_same(one, other) else Relation.APART


def _same_choice(one: Claim, other: Claim) -> bool:
    """Whether both choose from one family, and do the same with what they choose."""
    common = one.members.keys() & other.members.keys()
    if not common:
        return False
    if not common <= _objects():
        return True
    return not one.deeds or not other.deeds or bool(one.deeds & other.deeds)


def _is_beside(one: Claim, other: Claim) -> bool:
    """Whether what one refuses of a family leaves what the other wants: "pnpm" and "not npm"."""
    return any(
        not one.members[family].keys() & other.members[family].keys()
        and not (one.wanted(family) and other.wanted(family))
        for family in one.members.keys() & other.members.keys()
    )


def _spares(one: Claim, other: Claim) -> bool:
    """Whether it only says what must not be taken away: "never delete tests" asks for none."""
    return one.words.get(REMOVE) is False and REMOVE not in other.words


def _is_narrower(one: Claim, other: Claim, opposed: set[str]) -> bool:
    """Whether what is refused is a part of what is wanted: "never rename tests", "write tests"."""
    for refuses, allows in ((one, other), (other, one)):
        refused = refuses.numbers_that_are(wanted=False)
        is_asked = any(not refuses.words[word] for word in opposed)
        if is_asked and refused and not refused & allows.numbers_that_are(wanted=True):
            return True
    known = {family for word in opposed for family in families.named(word)}
    return any(
        not wanted and word not in allows.words and not known & families.named(word).keys()
        for refuses, allows in ((one, other), (other, one))
        if any(not refuses.words[word] for word in opposed)
        for word, wanted in refuses.words.items()
    )


def _other_member(one: Claim, other: Claim) -> bool:
    """Whether both want one of a family, and not the same one."""
    for family in one.members.keys() & other.members.keys():
        mine, theirs = set(one.wanted(family)), set(other.wanted(family))
        if mine and theirs and not mine & theirs:
            return True
    return False


def _wants_the_same(one: Claim, other: Claim) -> bool:
    """Every family that one names, the other names, too, and they want the same of it."""
    if not one.members or one.members.keys() != other.members.keys():
        return False
    return all(
        one.wanted(family)[:1] == other.wanted(family)[:1]
        and (one.wanted(family) or one.members[family] == other.members[family])
        for family in one.members
    )


def _other_measure(one: Claim, other: Claim) -> bool:
    mine, theirs = one.numbers_that_are(wanted=True), other.numbers_that_are(wanted=True)
    return (
        bool(mine and theirs and mine != theirs)
        or bool(mine & other.numbers_that_are(wanted=False))
        or bool(theirs & one.numbers_that_are(wanted=False))
        or one.unless != other.unless
        or one.is_sometimes is not other.is_sometimes
    )


def _refuse_other_numbers(one: Claim, other: Claim) -> bool:
    """Both refuse some, and not the same: "not Node 16", "not Node 18"."""
    if any(claim.numbers_that_are(wanted=True) for claim in (one, other)):
        return False
    return bool(one.numbers and other.numbers and one.numbers != other.numbers)


def _is_exchanged(one: Claim, other: Claim) -> bool:
    """Whether both share out the same, and nothing alike: "spaces for Go and tabs for Python"."""
    mine, theirs = (frozenset().union(*claim.parts) for claim in (one, other))
    return bool(mine) and mine == theirs and not one.parts & other.parts


def _in_other_order(one: Claim, other: Claim) -> bool:
    """Whether one puts first what the other puts last."""
    shared = {*one.order} & {*other.order}
    return [word for word in one.order if word in shared] != [
        word for word in other.order if word in shared
    ]


@cache
def table() -> dict[str, Any]:
    """`claims.toml`: what is known of words, beside the languages' own files."""
    source = files("perpetualcc.learning") / "claims.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


@cache
def _objects() -> frozenset[str]:
    return frozenset(table()["objects"].split())
