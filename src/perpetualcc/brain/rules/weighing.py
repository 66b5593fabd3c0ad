"""
The last word between options: how likely each is what the requirements say.

Every option is weighed against every clause by the words they share, rare ones more than common
ones, apart for what the clause chooses, refuses and leaves open, and by how much of the question
stands there; what a rule chose is one measure among these. What they are worth was fitted on the
corpus of questions, half of which nothing decides (`weights.json`, made by
`tools/fit_weighing.py`, which also tells how often sets it had not seen were answered right).
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from perpetualcc.brain.rules.apart import APART, asked_for, stands_apart
from perpetualcc.brain.rules.asking import Asked, specific
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.closeness import closeness
from perpetualcc.brain.rules.consent import side_of_label
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.mentions import weak
from perpetualcc.brain.rules.nearness import is_alike
from perpetualcc.brain.rules.scopes import fits
from perpetualcc.brain.rules.statements import AHEAD, Measures, weigh_statements
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import Term, phrase, read_terms, values
from perpetualcc.domain.questions import BrainAnswer, Question
from perpetualcc.domain.requirements import StatementKind

# What a word counts that could be in any question or label.
_FAINT = 0.35
# Words with the same beginning may be forms of one.
_BEGINNING = 5
_SHORTEST_LABEL = 2
_MUCH = 3.0
_FULL = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """One option, what was measured, and the clause that speaks for it most."""

    choice: Choice
    clause: Clause | None
    measures: Measures
    """What its likelihood is told from."""

    @property
    def likely(self) -> float:
        """How likely it is right, between 0 and 1: what the leaves of all trees are worth."""
        names, score, trees = _forest()
        row = [self.measures[name] for name in names]
        for tree in trees:
            measure, limit, below, above = tree
            while measure != _LEAF:
                measure, limit, below, above = below if row[measure] <= limit else above
            score += limit
        return 1 / (1 + math.exp(-score))


class Landscape:
    """Where each word of some requirements stands. Built once for a file."""

    def __init__(self, clauses: tuple[Clause, ...]) -> None:
        kept = [one for one in clauses if one.statement.kind is not StatementKind.TASK]
        self.clauses = tuple(kept)
        numbers = {id(one.statement): at for at, one in enumerate(kept)}
        self.statements = [numbers[id(one.statement)] for one in kept]
        """The last clause of each clause's statement stands for the statement."""
        self.size = len(set(self.statements))
        self.said = _places(one.said_words for one in kept)
        self.chosen = _places(one.chosen for one in kept)
        self.refused = _places(one.refused for one in kept)
        self.open = _places(one.open for one in kept)
        about: dict[int, set[str]] = defaultdict(set)
        for at, one in zip(self.statements, kept, strict=True):
            about[at] |= one.about
        self.line = _places(about[at] for at in self.statements)
        self.phrases = [f" {phrase(one.statement.text)} " for one in kept]
        self.telling = [_telling(one.said_words) for one in kept]
        self._beginnings: dict[str, list[str]] = defaultdict(list)
        for word in self.line.keys() | self.said.keys():
            self._beginnings[word[:_BEGINNING]].append(word)
        self._forms: dict[str, tuple[str, ...]] = {}
        self._worths: dict[str, float] = {}

    def forms(self, word: str) -> tuple[str, ...]:
        """The word as the requirements have it."""
        found = self._forms.get(word)
        if found is None:
            alike = self._beginnings.get(word[:_BEGINNING], ())
            found = self._forms[word] = tuple(one for one in alike if is_alike(word, one))
        return found

    def where(self, words: Iterable[str], places: dict[str, list[int]]) -> dict[str, set[int]]:
        """The clauses with a form of each word; words without any are left out."""
        found = {word: {at for form in self.forms(word) for at in places.get(form, ())}
                 for word in words}  # fmt: skip
        return {word: at for word, at in found.items() if at}

    def count(self, word: str) -> int:
        """How many statements have the word."""
        return len(
            {self.statements[at] for form in self.forms(word) for at in self.said.get(form, ())}
        )

    def worth(self, word: str) -> float:
        """1 for a word that no statement has; less for common ones, and for empty ones."""
        found = self._worths.get(word)
        if found is None:
            found = self._worths[word] = self._worth(word)
        return found

    def _worth(self, word: str) -> float:
        if not self.size:
            return 1.0
        rare = math.log1p(self.size / (0.5 + self.count(word))) / math.log1p(self.size / 0.5)
        return rare * _FAINT if word in _empty() else rare


def weigh(
    question: Question,
    asked: Asked,
    choices: tuple[Choice, ...],
    land: Landscape,
    ruled: BrainAnswer,
) -> tuple[Weighed, ...]:
    """
    All options, in their order; `ruled` is what the rules made of the question.

    Costs about 1.5 ms for a hundred clauses.
    """
    weighing = _Weighing(question, asked, choices, land)
    more = weigh_statements(question, asked, choices, land, weighing.relevance)
    options = [
        ({**own, **more[at], **_of_ruling(question.options[at].label, ruled)}, clause)
        for at, (own, clause) in enumerate(map(weighing.of_option, range(len(choices))))
    ]
    common = weighing.of_question()
    return tuple(
        Weighed(choice=choice, clause=clause, measures=measures)
        for choice, (_, clause), measures in zip(
            choices, options, _compared([own for own, _ in options], common), strict=True
        )
    )


def _of_ruling(label: str, ruled: BrainAnswer) -> Measures:
    is_silent, refuses = (word in ruled.reasoning for word in (_SILENT, _REFUSING))
    return {
        "ruled": ruled.confidence if label in ruled.selected else 0.0,
        "ruled_other": float(bool(ruled.selected) and label not in ruled.selected),
        "ruled_silent": float(is_silent),
        "ruled_refusing": float(refuses),
        "ruled_doubt": float(not ruled.selected and not is_silent and not refuses),
    }


def _compared(options: list[Measures], common: Measures) -> Iterator[Measures]:
    """Each option's measures with how far it is ahead of the others, and what all share."""
    best = [(name, f"d_{name}", *_two_best(own[name] for own in options)) for name in _COMPARED]
    for own in options:
        ahead = {
            difference: own[name] - (most if own[name] < most else next_most)
            for name, difference, most, next_most in best
        }
        side = own["yes"] - own["no"]
        consent = {f"s_{name}": side * common[name] for name in _OF_CONSENT}
        yield {**own, **ahead, **common, **consent}


def _two_best(values: Iterable[float]) -> tuple[float, float]:
    """The highest and the next; 0 for one that is not there."""
    *_, next_most, most = (0.0, *sorted(values))
    return most, next_most


class _Weighing:
    """One question's words, and where they stand."""

    def __init__(
        self, question: Question, asked: Asked, choices: tuple[Choice, ...], land: Landscape
    ) -> None:
        self.question, self.asked, self.choices, self.land = question, asked, choices, land
        offered = frozenset[str]().union(*(choice.every for choice in choices))
        self.words = values(
            read_terms(f"{question.text} ; {question.header}", prose=True)
        ) - word_set("asking")
        # In one order, because a sum of fractions depends on it.
        telling = sorted(self.words - offered)
        self.worth = {word: land.worth(word) for word in telling}
        self.total = sum(self.worth.values()) or 1e-9
        self.strong = [word for word in telling if word not in _empty()]
        self.own = self._sums(self.worth, land.said)
        self.line = self._sums(self.worth, land.line)
        self.near = [(one + other) / 2 for one, other in zip(self.own, self.line, strict=True)]
        self.strong_lines = land.where(self.strong, land.line)
        self.strong_said = land.where(self.strong, land.said)
        self.asked_forms = self._forms(self.words)
        self.head_forms = self._forms(asked_for(asked.folded))
        self.before = _before(read_terms(question.text, prose=True))
        # Claude's questions have a header; for one without, its own words say what it is about.
        self.header = values(read_terms(question.header, prose=True)) or self.words
        self.header_lines = land.where(self.header, land.line)
        self.own_lines = [land.where(choice.own, land.line) for choice in choices]
        self.real = tuple(one for one in choices if not one.escapes)
        best: dict[int, float] = defaultdict(float)
        for at, value in zip(land.statements, self.line, strict=True):
            best[at] = max(best[at], value)
        in_order = sorted(best, key=lambda at: -best[at])
        self.rank = {at: number for number, at in enumerate(in_order)}
        self.relevance = self._relevance()
        self.descriptions = [values(read_terms(one.description)) for one in question.options]
        self.fit = [fits(asked.scopes, one.scopes, asked.topics) for one in land.clauses]

    def of_option(self, at: int) -> tuple[Measures, Clause | None]:
        """Its measures, and the clause that speaks for it most."""
        found: Measures = defaultdict(float)
        best, best_at = 0.0, -1
        for index, measures in self._of_clauses(at):
            for name, value in measures.items():
                found[name] = max(found[name], value)
            value = (measures["r"] + 0.15) * (
                measures["oc"] + 0.3 * measures["told"] - 0.5 * measures["orf"]
            )
            value *= 1.0 if self.fit[index] else 0.5
            if value > best:
                best, best_at = value, index
        clause = self.land.clauses[best_at] if best_at >= 0 else None
        if clause is not None:
            found["t_sc"] = best
            self._of_place(found, best_at, at)
        self._of_label(found, at)
        return {name: found[name] for name in _OF_OPTION}, clause

    def _of_clauses(self, at: int) -> Iterator[tuple[int, Measures]]:
        """What each clause has of an option, beside what it has of the question."""
        choice, land = self.choices[at], self.land
        worth = {word: land.worth(word) for word in sorted(choice.own)}
        told = {word: land.worth(word) for word in sorted(self._only_described(at))}
        total, told_total = sum(worth.values()) or 1e-9, sum(told.values()) or 1e-9
        chosen, refused, weighed = (
            self._sums(worth, places) for places in (land.chosen, land.refused, land.open)
        )
        if choice.refuses:
            # "No locking" is spoken for where locking is refused.
            chosen, refused = refused, chosen
        said, denied = self._sums(told, land.chosen), self._sums(told, land.refused)
        label = f" {choice.folded} " if len(choice.folded) > _SHORTEST_LABEL else ""
        for index in sorted(self._places_of(worth) | self._places_of(told)):
            near = self.near[index] / self.total
            much = min(self.near[index], _MUCH) / _MUCH
            part, against = chosen[index] / total, refused[index] / total
            told_part, is_whole = said[index] / told_total, chosen[index] / total >= _FULL
            is_verbatim = bool(label) and label in land.phrases[index]
            yield index, {
                "r": near, "told": told_part,
                "r_oc": near * part, "ra_oc": much * part, "oc": part,
                "r_orf": near * against, "orf": against,
                "r_oo": near * weighed[index] / total, "oo": weighed[index] / total,
                "r_dc": near * told_part, "dc": told_part * min(1.0, len(told) / 2),
                "r_df": near * denied[index] / told_total,
                "rel1_oc": self.own[index] / self.total * part,
                "oc_abs": min(2.0, chosen[index]) / 2,
                "oc_abs_r": min(2.0, chosen[index]) / 2 * near,
                "full": float(is_whole), "full_r": near * is_whole, "full_ra": much * is_whole,
                "verb": float(is_verbatim), "verb_r": near * is_verbatim,
            }  # fmt: skip

    def _only_described(self, at: int) -> frozenset[str]:
        """Words of an option's description that no other option has."""
        others = frozenset[str]().union(
            *(
                one.every | self.descriptions[number]
                for number, one in enumerate(self.choices)
                if number != at
            )
        )
        return self.descriptions[at] - self.choices[at].every - others

    def _of_place(self, found: Measures, index: int, at: int) -> None:
        """What the clause is like that speaks most for an option."""
        land, asked = self.land, self.asked
        clause = land.clauses[index]
        here = [word for word, places in self.strong_lines.items() if index in places]
        found["t_match"] = len(here)
        found["t_own"] = sum(index in places for places in self.strong_said.values())
        found["t_miss"] = len(self.strong_lines) - len(here)
        found["t_hdr"] = sum(index in places for places in self.header_lines.values()) / max(
            len(self.header), 1
        )
        found["t_close"] = closeness(asked, clause, self.real)
        found["t_fit"] = float(self.fit[index])
        found["t_rank"] = 1 / (1 + self.rank[land.statements[index]])
        found["t_len"] = len(clause.terms) / 20
        found["t_key"] = float(bool(clause.key_stems))
        found["t_keyin"] = (
            len(clause.key_stems & self.words) / len(clause.key_stems) if clause.key_stems else 0.0
        )
        found.update(
            stands_apart(
                clause,
                asked=self.asked_forms,
                head=self.head_forms,
                topics=asked.topics,
                missing=len(self.strong) - len(here),
                left=self.total - self.line[index],
                total=self.total,
                worth=land.worth,
            )
        )
        own = broad_topics(clause.topics | clause.key_topics)
        found["t_topic"] = float(bool(own & asked.topics))
        found["t_other"] = float(
            bool(specific(clause.key_topics)) and not broad_topics(clause.key_topics) & asked.topics
        )
        found["t_rival"] = max(
            (
                sum(index in places for places in self.own_lines[number].values())
                / max(len(other.own), 1)
                for number, other in enumerate(self.choices)
                if number != at
            ),
            default=0.0,
        )
        found["t_said"] = len(
            land.telling[index] - self.asked_forms - self._forms(self.choices[at].every)
        )
        found["t_pairs"], found["t_other_pairs"] = self._pairs(clause)

    def _forms(self, words: Iterable[str]) -> frozenset[str]:
        """The words as the requirements have them."""
        return frozenset(form for word in words for form in self.land.forms(word))

    def _pairs(self, clause: Clause) -> tuple[float, float]:
        """
        How many words stand in the clause beside the same neighbour as in the question, and how
        many beside another one: of "the B2B shop" what is said of "the B2C shop" tells nothing.
        """
        said = _before(clause.terms)
        same = other = 0
        for word, neighbours in self.before.items():
            for form in self.land.forms(word):
                theirs = said.get(form, frozenset())
                if theirs & {one for own in neighbours for one in self.land.forms(own)}:
                    same += 1
                elif theirs:
                    other += 1
        return float(same), float(other)

    def _of_label(self, found: Measures, at: int) -> None:
        choice, label = self.choices[at], self.question.options[at].label
        fewest = min((self.land.count(word) for word in core(choice.own)), default=0)
        found["rare"] = 1 / fewest if fewest else 0.0
        found["absent"] = float(not fewest)
        found["num"], found["name"] = float(bool(choice.numbers)), float(bool(choice.names))
        side = side_of_label(label)
        found["yes"], found["no"] = float(side > 0), float(side < 0 or choice.refuses)

    def of_question(self) -> Measures:
        """What holds for all options alike."""
        land = self.land
        worth = {word: land.worth(word) for word in self.words}
        total = sum(worth.values()) or 1e-9
        refused, chosen = self._sums(worth, land.refused), self._sums(worth, land.chosen)
        near = [min(1.0, one / self.total) for one in self.line]
        known = sum(self.worth[word] for word in self.worth if land.count(word))
        return {
            "mr": max(self.near, default=0.0) / self.total,
            "mra": min(max(self.near, default=0.0), _MUCH) / _MUCH,
            "mref": max(refused, default=0.0) / total,
            "mrefa": min(max(refused, default=0.0), _MUCH) / _MUCH,
            "mref_r": max((a / total * b for a, b in zip(refused, near, strict=True)), default=0.0),
            "mcho": max(chosen, default=0.0) / total,
            "mchoa": min(max(chosen, default=0.0), _MUCH) / _MUCH,
            "unknown": 1 - known / self.total,
            "strange": sum(1 for word in self.strong if not land.count(word)),
            "nstrong": len(self.strong),
            "nopt": len(self.choices),
            "open": float(self.asked.is_open),
        }

    def _relevance(self) -> dict[int, tuple[float, float]]:
        """For each statement, how much of the question its line has, and its own words."""
        found: dict[int, tuple[float, float]] = {}
        for at, line, own in zip(self.land.statements, self.line, self.own, strict=True):
            before = found.get(at, (0.0, 0.0))
            found[at] = max(before[0], line / self.total), max(before[1], own / self.total)
        return found

    def _places_of(self, words: Measures) -> set[int]:
        """The clauses that speak of any of the words."""
        found: set[int] = set()
        for places in (self.land.chosen, self.land.refused, self.land.open):
            found = found.union(*self.land.where(words, places).values())
        return found

    def _sums(self, worth: Measures, places: dict[str, list[int]]) -> list[float]:
        """For each clause, what the words count together that stand there."""
        sums = [0.0] * len(self.land.clauses)
        for word, at in self.land.where(worth, places).items():
            for index in at:
                sums[index] += worth[word]
        return sums


_OF_OPTION = (
    *("r_oc", "ra_oc", "oc", "r_orf", "orf", "r_oo", "oo", "r_dc", "dc", "r_df", "rel1_oc"),
    *("oc_abs", "oc_abs_r", "full", "full_r", "full_ra", "verb", "verb_r"),
    *("t_sc", "t_match", "t_own", "t_miss", "t_hdr", "t_close", "t_fit", "t_rank", "t_len"),
    *("t_key", "t_keyin", "t_topic", "t_other", "t_rival", "t_said", *APART),
    *("t_pairs", "t_other_pairs"),
    *("rare", "absent", "num", "name", "yes", "no"),
)
_COMPARED = (*_OF_OPTION[:18], "t_sc", "t_close", "rare", "absent", *AHEAD)
_SILENT = "do not say"
_REFUSING = "refuse something"
_OF_CONSENT = ("mref", "mrefa", "mref_r", "mcho", "mchoa", "mr")


def _places(said: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for at, words in enumerate(said):
        for word in words:
            found[word].append(at)
    return dict(found)


def _before(terms: tuple[Term, ...]) -> dict[str, frozenset[str]]:
    """For each telling word, the telling words it follows directly."""
    found: dict[str, frozenset[str]] = {}
    for one, other in pairwise(terms):
        if one.value and other.value and not {one.value, other.value} & _empty():
            found[other.value] = found.get(other.value, frozenset()) | {one.value}
    return found


def _telling(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words - _empty() if word[0] not in "#@")


@cache
def _empty() -> frozenset[str]:
    return generic() | weak()


Node = tuple[int, float, Any, Any]
"""A measure, its limit, and the nodes below and above it; or `_LEAF` and what that is worth."""
_LEAF = -1


@cache
def _forest() -> tuple[tuple[str, ...], float, tuple[Node, ...]]:
    """The measures, in their order; where the sum begins; the trees."""
    text = (files("perpetualcc.brain.rules") / "weights.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return (
        tuple(loaded["measures"]),
        loaded["start"],
        tuple(_node(tree, 0) for tree in loaded["trees"]),
    )


def _node(tree: list[list[float]], at: int) -> Node:
    measure, limit, *following = tree[at]
    if not following:
        return _LEAF, limit, None, None
    below, above = following
    return int(measure), limit, _node(tree, int(below)), _node(tree, int(above))
