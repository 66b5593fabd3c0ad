"""
What common words mean, whatever the language: `concepts.toml` names some forty meanings.

A rule learned from "not X but Y" in one language then counts in all of them. Order matters and is
kept: two meanings that follow each other in one clause are a signal of their own.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from perpetualcc.learning.corrections.text import fold

_UNSPACED = frozenset({"zh", "ja", "ko"})
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[?？؟]|[.,;:!。，、；！\n]")
_CLAUSE_ENDS = frozenset(".,;:!。，、；！\n")
_QUESTION = frozenset("?？؟")
_NEAR = 4
"""Words between two meanings that still belong together."""
_LONGEST = 16
"""Letters of a stem that are looked at."""
_OPENING = 3
"""Words a message opens with."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Vocabulary:
    """The words of one language, by meaning. Compared by identity."""

    words: Mapping[str, tuple[str, ...]]
    stems: Mapping[str, tuple[str, ...]]
    runs: re.Pattern[str] | None
    """Where words are not spaced: every known run of characters, the longest first."""

    def meanings(self, word: str) -> tuple[str, ...]:
        """What a word says; an exact word goes before the longest stem."""
        if word in self.words:
            return self.words[word]
        for size in range(min(len(word), _LONGEST), 1, -1):
            if word[:size] in self.stems:
                return self.stems[word[:size]]
        return ()


@cache
def vocabulary(code: str) -> Vocabulary:
    """The words of a language; of English where there are none."""
    table = _tables().get(code) or _tables()["en"]
    words: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    for meaning, entries in table.items():
        for entry in entries:
            kind = stems if entry.endswith("*") else words
            key = fold(entry.removesuffix("*"), accents=False)
            kind[key] = (*kind.get(key, ()), meaning)
    runs = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    unspaced = code in _UNSPACED
    return Vocabulary(words=words, stems=stems, runs=re.compile(runs) if unspaced else None)


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    """Language to meaning to words."""
    source = files("perpetualcc.learning.corrections") / "concepts.toml"
    tables: dict[str, dict[str, list[str]]] = {}
    for meaning, text in tomllib.loads(source.read_text(encoding="utf-8")).items():
        for part in text.split(";"):
            code, _, entries = part.strip().partition(":")
            tables.setdefault(code.strip(), {})[meaning] = entries.split()
    return tables


def concepts(text: str, code: str) -> dict[str, float]:
    """The meanings in folded text, how it opens, and which follow each other."""
    found: dict[str, float] = {}
    before: list[tuple[int, tuple[str, ...]]] = []
    for place, meanings in _places(text, code):
        if not meanings:  # a clause ends
            before = []
            continue
        for meaning in meanings:
            found[f"says:{meaning}"] = 0.6
            if place < _OPENING:
                found[f"opens:{meaning}"] = 0.6
        before = [*before[-1:], (place, meanings)]
        for (one, first), (other, second) in pairwise(before):
            if other - one <= _NEAR:
                found.update((f"{a}>{b}", 0.5) for a in first for b in second)
    return found


def _places(text: str, code: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where something is said, counted in words, and what; nothing where a clause ends."""
    known, english = vocabulary(code), vocabulary("en")
    place = 0
    for token in _TOKEN.findall(text):
        if token in _CLAUSE_ENDS:
            yield place, ()
        elif token in _QUESTION:
            yield place, ("asks",)
        elif known.runs is not None and not token.isascii():
            for match in known.runs.finditer(token):
                yield place + match.start() // 3, known.words[match.group()]
            place += len(token) // 3
        else:
            meanings = (english if token.isascii() and known.runs is not None else known).meanings(
                token
            )
            if meanings:
                yield place, meanings
        place += 1
