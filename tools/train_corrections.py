"""
Learns the weights of `learning/corrections/model.json` from tests/corpus/corrections.

    python -m tools.train_corrections            write the model
    python -m tools.train_corrections --check    only measure: batches left out, language by language

A ridge-penalised logistic regression, by Newton's method with conjugate gradients: some minutes.
numpy is needed here only; the product adds up the weights in plain Python.
"""

import argparse
import json
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perpetualcc.learning.corrections.classifier import understand
from perpetualcc.learning.corrections.judgement import Scope
from perpetualcc.learning.corrections.model import pack
from perpetualcc.learning.corrections.signals import (
    BUCKETS,
    JOINT_BUCKETS,
    Signals,
    signals,
)

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus" / "corrections"
MODEL = ROOT / "src" / "perpetualcc" / "learning" / "corrections" / "model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """How freely each kind of signal may be weighed."""

    named: float
    letters: float
    joint: float


FREE = Free(named=0.5, letters=1.5, joint=0.5)
"""Chosen by leaving whole sources out."""
LASTING_FREE = Free(named=0.25, letters=3.0, joint=0.25)
"""The same for what lasts: what is spoken of tells more there than how it is said."""
PENALTY = 3.0
WORTH = {
    "promised": 12.0,
    "unsaid": 8.0,
    "pairs": 12.0,
    "habits": 12.0,
    "forms": 12.0,
    "real": 6.0,
    "reworded": 6.0,
}
WRITTEN = 20.0
"""
What a message counts.

`promised` are by authors who had read only what is promised, `unsaid` by such who were asked for what
is said without words of refusal, `pairs` by such who wrote half of theirs as close pairs of a
correction and its look-alike, `habits` by such who were asked for how one always works, said as a
condition or in a few words, `forms` by such who wrote long messages, objections that are questions and
what no list of words has; `real` are from sessions, `reworded` the same in other languages. The
rest was written for this purpose, and says plainly what must not be missed: few messages beside the
authors' many, so each counts more.
"""
ALONE, ALONE_LASTING = 0.25, 1.0
"""
What a message counts without the assistant's words, beside what it counts with them.

"From now on always X" is as good a rule when nothing went before.
"""
LOOKALIKES = 0.048
"""
The part of the look-alikes in `MEASURED` that may pass when nothing of their author was learned.

Less than the 5 % that are promised: phrases were added with these in view, and single authors
whom nothing was learned from have twice as many as all together.
"""
MEASURED = ("promised", "habits")
"""Where both limits are set: by authors who did not write close pairs."""
EVERYWHERE = 0.96
"""
Of what only the model says to hold in every project the part that does, when nothing of its author
was learned.

In doubt a rule is its project's: there it does the least harm.
"""
NO_WORSE = 0.005
"""A difference in F1 that is none: of such limits the highest makes the fewest rules."""
FOLDS = 6
"""Whole batches are left out together."""
LEAST = 5e-4
"""A smaller weight is not kept."""
SESSIONS = 30.0
"""What a correction of `natural` counts for what lasts: turns of whole sessions, as they came."""
NO_RULES = {"natural": 60.0, "ordinary": 20.0, "real": 3.0}
"""
What a message that corrects nothing counts among those that do not last; `ordinary` is by an author.

Most of a session is tasks, and one model alone lets too many of them pass: taught by corrections only,
the one of what lasts let 7 of a hundred turns of others' sessions become a rule that nobody had meant.
The one of corrections does not learn from them: it would find fewer of those in sessions.
"""
ONCE_ONLY = frozenset({"k"})
"""Batches that do not teach what lasts: with them "just this once" became a rule."""
LEARNED = (
    *("building", "held_out", "training", "real", "reworded"),
    *("promised", "unsaid", "pairs", "habits", "forms"),
)
TASKS = ("natural", "ordinary")
"""Turns and tasks as they come: they teach what lasts and what does not, and nothing else."""

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A labelled message, measured."""

    row: Mapping[str, Any]
    batch: str
    """The session or the repository it is from, where that is known."""
    file: str
    is_alone: bool
    """Read without the assistant's words: it corrects whether or not the cause is at hand."""
    found: Signals
    holds: Scope
    """Where, as the rules say."""

    @property
    def worth(self) -> float:
        alone = ALONE_LASTING if self.row["durable"] else ALONE
        return WORTH.get(self.file, WRITTEN) * (alone if self.is_alone else 1.0)


def examples(files: Sequence[Path]) -> list[Example]:
    """Every message in which something was typed."""
    return list(_examples(files))


def _examples(files: Sequence[Path]) -> Iterator[Example]:
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            batch = row["id"].rsplit("-", 1)[0].partition("-")[2] or file.stem
            contexts = [row["assistant"]] if file.stem in TASKS else _contexts(row["assistant"])
            for assistant in contexts:
                reading = understand(row["message"], assistant)
                if reading is not None:
                    yield Example(
                        row=row,
                        batch=batch,
                        file=file.stem,
                        is_alone=assistant != row["assistant"],
                        found=signals(reading.scene),
                        holds=reading.scene.lasting.scope,
                    )


def _contexts(assistant: str) -> Iterator[str]:
    """
    With the assistant's words, and without them: a transcript may be gone.

    What answers a question is nothing without it, and stays with it.
    """
    yield assistant
    if assistant and not assistant.rstrip().endswith(("?", "？", "؟")):
        yield ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Table:
    """Messages by signals, the zeros left out. The last signal is always 1: its weight is the bias."""

    columns: npt.NDArray[np.int64]
    values: Numbers
    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    names: Sequence[str]
    """Of the named signals, in front; buckets of letters follow, then those of joint signals."""
    free: Free

    @property
    def width(self) -> int:
        return len(self.names) + BUCKETS + JOINT_BUCKETS + 1

    def scores(self, weights: Numbers) -> Numbers:
        """One number a message."""
        products = self.values * weights[self.columns]
        return np.add.reduceat(products, self.starts)

    def sums(self, amounts: Numbers) -> Numbers:
        """One number a signal: the amounts of the messages that have it."""
        parts = self.values * amounts[self.rows]
        return np.bincount(self.columns, parts, minlength=self.width).astype(np.float64)


def table(learned: Sequence[Example], free: Free = FREE) -> Table:
    """Every message's signals, scaled by how freely they may be weighed."""
    names = sorted({name for one in learned for name in one.found.named})
    places = {name: place for place, name in enumerate(names)}
    first, last = len(names), len(names) + BUCKETS
    columns, values, lengths = array("i"), array("f"), []
    for one in learned:
        before = len(columns)
        for name, value in one.found.named.items():
            columns.append(places[name])
            values.append(free.named * value)
        for bucket, value in one.found.letters.items():
            columns.append(first + bucket)
            values.append(free.letters * value)
        for bucket, value in one.found.joint.items():
            columns.append(last + bucket)
            values.append(free.joint * value)
        columns.append(last + JOINT_BUCKETS)
        values.append(1.0)
        lengths.append(len(columns) - before)
    return Table(
        columns=np.array(columns),
        values=np.array(values, dtype=np.float64),
        rows=np.repeat(np.arange(len(learned)), lengths),
        starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]),
        names=names,
        free=free,
    )


def _part(among: Table, which: Flags) -> Table:
    """The rows of some messages."""
    ends = np.append(among.starts[1:], len(among.columns))
    lengths = (ends - among.starts)[which]
    kept = which[among.rows]
    return replace(
        among,
        columns=among.columns[kept],
        values=among.values[kept],
        rows=np.repeat(np.arange(len(lengths)), lengths),
        starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]),
    )


def fit(among: Table, wanted: Flags, worth: Numbers) -> Numbers:
    """A weight for each signal, the bias last. What is worth nothing is not learned from."""
    learned = worth > 0
    among, wanted, worth = _part(among, learned), wanted[learned], worth[learned]
    penalty = np.full(among.width, PENALTY)
    penalty[-1] = 1e-3
    weights = np.zeros(among.width)
    for _ in range(12):
        chance = 1 / (1 + np.exp(-np.clip(among.scores(weights), -30, 30)))
        slope = among.sums(worth * (chance - wanted)) + penalty * weights
        step = _solve(among, worth * chance * (1 - chance), penalty, -slope)
        weights = weights + step
        if np.abs(step).max() < 1e-3:
            break
    return weights


def _solve(among: Table, curve: Numbers, penalty: Numbers, aim: Numbers) -> Numbers:
    """The Newton step, by conjugate gradients."""
    step, rest = np.zeros_like(aim), aim.copy()
    way, size = rest.copy(), float(rest @ rest)
    enough = 1e-4 * size
    for _ in range(60):
        if size <= enough:
            break
        bent = among.sums(curve * among.scores(way)) + penalty * way
        length = size / float(way @ bent)
        step, rest = step + length * way, rest - length * bent
        size, before = float(rest @ rest), size
        way = rest + (size / before) * way
    return step


def left_out(among: Table, wanted: Flags, worth: Numbers, groups: Sequence[str]) -> Numbers:
    """The score of each message by a model that saw nothing of its group."""
    scores = np.zeros(len(wanted))
    labels = np.array(groups)
    for group in sorted(set(groups)):
        weights = fit(among, wanted, np.where(labels == group, 0.0, worth))
        scores = np.where(labels == group, among.scores(weights), scores)
    return scores


def f1(said: Flags, true: Flags) -> float:
    both = int((said & true).sum())
    return 2 * both / max(1, 2 * both + int((said != true).sum()))


def threshold_for(scores: Numbers, lookalikes: Flags) -> float:
    """The lowest score that lets at most `LOOKALIKES` pass."""
    ranked = np.sort(scores[lookalikes])[::-1]
    return max(0.0, float(ranked[int(LOOKALIKES * len(ranked))]))


def weights_of(among: Table, weights: Numbers) -> dict[str, Any]:
    """Weights of unscaled signals, in the form of model.json without the threshold."""
    free, names = among.free, len(among.names)
    named, letters, joint, bias = np.split(weights, [names, names + BUCKETS, len(weights) - 1])
    worth = dict(zip(among.names, (free.named * named).tolist(), strict=True))
    return {
        "bias": round(float(bias[0]), 4),
        "named": {name: round(one, 4) for name, one in worth.items() if abs(one) > LEAST},
        "letters": pack((free.letters * letters).tolist()),
        "joint": pack((free.joint * joint).tolist()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="measure only")
    arguments = parser.parse_args()
    learned = examples([CORPUS / f"{name}.jsonl" for name in LEARNED])
    among = table(learned)
    wanted = _flags(learned, "correction")
    lookalikes = _flags(learned, "lookalike")
    files = np.array([one.file for one in learned])
    worth = np.array([one.worth for one in learned])
    whole = np.array([not one.is_alone for one in learned])
    scores = left_out(among, wanted, worth, _folds(learned))
    measured = whole & np.isin(files, MEASURED)
    threshold = threshold_for(scores[measured], lookalikes[measured])
    for file in dict.fromkeys(files):
        which = whole & (files == file)
        _report(f"{file}, left out", scores[which] > threshold, wanted[which], lookalikes[which])
    if arguments.check:
        languages = [one.row["language"] for one in learned]
        scores = left_out(among, wanted, worth, languages)
        _report("one language left out", scores > threshold, wanted, lookalikes)
        return
    lasting = _lasting([*learned, *examples([CORPUS / f"{name}.jsonl" for name in TASKS])])
    least = _least_lasting(learned, lasting, scores > threshold, measured)
    stored = {
        "correction": {"threshold": round(threshold, 3)}
        | weights_of(among, fit(among, wanted, worth)),
        "durable": {"threshold": round(least, 3)} | lasting.weights,
        "everywhere": everywhere(learned),
    }
    MODEL.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _say(f"{MODEL.name}: {MODEL.stat().st_size // 1024} kB, {len(learned)} messages")


def _folds(learned: Sequence[Example]) -> list[str]:
    """The fold of each message: batches dealt out by size, so that none is split."""
    sizes = Counter(one.batch for one in learned)
    held = dict.fromkeys(range(FOLDS), 0)
    where: dict[str, int] = {}
    for batch, size in sizes.most_common():
        where[batch] = min(held, key=held.__getitem__)
        held[where[batch]] += size
    return [str(where[one.batch]) for one in learned]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """The model of what lasts, and what it says of messages that it did not see."""

    weights: dict[str, Any]
    scores: Numbers
    """Of every message, by a model that saw nothing of its fold."""


def _lasting(learned: Sequence[Example]) -> Lasting:
    """Corrections teach it, as the other model has turned the rest away, and `NO_RULES`."""
    among = table(learned, LASTING_FREE)
    durable = _flags(learned, "durable")
    worth = np.array([_worth_lasting(one) for one in learned])
    return Lasting(
        weights=weights_of(among, fit(among, durable, worth)),
        scores=left_out(among, durable, worth, _folds(learned)),
    )


def _worth_lasting(one: Example) -> float:
    if not one.row["correction"]:
        return 0.0 if one.is_alone else NO_RULES.get(one.file, 0.0)
    if one.batch in ONCE_ONLY:
        return 0.0
    return SESSIONS if one.file in TASKS else one.worth


def _least_lasting(
    learned: Sequence[Example], lasting: Lasting, said: Flags, which: Flags
) -> float:
    """The score above which rules are found as well as anywhere in `which`, corrections judged before."""
    durable = _flags(learned, "durable")[which]
    scores = np.where(said, lasting.scores[: len(said)], -np.inf)[which]
    found = {step: f1(scores > step, durable) for step in np.arange(-2.5, 1.5, 0.05)}
    best = max(step for step, one in found.items() if one > max(found.values()) - NO_WORSE)
    _say(f"durable above {best:.2f}: F1 {found[best]:.3f}")
    return float(best)


def everywhere(learned: Sequence[Example]) -> dict[str, Any]:
    """The model of which rules hold in every project, learned from all that last."""
    ruled = [one for one in learned if one.row["durable"] and one.row.get("scope")]
    among = table(ruled, LASTING_FREE)
    wide = np.array([one.row["scope"] == Scope.GLOBAL for one in ruled])
    worth = np.array([one.worth for one in ruled])
    told = np.array([one.holds is Scope.GLOBAL for one in ruled])
    measured = np.array([one.file in MEASURED and not one.is_alone for one in ruled])
    scores = left_out(among, wide, worth, _folds(ruled))
    untold = measured & ~told
    right = {s: _precision(scores[untold] > s, wide[untold]) for s in np.arange(-1.0, 3.0, 0.05)}
    least = min(step for step, part in right.items() if part >= EVERYWHERE)
    is_right = (told | (scores > least)) == wide
    _say(f"everywhere above {least:.2f}: {np.mean(is_right[measured]):.3f} right")
    return {"threshold": round(float(least), 3)} | weights_of(among, fit(among, wide, worth))


def _precision(said: Flags, true: Flags) -> float:
    return int((said & true).sum()) / max(1, int(said.sum()))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _flags(learned: Sequence[Example], name: str) -> Flags:
    return np.array([bool(one.row[name]) for one in learned])


def _report(title: str, said: Flags, true: Flags, lookalikes: Flags) -> None:
    taken = int((said & lookalikes).sum())
    _say(f"{title}: F1 {f1(said, true):.3f}, look-alikes {taken} of {int(lookalikes.sum())}")


if __name__ == "__main__":
    main()
