"""
Fits `src/perpetualcc/brain/rules/weights.json` to the corpus of questions.

    python -m tools.fit_weighing          # fit, and write the weights
    python -m tools.fit_weighing --check  # how it does on files it has not seen; writes nothing

Boosted regression trees on the measures of `perpetualcc.brain.rules.weighing`, one row an option:
right or not. Questions that only a person answers, and those with several answers, are left out.
"""

import json
import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perpetualcc.brain.rule_based import (
    RuleBasedBrain,
    can_be_weighed,
    is_to_be_weighed,
    left_to_a_person,
)
from perpetualcc.brain.rules.choices import read_choices
from perpetualcc.brain.rules.weighing import Weighed, weigh
from perpetualcc.requirements import parse_statements
from tests.corpus.brain.measuring import Case, cases

Floats = NDArray[np.float64]
WEIGHTS = Path(__file__).parent.parent / "src/perpetualcc/brain/rules/weights.json"
TREES, DEPTH, RATE, SMALLEST, BINS, SHARE, COLUMNS = 220, 4, 0.06, 20, 24, 0.7, 0.5
"""Chosen by `--check`; less depth loses what options share, more of anything gains nothing."""
LEARNED = {
    "hard": ["oak", "maple", "hazel", "ash", "birch", "elm", "fir", "larch", "pine", "alder", "cypress", "teak", "juniper", "viper", "adder", "mamba"],
    "as promised": ["acorn", "bramble", "clover", "dahlia", "elder", "fennel"],
    "alike": ["ivy", "kale", "laurel", "myrtle", "parsley", "rosemary", "sorrel", "thistle"],
}  # fmt: skip
"""
Sets whose authors had not seen the rules. With all others the rules were mended until they were
answered right: what the rules say there looks surer than it is, and teaches nothing. In the last
group nearly half of the questions look as if a line decided them and are about something else.
"""
FOLDS = 6
LIMITS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question of the corpus, with its options as they are measured."""

    case: Case
    folder: str
    weighed: tuple[Weighed, ...]
    is_left: bool
    """Whether the other rules leave it to the weighing."""
    may: tuple[bool, ...]
    """Which of its options may be chosen by weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The likeliest option of a question."""

    likely: float
    example: Example
    best: int

    @property
    def label(self) -> str:
        """What would be answered."""
        return self.example.weighed[self.best].choice.label

    @property
    def is_right(self) -> bool:
        """Whether that is what the author of the question says."""
        return self.example.case.right == (self.label,)

    @property
    def is_ruled(self) -> bool:
        """Whether a rule chose it, too."""
        return self.example.weighed[self.best].measures["ruled"] > 0


def examples() -> list[Example]:
    """Everything the corpus has that may be weighed."""
    brain = RuleBasedBrain(parse_statements, weighs=False)
    found = []
    for folder in chain.from_iterable(LEARNED.values()):
        for case in cases(folder):
            if case.kind == "m" or left_to_a_person(case.question):
                continue
            context = case.context
            answer = brain.answer(case.question, context)
            choices = read_choices(case.question)
            reading = brain.read(context)
            asked = reading.asked(case.question, choices)
            weighed = weigh(case.question, asked, choices, reading.land, answer)
            found.append(
                Example(
                    case=case,
                    folder=folder,
                    weighed=weighed,
                    is_left=is_to_be_weighed(case.question, asked, answer),
                    may=tuple(can_be_weighed(case.question, asked, one, answer) for one in weighed),
                )
            )
    return found


def rows(found: list[Example], names: list[str]) -> tuple[Floats, Floats]:
    """The measures of every option, and whether it is right."""
    return (
        np.array([[one.measures[n] for n in names] for e in found for one in e.weighed]),
        np.array([float(e.case.right == (one.choice.label,)) for e in found for one in e.weighed]),
    )


def fit(measures: Floats, right: Floats, names: list[str]) -> dict[str, Any]:
    """Newton boosting on the log loss; splits at quantiles."""
    random = np.random.default_rng(0)
    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, BINS)[1:-1])) for column in measures.T]
    binned = np.stack(
        [np.searchsorted(cut, column) for cut, column in zip(cuts, measures.T, strict=True)], axis=1
    )
    mean = float(right.mean())
    start = float(np.log(mean / (1 - mean)))
    score = np.full(len(right), start)
    trees = []
    for _ in range(TREES):
        likely = 1 / (1 + np.exp(-score))
        kept = np.flatnonzero(random.random(len(right)) < SHARE)
        slope, curve = right - likely, likely * (1 - likely)
        columns = np.flatnonzero(random.random(binned.shape[1]) < COLUMNS)
        nodes: list[list[float]] = []
        _grow(nodes, binned, cuts, (slope, curve), columns, kept, DEPTH)
        trees.append(nodes)
        score += _values(nodes, measures)
    return {"measures": names, "start": round(start, 4), "trees": trees}


def _grow(
    nodes: list[list[float]],
    binned: NDArray[np.int64],
    cuts: list[Floats],
    pull: tuple[Floats, Floats],
    columns: NDArray[np.int64],
    kept: NDArray[np.int64],
    depth: int,
) -> int:
    at = len(nodes)
    nodes.append([])
    slope, curve = pull[0][kept], pull[1][kept]
    best = _best_split(binned[kept], slope, curve, columns) if depth else None
    if best is None:
        nodes[at] = [-1, round(float(RATE * slope.sum() / (curve.sum() + 1)), 5)]
        return at
    column, bin_ = best
    left = binned[kept, column] <= bin_
    one = _grow(nodes, binned, cuts, pull, columns, kept[left], depth - 1)
    other = _grow(nodes, binned, cuts, pull, columns, kept[~left], depth - 1)
    nodes[at] = [column, round(float(cuts[column][bin_]), 6), one, other]
    return at


def _best_split(
    binned: NDArray[np.int64], slope: Floats, curve: Floats, columns: NDArray[np.int64]
) -> tuple[int, int] | None:
    best, gain = None, 1e-6
    whole = slope.sum() ** 2 / (curve.sum() + 1)
    for column in columns:
        at = binned[:, column]
        count = np.cumsum(np.bincount(at, minlength=BINS))
        slopes = np.cumsum(np.bincount(at, slope, minlength=BINS))
        curves = np.cumsum(np.bincount(at, curve, minlength=BINS))
        gains = (
            slopes**2 / (curves + 1)
            + (slopes[-1] - slopes) ** 2 / (curves[-1] - curves + 1)
            - whole
        )
        gains[(count < SMALLEST) | (count[-1] - count < SMALLEST)] = -1
        index = int(np.argmax(gains))
        if gains[index] > gain:
            best, gain = (int(column), index), float(gains[index])
    return best


def _values(nodes: list[list[float]], measures: Floats) -> Floats:
    at = np.zeros(len(measures), dtype=int)
    result = np.zeros(len(measures))
    going = np.arange(len(measures))
    while len(going):
        for node in np.unique(at[going]):
            here = going[at[going] == node]
            split = nodes[node]
            if split[0] < 0:
                result[here] = split[1]
                at[here] = -1
            else:
                left = measures[here, int(split[0])] <= split[1]
                at[here] = np.where(left, int(split[2]), int(split[3]))
        going = going[at[going] >= 0]
    return result


def likelihoods(forest: dict[str, Any], measures: Floats) -> Floats:
    """What the trees say of each row."""
    score = forest["start"] + sum(_values(nodes, measures) for nodes in forest["trees"])
    return np.asarray(1 / (1 + np.exp(-score)))


def check(found: list[Example], names: list[str]) -> None:
    """How the questions of unseen sets are answered by weights that were fitted to the others."""
    outcomes: list[Outcome] = []
    for fold in range(FOLDS):
        unseen = {one for group in LEARNED.values() for one in group[fold::FOLDS]}
        forest = fit(*rows([one for one in found if one.folder not in unseen], names), names)
        for one in (one for one in found if one.folder in unseen and one.is_left):
            likely = likelihoods(forest, rows([one], names)[0])
            best = int(likely.argmax())
            if one.may[best]:
                outcomes.append(Outcome(likely=float(likely[best]), example=one, best=best))
    for group, folders in LEARNED.items():
        asked = [one for one in found if one.folder in folders and one.is_left]
        _say(f"{group}: {sum(one.case.kind == 'a' for one in asked)} answerable")
        for is_ruled in (True, False):
            kept = [one for one in outcomes if one.example.folder in folders
                    and one.is_ruled is is_ruled]  # fmt: skip
            _say("  a rule chose it" if is_ruled else "  no rule did")
            for limit in LIMITS:
                chosen = [one for one in kept if one.likely >= limit]
                risky = sum(one.example.case.kind == "r" for one in chosen)
                right = sum(one.is_right for one in chosen)
                _say(f"    {limit}: {right} of {len(chosen)} right, {risky} risky")
    for outcome in sorted(outcomes, key=lambda one: -one.likely):
        if "--all" in sys.argv or (outcome.likely >= LIMITS[0] and not outcome.is_right):
            case = outcome.example.case
            _say(f"  {outcome.likely:.2f} {outcome.is_right} {case.kind} {outcome.example.folder}: "
                 f"{case.question.text} → {outcome.label}")  # fmt: skip


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main() -> None:
    """See the module."""
    found = examples()
    names = sorted(found[0].weighed[0].measures)
    if "--check" in sys.argv:
        check(found, names)
        return
    forest = fit(*rows(found, names), names)
    WEIGHTS.write_text(json.dumps(forest, separators=(",", ":")) + "\n", "utf-8")
    _say(f"{WEIGHTS.name}: {len(found)} questions, {len(forest['trees'])} trees")


if __name__ == "__main__":
    main()
