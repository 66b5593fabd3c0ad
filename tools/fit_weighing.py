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
WORTH = dict.fromkeys(
    ("oak", "maple", "hazel", "ash", "birch", "elm", "fir", "larch", "pine", "alder"), 5.0
) | dict.fromkeys(
    ("acorn", "bramble", "clover", "dahlia", "elder", "fennel", "ivy", "kale", "laurel"), 8.0
)
"""
Sets whose authors had not seen the rules, and what a question of theirs counts. All other sets the
rules were mended with until they were answered right: what the rules say there looks surer than it
is, and teaches nothing. The second row is worded as the promises are; its last three are pairs that
look alike, one of which the line is about and one of which it is not.
"""
NEVER_LEARNED = frozenset(
    {"quince", "rowan", "cypress", "teak", "juniper", "viper", "adder", "mamba"}
)
"""Sets that stay unseen, to tell how new files are answered."""


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


def examples() -> list[Example]:
    """Everything the corpus has that may be weighed."""
    brain = RuleBasedBrain(parse_statements, weighs=False)
    found = []
    for folder in sorted(WORTH):
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


def rows(found: list[Example], names: list[str]) -> tuple[Floats, Floats, Floats]:
    """The measures of every option, whether it is right, and what it counts."""
    return (
        np.array([[one.measures[n] for n in names] for e in found for one in e.weighed]),
        np.array([float(e.case.right == (one.choice.label,)) for e in found for one in e.weighed]),
        np.array([WORTH[e.folder] for e in found for _ in e.weighed]),
    )


def fit(measures: Floats, right: Floats, worth: Floats, names: list[str]) -> dict[str, Any]:
    """Newton boosting on the log loss; splits at quantiles."""
    random = np.random.default_rng(0)
    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, BINS)[1:-1])) for column in measures.T]
    binned = np.stack(
        [np.searchsorted(cut, column) for cut, column in zip(cuts, measures.T, strict=True)], axis=1
    )
    worth = worth / worth.mean()
    mean = float((right * worth).mean())
    start = float(np.log(mean / (1 - mean)))
    score = np.full(len(right), start)
    trees = []
    for _ in range(TREES):
        likely = 1 / (1 + np.exp(-score))
        kept = np.flatnonzero(random.random(len(right)) < SHARE)
        slope, curve = worth * (right - likely), worth * likely * (1 - likely)
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
    """How each unseen set is answered by weights that were fitted to all others."""
    outcomes: list[tuple[float, bool, Example, int]] = []
    for folder in sorted(WORTH):
        forest = fit(*rows([one for one in found if one.folder != folder], names), names)
        for one in (one for one in found if one.folder == folder and one.is_left):
            found_likely = likelihoods(forest, rows([one], names)[0])
            best = int(found_likely.argmax())
            if one.may[best]:
                label = one.weighed[best].choice.label
                outcomes.append((float(found_likely[best]), one.case.right == (label,), one, best))
    answerable = sum(one.case.kind == "a" for one in found if one.is_left)
    for limit in (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95):
        chosen = [(right, one) for likely, right, one, _ in outcomes if likely >= limit]
        right = sum(ok for ok, _ in chosen)
        risky = sum(one.case.kind == "r" for _, one in chosen)
        _say(f"{limit}: {right} of {len(chosen)} right, of {answerable} answerable; {risky} risky")
    for likely, ok, one, best in sorted(outcomes, key=lambda row: -row[0]):
        if likely >= 0.75 and (not ok or "--all" in sys.argv):
            _say(f"  {likely:.2f} {ok} {one.case.kind} {one.folder}/{one.case.requirements.stem}: "
                 f"{one.case.question.text} → {one.weighed[best].choice.label}")  # fmt: skip


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
