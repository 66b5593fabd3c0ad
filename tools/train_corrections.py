"""
Learns the weights of `learning/corrections/model.json` from tests/corpus/corrections.

    python -m tools.train_corrections            write the model
    python -m tools.train_corrections --check    only measure: batches left out, language by language

A ridge-penalised logistic regression, solved in the space of messages (there are fewer messages
than signals). numpy is needed here only; the product adds up the weights in plain Python.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perpetualcc.learning.corrections.classifier import understand
from perpetualcc.learning.corrections.model import pack
from perpetualcc.learning.corrections.signals import Signals, signals

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus" / "corrections"
MODEL = ROOT / "src" / "perpetualcc" / "learning" / "corrections" / "model.json"

NAMED, LETTERS = 0.5, 2.0
"""How freely either kind of signal may be weighed; chosen by leaving whole sources out."""
PENALTY = 3.0
REAL, REAL_WEIGHT = frozenset({"real", "reworded"}), 4.0
"""Messages of real sessions, and what one of them counts beside one that was written for this."""
LOOKALIKES = 0.05
"""The part of real look-alikes that may pass when nothing of their own source was learned from."""
COST = 0.06
"""How much F1 of real messages the threshold may cost on the way there: neither aim is given up
for the other."""
FOLDS = 4
"""Whole batches are left out together, so that the training takes minutes."""
ONCE_ONLY = frozenset({"k"})
"""Batches that do not teach what lasts: with them "just this once" became a rule."""
LEARNED = ("building", "held_out", "training", "real", "reworded")
LEAST_LASTING = 0.0

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A labelled message, measured."""

    row: Mapping[str, Any]
    batch: str
    """The session or the repository it is from, where that is known."""
    is_real: bool
    found: Signals


def examples(files: Sequence[Path]) -> list[Example]:
    """Every message in which something was typed."""
    return list(_examples(files))


def _examples(files: Sequence[Path]) -> Iterator[Example]:
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            batch = row["id"].rsplit("-", 1)[0].partition("-")[2] or file.stem
            for assistant in _contexts(row["assistant"]):
                reading = understand(row["message"], assistant)
                if reading is not None:
                    yield Example(
                        row=row,
                        batch=batch,
                        is_real=file.stem in REAL,
                        found=signals(reading.scene),
                    )


def _contexts(assistant: str) -> Iterator[str]:
    """
    With the assistant's words, and without: one corrects whether or not the cause is at hand.

    What answers a question is nothing without it, and stays with it.
    """
    yield assistant
    if assistant and not assistant.rstrip().endswith(("?", "？", "؟")):
        yield ""


def likeness(learned: Sequence[Example]) -> Numbers:
    """How much any two messages have in common: the products of their signals."""
    return NAMED**2 * _products(one.found.named for one in learned) + LETTERS**2 * _products(
        one.found.letters for one in learned
    )


def _products(vectors: Iterator[Mapping[Any, float]]) -> Numbers:
    having: dict[Any, list[tuple[int, float]]] = defaultdict(list)
    count = 0
    for position, vector in enumerate(vectors):
        count = position + 1
        for key, value in vector.items():
            having[key].append((position, value))
    products = np.zeros((count, count))
    for rows in having.values():
        where = np.array([row for row, _ in rows])
        values = np.array([value for _, value in rows])
        products[np.ix_(where, where)] += np.outer(values, values)
    return products


def fit(products: Numbers, wanted: Flags, worth: Numbers) -> tuple[Numbers, float]:
    """A weight for each message and a bias, by iteratively reweighted least squares."""
    target = wanted.astype(float)
    weights, bias = np.zeros(len(target)), 0.0
    for _ in range(5):
        score = np.clip(products @ weights + bias, -30, 30)
        chance = 1 / (1 + np.exp(-score))
        sureness = np.maximum(chance * (1 - chance), 1e-5)
        sides = np.stack([score + (target - chance) / sureness, np.ones_like(target)], axis=1)
        solved = np.linalg.solve(products + np.diag(PENALTY / (sureness * worth)), sides)
        bias = float(solved[:, 0].sum() / solved[:, 1].sum())
        moved = solved[:, 0] - bias * solved[:, 1]
        step, weights = float(np.abs(moved - weights).max()), moved
        if step < 1e-2:
            break
    return weights, bias


def left_out(products: Numbers, wanted: Flags, worth: Numbers, groups: Sequence[str]) -> Numbers:
    """The score of each message by a model that saw nothing of its group."""
    scores = np.zeros(len(wanted))
    labels = np.array(groups)
    for group in sorted(set(groups)):
        seen, unseen = np.flatnonzero(labels != group), np.flatnonzero(labels == group)
        weights, bias = fit(products[np.ix_(seen, seen)], wanted[seen], worth[seen])
        scores[unseen] = products[np.ix_(unseen, seen)] @ weights + bias
    return scores


def f1(said: Flags, true: Flags) -> float:
    both = int((said & true).sum())
    return 2 * both / max(1, 2 * both + int((said != true).sum()))


def threshold_for(scores: Numbers, wanted: Flags, lookalikes: Flags) -> float:
    """The lowest score that lets at most `LOOKALIKES` pass, or the last one that costs `COST`."""
    ranked = np.sort(scores[lookalikes])[::-1]
    strict = max(0.0, float(ranked[int(LOOKALIKES * len(ranked))]))
    reached = {step: f1(scores > step, wanted) for step in np.arange(0.0, strict, 0.01)}
    best = max(reached.values(), default=0.0)
    return float(max((step for step, value in reached.items() if value >= best - COST), default=0))


def weights_of(learned: Sequence[Example], weights: Numbers, bias: float) -> dict[str, Any]:
    """Message weights as signal weights, in the form of model.json without the threshold."""
    named: dict[str, float] = defaultdict(float)
    letters: dict[int, float] = defaultdict(float)
    for one, weight in zip(learned, weights, strict=True):
        for name, value in one.found.named.items():
            named[name] += NAMED**2 * weight * value
        for bucket, value in one.found.letters.items():
            letters[bucket] += LETTERS**2 * weight * value
    scale, packed = pack(letters)
    kept = {name: round(worth, 4) for name, worth in sorted(named.items()) if abs(worth) > 5e-4}
    return {"bias": round(bias, 4), "named": kept, "scale": round(scale, 7), "letters": packed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="measure only")
    arguments = parser.parse_args()
    learned = examples([CORPUS / f"{name}.jsonl" for name in LEARNED])
    products = likeness(learned)
    wanted = _flags(learned, "correction")
    lookalikes = _flags(learned, "lookalike")
    real = np.array([one.is_real for one in learned])
    worth = np.where(real, REAL_WEIGHT, 1.0)
    scores = left_out(products, wanted, worth, _folds(learned))
    # What is shipped meets real messages; with the assistant's words, as a session has them.
    asked = real & [bool(one.row["assistant"]) for one in learned]
    threshold = threshold_for(scores[asked], wanted[asked], lookalikes[asked])
    for title, which in (("sources left out", ~real), ("real ones of them", asked)):
        _report(title, scores[which] > threshold, wanted[which], lookalikes[which])
    if arguments.check:
        languages = [one.row["language"] for one in learned]
        scores = left_out(products, wanted, worth, languages)
        _report("one language left out", scores > threshold, wanted, lookalikes)
        return
    stored = {
        "correction": {"threshold": round(threshold, 3)}
        | weights_of(learned, *fit(products, wanted, worth)),
        "durable": {"threshold": LEAST_LASTING} | _lasting(learned, products, worth),
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


def _lasting(learned: Sequence[Example], products: Numbers, worth: Numbers) -> dict[str, Any]:
    """Only corrections teach what lasts: the other model has turned the rest away."""
    wanted = _flags(learned, "correction")
    which = np.flatnonzero(wanted & [one.batch not in ONCE_ONLY for one in learned])
    corrections = [learned[int(position)] for position in which]
    durable = _flags(corrections, "durable")
    weights, bias = fit(products[np.ix_(which, which)], durable, worth[which])
    return weights_of(corrections, weights, bias)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _flags(learned: Sequence[Example], name: str) -> Flags:
    return np.array([bool(one.row[name]) for one in learned])


def _report(title: str, said: Flags, true: Flags, lookalikes: Flags) -> None:
    taken = int((said & lookalikes).sum())
    _say(f"{title}: F1 {f1(said, true):.3f}, look-alikes {taken} of {int(lookalikes.sum())}")


if __name__ == "__main__":
    main()
