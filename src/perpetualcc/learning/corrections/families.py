"""Things of which a project uses one (package managers, test runners …), from families.toml."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

TOKEN = re.compile(r"[a-z0-9_#][\w.#/:-]*[\w#()]|[a-z]", re.ASCII)
"""A name as code writes it, in folded text of any script."""


@cache
def _table() -> dict[str, Any]:
    source = files("perpetualcc.learning.corrections") / "families.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


@cache
def _weak() -> frozenset[str]:
    """Members that are ordinary words too: they count only beside another of their family."""
    return frozenset(_table()["ordinary_words"].split())


@cache
def _members() -> dict[str, tuple[str, str]]:
    return {
        member: (family, category)
        for category, families in _table().items()
        if category != "ordinary_words"
        for family, members in families.items()
        for member in members
    }


def named(folded: str) -> dict[str, set[str]]:
    """The family members that a text names, by family."""
    found: dict[str, set[str]] = {}
    for token in tokens(folded):
        if token in _members():
            found.setdefault(_members()[token][0], set()).add(token)
    return found


def tokens(folded: str) -> list[str]:
    """Code-like names in a text."""
    return [token.rstrip(".:") for token in TOKEN.findall(folded)]


def category_of(folded: str) -> str:
    """What a text that names tools is about, or empty. Ordinary words do not count."""
    for token in tokens(folded):
        if token in _members() and token not in _weak():
            return _members()[token][1]
    return ""


def substitutes(folded: str, assistant: str) -> bool:
    """Whether the text names one member where the assistant used another of the same family."""
    theirs = named(assistant)
    for family, members in named(folded).items():
        used = theirs.get(family, set())
        if used and members - used and (members - _weak() or used & members):
            return True
    return False


def contrasted(folded: str) -> bool:
    """Whether the text itself names two members of one family, at least one unmistakable."""
    return any(len(members) > 1 and members - _weak() for members in named(folded).values())
