"""
The last look: which option stands nearest to the question's rare words, part by part of a line.

Needs no key, no topic and no list of words: forms of a word are told by what they share
(`Termin`, `Termindauer`), and a word counts the more the fewer lines have it. An option counts
only where a line chooses it, and only when no other option is as near.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import quantity
from perpetualcc.domain.requirements import StatementKind

# Of the question's words that the requirements have at all, so much must be near the option.
_ENOUGH = 0.5
# Another option must be this much farther away.
_MUCH_NEARER = 0.7
# A word, or an option, that so many lines have says little about any of them.
_COMMON = 4
# What a word counts that could stand in any question.
_FAINT = 0.5
# So many words of the question may be nowhere in the requirements, for each one that is near.
_STRANGE = 2
_ROOT = 5
# "Passwordless" is no form of "password".
_WITHOUT = ("less", "free", "los", "frei")
_COMPOUND = 6
_PARTS = re.compile(r"[,;:()]\s|\s[–—-]\s|\s(?:and|und|y|et|e|en|och|и|but|while)\s", re.IGNORECASE)  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Near:
    """One option, the line that chooses it, and how much of the question stands there."""

    choice: Choice
    clause: Clause
    weight: float
    """Of the words in the same part of the line."""
    shared: int
    is_faint: bool = False
    """Whether they stand only elsewhere on the line."""


@lru_cache(maxsize=65536)
def is_alike(asked: str, said: str) -> bool:
    """
    Two forms of a word, or a compound that says more than was asked.

    Names and quantities are alike only as such; what holds for all `Termine` need not hold for an
    `Impftermin`.
    """
    if asked == said:
        return True
    if asked[0] in "@#" or said[0] in "@#":
        return False
    short, long = sorted((asked, said), key=len)
    if len(short) < _ROOT:
        return False
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if long.endswith(_WITHOUT) and not short.endswith(_WITHOUT):
        return False
    is_compound = long is said and len(short) >= _COMPOUND and long.endswith(short)
    return is_compound or (same >= _ROOT and same >= len(short) - 2)


def has(words: frozenset[str], word: str) -> bool:
    """Whether a form of the word is among them."""
    return word in words or any(is_alike(word, other) for other in words)


@lru_cache(maxsize=4096)
def parts_of(text: str) -> tuple[frozenset[str], ...]:
    """The words of each part of a sentence, between commas, brackets and "and"."""
    parts = [values(read_terms(part)) for part in _PARTS.split(text) if part.strip()]
    return tuple(part for part in parts if part)


class Nearness:
    """The question's words, weighed by how many lines of the requirements have them."""

    def __init__(self, asked: Asked, clauses: tuple[Clause, ...], weak: frozenset[str]) -> None:
        self._clauses = tuple(
            clause
            for clause in clauses
            if clause.statement.kind is not StatementKind.TASK and not clause.says_none
        )
        lines: dict[int, frozenset[str]] = {}
        for clause in self._clauses:
            at = id(clause.statement)
            lines[at] = lines.get(at, frozenset()) | clause.said_words
        self._lines = tuple(lines.values())
        units = {word for word in asked.stems if quantity("1", word)}
        self._telling = telling = asked.key_stems - weak - asked.measures - units
        # "Settings" or "default" may be what sets one line apart from the others.
        common = {word for word in asked.stems & generic() if self._count(word) < _COMMON}
        numbers = {term for term in asked.terms if term.startswith("#")}
        counts = {word: self._count(word) for word in telling | common | numbers}
        self.weights = {
            word: (1.0 if word in telling else _FAINT) / count
            for word, count in counts.items()
            if count
        }
        self.strange = sum(1 for count in counts.values() if not count)
        self.known = sum(self.weights.values())

    def nearest(self, choices: tuple[Choice, ...], *, on_one_line: bool = False) -> Near | None:
        """
        The one option that a line near the question chooses; None when none or two are.

        Between options on one line a word that could be in any question tells enough.
        """
        found = sorted(_firm(list(self._candidates(choices))), key=lambda near: -near.weight)
        if not found or not (on_one_line or self._is_enough(found[0])):
            return None
        best = found[0]
        rival = next((one for one in found if one.choice is not best.choice), None)
        if rival is not None and rival.weight > best.weight * _MUCH_NEARER:
            return None
        return best

    def _count(self, word: str) -> int:
        return sum(has(said, word) for said in self._lines)

    def _candidates(self, choices: tuple[Choice, ...]) -> Iterator[Near]:
        for clause in self._clauses:
            for choice in choices:
                if not _chooses(clause, choice):
                    continue
                around = [self._shared(words) for words in self._around(clause, choice)]
                best = max(around, key=sum, default=[])
                # "Backups nightly, kept for 30 days": the line says of what.
                faint = [] if best else [weight / 2 for weight in self._shared(clause.about)]
                if best or faint:
                    shared = best or faint
                    yield Near(choice, clause, sum(shared), len(shared), is_faint=not best)

    def _shared(self, words: frozenset[str]) -> list[float]:
        return [weight for word, weight in self.weights.items() if has(words, word)]

    def _around(self, clause: Clause, choice: Choice) -> Iterator[frozenset[str]]:
        """The words that the option stands among: of its parts, or of the whole clause."""
        wanted = core(choice.own)
        parts = [
            part
            for part in parts_of(clause.statement.text)
            if all(has(part, word) for word in wanted)
        ]
        for part in parts:
            yield part | clause.key_stems
        if not parts:
            yield clause.said_words

    def rarity(self, choice: Choice) -> int:
        """How many lines have the option's words."""
        words = core(choice.own)
        return sum(all(has(said, word) for word in words) for said in self._lines)

    def _is_enough(self, near: Near) -> bool:
        said = near.clause.about
        rare = max(
            (
                weight
                for word, weight in self.weights.items()
                if word in self._telling and has(said, word)
            ),
            default=0.0,
        )
        strange = near.shared - 1 if near.choice.numbers else _STRANGE * near.shared
        line = sum(weight for word, weight in self.weights.items() if has(said, word))
        return (
            (near.weight + line) / 2 >= _ENOUGH * self.known
            and rare >= 1.0 / _COMMON
            and self.strange <= max(strange, 1)
            and not core(near.choice.own) <= generic()
            and self.rarity(near.choice) < _COMMON
        )


def _firm(found: list[Near]) -> Iterator[Near]:
    """Where one option of a line stands among the words, the others on it do not."""
    firm = {id(near.clause.statement) for near in found if not near.is_faint}
    return (near for near in found if not near.is_faint or id(near.clause.statement) not in firm)


def _chooses(clause: Clause, choice: Choice) -> bool:
    if choice.twin or choice.refuses or choice.is_universal or not choice.own:
        return False
    return all(has(clause.chosen, word) for word in choice.own - generic() or choice.own)
