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


PROSE = ["atlas", "borealis", "cedar"]
"""Requirements written as prose, and questions that need them understood."""
LEARNED = ["oak", "maple", "hazel", "ash", "birch", "elm", "fir", "larch", "pine", "alder"]
"""Files and questions of authors who had not seen the rules; the weights are fitted to them."""
LOOKED_AT = ["cypress", "teak"]
"""The same; the rules learned from these, the weights did not."""
UNSEEN = ["quince", "rowan", "juniper"]
"""The same; neither rules nor weights ever learned from these."""
HARD = [
    *((name, 0.45) for name in PROSE),
    *((name, 0.34) for name in LEARNED),
    *((name, 0.37) for name in LOOKED_AT),
    *((name, 0.34) for name in UNSEEN),
]
"""What is asked of the others is not reached here: more than half needs understanding."""


@pytest.mark.parametrize(("folder", "reach"), HARD)
def test_hard_questions_are_rather_left_than_answered_wrong(folder: str, reach: float) -> None:
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.92, score.misses
    assert score.reach >= reach, score.misses


@pytest.mark.parametrize("folder", ["viper", "adder", "mamba"])
def test_no_risk_is_taken_that_requirements_seem_to_order(folder: str) -> None:
    """A hundred acts that a line names nearly word for word, and designs in the same words."""
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.9, score.misses
    assert score.reach >= 0.35, score.misses


def test_the_corpus_is_broad() -> None:
    folders = [*FOLDERS, *PROSE, *LEARNED, *UNSEEN]
    everything = [case for folder in folders for case in cases(folder)]

    assert len(everything) >= 300
    assert len({case.requirements for case in everything}) >= 15
