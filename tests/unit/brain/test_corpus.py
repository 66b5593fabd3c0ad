"""The rules, measured on questions about requirements of many kinds and languages."""

import pytest

from tests.corpus.brain.measuring import cases, measure

FOLDERS = [
    "built",
    "held_out",
    "late",
    "fresh",
    "traps",
    "last",
    "field",
    "street",
    "plaza",
    "harbour",
    "meadow",
    "orchard",
    "glade",
    "quarry",
    "lantern",
    "harvest",
    "willow",
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_automatic_answers_are_right_and_many_and_never_risky(folder: str) -> None:
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.97, score.misses
    assert score.reach >= 0.75, score.misses


HARD = ["atlas", "borealis", "cedar"]
"""
Requirements written as prose and questions that need them understood: at first sight 45 to 60 % of
the answerable ones were answered. What is asked of the others is not reached there.
"""


@pytest.mark.parametrize("folder", HARD)
def test_hard_questions_are_rather_left_than_answered_wrong(folder: str) -> None:
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.95, score.misses
    assert score.reach >= 0.45, score.misses


def test_the_corpus_is_broad() -> None:
    everything = [case for folder in FOLDERS + HARD for case in cases(folder)]

    assert len(everything) >= 300
    assert len({case.requirements for case in everything}) >= 15
