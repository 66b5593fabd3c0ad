"""
From hits to an order of files: tests step back, a file answers once, scores mean something.

Pure functions. Every number here was chosen by `benchmarks/evaluate_knowledge.py`.
"""

import re
from collections.abc import Iterable, Sequence

from perpetualcc.knowledge.ports import Hit

TEST_FACTOR = 0.5
"""Tests repeat the words of what they test; half their score lets the code itself win."""

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|specs|e2e|fixtures|testdata|test_[^/]*|conftest\.py)(/|$)"
    r"|(^|/)test_[^/]*\.\w+$|_test\.\w+$|_spec\.\w+$|\.(test|spec)\.\w+$|Tests?\.(java|cs|php)$",
)


def is_test(path: str) -> bool:
    """Whether a file tests other files, by where it is and what it is called."""
    return _TEST.search(path) is not None


def demoted(hits: Iterable[Hit]) -> list[Hit]:
    """Hits with their final scores, best first; equal scores by path and place."""
    weighed = [
        Hit(
            chunk=hit.chunk,
            path=hit.path,
            score=hit.score * (TEST_FACTOR if is_test(hit.path) else 1.0),
        )
        for hit in hits
    ]
    return ordered(weighed)


def ordered(hits: Iterable[Hit]) -> list[Hit]:
    """Best first; equal scores by path, then by place, so that two runs agree."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.chunk))


def one_for_each_file(hits: Sequence[Hit], count: int) -> list[Hit]:
    """The best hit of each file; only when there are too few files, second ones."""
    first: dict[str, Hit] = {}
    further = []
    for hit in hits:
        if hit.path in first:
            further.append(hit)
        else:
            first[hit.path] = hit
    return [*first.values(), *further][:count]
