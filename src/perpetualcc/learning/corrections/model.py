"""
Three linear models over the signals of a message: is it a correction, should it last, and does
it hold in every project?

`model.json` holds what `tools/train_corrections.py` learned from tests/corpus/corrections: a
weight for each named signal, in plain numbers, and one byte for each bucket of what is hashed.
Nothing but a sum is computed here.
"""

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from perpetualcc.learning.corrections.signals import Signals

_ZERO = 128
"""A bucket's byte less this, times `scale`, is its weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """A model's answer to one message."""

    score: float
    """Log odds, the threshold taken off: above 0 is yes."""
    log_odds: float
    """As learned, without the threshold: what `probability` is told from."""
    terms: tuple[tuple[str, float], ...]
    """What counted, the strongest first; the letters are one term, and so is what is joint."""

    @property
    def probability(self) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.log_odds))))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Hashed:
    """A weight for each bucket. Compared by identity."""

    scale: float
    table: bytes

    def weigh(self, found: Mapping[int, float]) -> float:
        return self.scale * sum(
            value * (self.table[bucket] - _ZERO) for bucket, value in found.items()
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Model:
    """A linear model. Compared by identity."""

    threshold: float
    """Chosen where the model was learned: at most so many look-alikes pass, and so on."""
    bias: float
    named: Mapping[str, float]
    letters: Hashed
    joint: Hashed

    def weigh(self, signals: Signals) -> Weighing:
        terms = {
            name: value * self.named[name]
            for name, value in signals.named.items()
            if name in self.named
        }
        terms["wording"] = self.letters.weigh(signals.letters)
        terms["what stands beside what"] = self.joint.weigh(signals.joint)
        ranked = sorted(terms.items(), key=lambda term: -abs(term[1]))
        log_odds = sum(terms.values()) + self.bias
        return Weighing(score=log_odds - self.threshold, log_odds=log_odds, terms=tuple(ranked))


@cache
def model(name: str) -> Model:
    """`correction`, `durable` or `everywhere`."""
    source = files("perpetualcc.learning.corrections") / "model.json"
    stored = json.loads(source.read_text(encoding="utf-8"))[name]
    return Model(
        threshold=stored["threshold"],
        bias=stored["bias"],
        named=stored["named"],
        letters=_unpack(stored["letters"]),
        joint=_unpack(stored["joint"]),
    )


def pack(weights: Sequence[float]) -> dict[str, Any]:
    """How a table of weights is stored, one for each bucket."""
    scale = max(map(abs, weights)) / 127 or 1.0
    table = bytes(_ZERO + round(weight / scale) for weight in weights)
    return {"scale": scale, "table": base64.b85encode(table).decode("ascii")}


def _unpack(stored: Mapping[str, Any]) -> Hashed:
    return Hashed(scale=stored["scale"], table=base64.b85decode(stored["table"]))
