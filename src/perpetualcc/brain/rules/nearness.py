"""
The last look: which option stands nearest to the question's rare words, part by part of a line.

Needs no key, no topic and no list of words: forms of a word are told by what they share
(`Termin`, `Termindauer`), and a word counts the more the fewer lines have it. An option counts
only where a line chooses it, and only when no other option is as near.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.terms import phrase
from perpetualcc.brain.rules.text import quantity
from perpetualcc.brain.rules.vocabulary import ordinary_names
from perpetualcc.domain.requirements import StatementKind

# Of the question's words that the requirements have at all, so much must be near the option.
_ENOUGH = 0.5
# Another option must be this much farther away.
_MUCH_NEARER = 0.7
# A word, or an option, that so many lines have says little about any of them.
_COMMON = 4
# What a word counts that could stand in any question.
_FAINT = 0.5
# "A shift of 9 hours" is about the part of a line with 9 hours.
_QUANTITY = 2.0
# So many words of the question may be nowhere in the requirements, for each one that is near.
_STRANGE = 2
_ROOT = 5
_HEAD = 4
_PARTICIPLE = "ge…"
# "Passwordless" is no form of "password".
_WITHOUT = ("less", "free", "los", "frei")
_COMPOUND = 6
# A compound is so long, shares so many letters with its first part, which may end otherwise.
_LONG, _BEGINNING, _ENDING = 8, 4, 3
# A word that was asked for may go on for so many letters after the one that is there.
_REST = 4


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
        # "Express" at the beginning of a line may be a name, and is a word.
        word = asked.strip("@")
        return word == said.strip("@") and word in ordinary_names()
    short, long = sorted((asked, said), key=len)
    if len(short) < _ROOT:
        return False
    if _german_root(asked) == _german_root(said):
        return True
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if long.endswith(_WITHOUT) and not short.endswith(_WITHOUT):
        return False
    is_compound = long is said and len(short) >= _COMPOUND and long.endswith(short)
    is_narrower = long is asked and len(long) - same > _REST - (same == _ROOT)
    return is_compound or (same >= _ROOT and same >= len(short) - 1 and not is_narrower)


@lru_cache(maxsize=65536)
def _german_root(word: str) -> str:
    """`scannen`, `scannt` and `gescannt` are one."""
    participle = re.fullmatch(r"(.{0,3}?)ge(\w{4,}?)e?t", word)
    if participle:
        return participle[1] + participle[2]
    ending = re.fullmatch(r"(\w{4,}?)(?:en|e?t)", word)
    return ending[1] if ending else word


def near_forms(word: str, vocabulary: frozenset[str]) -> Iterable[str]:
    """Few of the words, that are quickly found, with all that are alike among them."""
    if "ge" in word[:_ROOT]:
        return vocabulary
    index, plain = _index(vocabulary), word.lstrip("@")
    near = (index.get(key, ()) for key in (word[:_HEAD], f"…{plain[-_HEAD:]}", _PARTICIPLE))
    return frozenset(chain.from_iterable(near))


@lru_cache(maxsize=64)
def _index(vocabulary: frozenset[str]) -> dict[str, list[str]]:
    """Words by their first letters, by their last ones, and those that may be participles."""
    index: dict[str, list[str]] = {_PARTICIPLE: []}
    for word in vocabulary:
        index.setdefault(word[:_HEAD], []).append(word)
        index.setdefault(f"…{word.lstrip('@')[-_HEAD:]}", []).append(word)
        if "ge" in word[:_ROOT]:
            index[_PARTICIPLE].append(word)
    return index


@lru_cache(maxsize=65536)
def begins_compound(asked: str, said: str) -> bool:
    """Whether a long word begins like another one and goes on otherwise: `Impf|termin`."""
    if asked[0] in "@#" or said[0] in "@#" or len(asked) < _LONG or is_alike(asked, said):
        return False
    pairs = zip(asked, said, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(said))
    return same >= _BEGINNING and len(said) - same <= _ENDING


def has(words: frozenset[str], word: str) -> bool:
    """Whether a form of the word is among them."""
    return word in words or any(is_alike(word, other) for other in words)


class Nearness:
    """The question's words, weighed by how many lines of the requirements have them."""

    def __init__(self, asked: Asked, clauses: tuple[Clause, ...], weak: frozenset[str]) -> None:
        self._asked = asked
        self._clauses = clauses
        self._weak = weak

    @cached_property
    def _lines(self) -> tuple[frozenset[str], ...]:
        lines: dict[int, frozenset[str]] = {}
        for clause in self._clauses:
            if _is_usable(clause):
                at = id(clause.statement)
                lines[at] = lines.get(at, frozenset()) | clause.said_words
        return tuple(lines.values())

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset[str]().union(*(clause.about for clause in self._clauses))

    @cached_property
    def _telling(self) -> frozenset[str]:
        asked = self._asked
        # In "how many days" it is the unit; in "on which day" it is what is asked.
        units = {word for word in asked.stems if asked.measures and quantity("1", word)}
        return asked.key_stems - self._weak - asked.measures - units

    @cached_property
    def _counts(self) -> dict[str, int]:
        # "Settings" or "default" may be what sets one line apart from the others.
        common = {word for word in self._asked.stems & generic() if self._count(word) < _COMMON}
        numbers = {term for term in self._asked.terms if term.startswith("#")}
        return {word: self._count(word) for word in self._telling | common | numbers}

    @cached_property
    def weights(self) -> dict[str, float]:
        """What each word of the question counts that the requirements have."""
        return {word: self._worth(word) / count for word, count in self._counts.items() if count}

    @cached_property
    def _story(self) -> frozenset[str]:
        """What the overview speaks of: the product itself, which sets no line apart."""
        overview = [
            one.said_words for one in self._clauses if one.statement.kind is StatementKind.OVERVIEW
        ]
        is_all = len(overview) == len(self._clauses)
        return frozenset[str]().union(*overview) if not is_all else frozenset()

    def _worth(self, word: str) -> float:
        if word.startswith("#") and word in self._asked.terms:
            return _QUANTITY
        if word in self._asked.titled or not self._forms(word).isdisjoint(self._story):
            return _FAINT
        return 1.0 if word in self._telling else _FAINT

    def shared(self, words: frozenset[str]) -> frozenset[str]:
        """The words of the question, a form of which is among these."""
        return frozenset(word for word in self.weights if not self._forms(word).isdisjoint(words))

    def weight(self, shared: frozenset[str]) -> float:
        """What these words of the question count together."""
        return sum(self.weights[word] for word in shared)

    def rarity(self, choice: Choice) -> int:
        """How many lines have the option's words."""
        forms = [self._forms(word) for word in core(choice.own)]
        return sum(all(not one.isdisjoint(said) for one in forms) for said in self._lines)

    def nearest(
        self,
        choices: tuple[Choice, ...],
        *,
        on_one_line: bool = False,
        among: Callable[[Clause], bool] = lambda _: True,
    ) -> Near | None:
        """
        The one option that a line near the question chooses; None when none or two are.

        Between options on one line a word that could be in any question tells enough.
        """
        candidates = _firm(list(self._candidates(choices, among)))
        found = sorted(candidates, key=lambda near: (-near.weight, -_is_verbatim(near)))
        if not found or not (on_one_line or self._is_enough(found[0])):
            return None
        best = found[0]
        rival = next(
            (one for one in found if one.choice is not best.choice and not _is_rather(best, one)),
            None,
        )
        if rival is not None and rival.weight > best.weight * _MUCH_NEARER:
            return None
        return best

    def _forms(self, word: str) -> frozenset[str]:
        """The word as the requirements have it."""
        if word not in self._known_forms:
            self._known_forms[word] = frozenset(
                other for other in near_forms(word, self._vocabulary) if is_alike(word, other)
            )
        return self._known_forms[word]

    @cached_property
    def _known_forms(self) -> dict[str, frozenset[str]]:
        return {}

    def _count(self, word: str) -> int:
        forms = self._forms(word)
        return sum(not forms.isdisjoint(said) for said in self._lines) if forms else 0

    def _candidates(
        self, choices: tuple[Choice, ...], among: Callable[[Clause], bool]
    ) -> Iterator[Near]:
        wanted = [
            (one, [self._forms(word) for word in core(one.own)])
            for one in choices
            if one.own and not (one.twin or one.refuses or one.is_universal)
        ]
        for clause in self._clauses:
            if not _is_usable(clause) or not among(clause):
                continue
            for choice, words in wanted:
                if not any(forms.isdisjoint(clause.chosen) for forms in words):
                    yield from self._near(clause, choice)

    def _near(self, clause: Clause, choice: Choice) -> Iterator[Near]:
        around = [self._weighed(words) for words in self._around(clause, choice)]
        best = max(around, key=sum, default=[])
        # "Backups nightly, kept for 30 days": the line says of what.
        faint = [] if best else [weight / 2 for weight in self._weighed(clause.about)]
        if shared := best or faint:
            yield Near(choice, clause, sum(shared), len(shared), is_faint=not best)

    def _weighed(self, words: frozenset[str]) -> list[float]:
        return [self.weights[word] for word in self.shared(words)]

    def _around(self, clause: Clause, choice: Choice) -> Iterator[frozenset[str]]:
        """The words that the option stands among: of its parts, or of the whole clause."""
        wanted = core(choice.own)
        parts = [part for part in clause.parts if all(has(part, word) for word in wanted)]
        for part in parts:
            yield part | clause.key_stems
        if not parts:
            yield clause.said_words

    def _is_enough(self, near: Near) -> bool:
        said = self.shared(near.clause.about)
        line = sum(self.weights[word] for word in said)
        rare = max((self.weights[word] for word in said & self._telling), default=0.0)
        strange = sum(1 for word in self._telling if not self._counts[word])
        is_number = near.choice.own <= near.choice.numbers
        allowed = near.shared - 1 if is_number else _STRANGE * near.shared
        return (
            (near.weight + line) / 2 >= _ENOUGH * sum(self.weights.values())
            and rare >= 1.0 / _COMMON
            and strange <= max(allowed, 1)
            and not core(near.choice.own) <= generic()
            and self.rarity(near.choice) < _COMMON
        )


def _is_usable(clause: Clause) -> bool:
    return clause.statement.kind is not StatementKind.TASK and not clause.says_none


def _firm(found: list[Near]) -> Iterator[Near]:
    """Where one option of a line stands among the words, the others on it do not."""
    firm = {id(near.clause.statement) for near in found if not near.is_faint}
    return (near for near in found if not near.is_faint or id(near.clause.statement) not in firm)


def _is_rather(one: Near, other: Near) -> bool:
    """ "In `pyproject.toml` below `tool.link`" names one file, and no `link.toml`."""
    same = one.clause.statement is other.clause.statement
    return same and _is_verbatim(one) and not _is_verbatim(other)


def _is_verbatim(near: Near) -> bool:
    return f" {near.choice.folded} " in f" {phrase(near.clause.statement.text)} "
