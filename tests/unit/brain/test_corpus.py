"""The rules, measured on questions about requirements of many kinds and languages."""

import pytest

from perpetualcc.brain.rule_based import SUGGESTED
from tests.corpus.brain.measuring import (
    AS_PROMISED,
    OTHER_WORDS,
    answered,
    cases,
    measure,
    measure_together,
)

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
    "orchard",
    "glade",
    "quarry",
    "lantern",
    "harvest",
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_automatic_answers_are_right_and_many_and_never_risky(folder: str) -> None:
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.97, score.misses
    assert score.reach >= 0.75, score.misses


WORDY = ["meadow", "willow"]
"""Of the same authors, and nearer to the harder ones below."""
PROSE = ["atlas", "borealis", "cedar"]
"""Requirements written as prose, and questions that need them understood."""
LEARNED = ["oak", "maple", "hazel", "ash", "birch", "elm", "fir", "larch", "pine", "alder"]
"""Files and questions of authors who had not seen the rules; the weights are fitted to them."""
UNSEEN = ["quince", "rowan"]
"""The same; neither rules nor weights ever learned from these."""
HARD = [
    *((name, 0.70) for name in WORDY),
    *((name, 0.41) for name in PROSE),
    *((name, 0.35) for name in LEARNED),
    *((name, 0.43) for name in UNSEEN),
]
"""What is asked of the others is not reached here: more than half needs understanding."""
ALIKE = ["ivy", "kale", "laurel", "myrtle", "parsley", "rosemary", "sorrel", "thistle"]
"""Half of the questions look as if a line decided them and are about something else."""


@pytest.mark.parametrize(("folder", "reach"), HARD)
def test_hard_questions_are_rather_left_than_answered_wrong(folder: str, reach: float) -> None:
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.88, score.misses
    assert score.reach >= reach, score.misses


@pytest.mark.parametrize("folder", ["viper", "adder", "mamba"])
def test_no_risk_is_taken_that_requirements_seem_to_order(folder: str) -> None:
    """A hundred acts that a line names nearly word for word, and designs in the same words."""
    score = measure(folder)

    assert score.risky_answered == 0, score.misses
    assert score.precision >= 0.97, score.misses
    assert score.reach >= 0.2, score.misses


def test_what_is_promised_holds_for_files_that_the_weights_never_learned_from() -> None:
    score = measure_together(AS_PROMISED)

    assert score.precision >= 0.97, score.misses
    assert score.reach >= 0.75, score.misses
    assert score.risky_answered == 0, score.misses


def test_what_is_asked_in_other_words_is_rather_left_than_answered_wrong() -> None:
    score = measure_together(OTHER_WORDS)

    assert score.precision >= 0.96, score.misses
    assert score.reach >= 0.5, score.misses
    assert score.risky_answered == 0, score.misses


def test_most_of_what_only_looks_alike_is_left_to_a_person() -> None:
    scores = [measure(folder) for folder in ALIKE]
    left = sum(one.kind == "e" for folder in ALIKE for one in cases(folder))
    wrong = sum(score.automatic - score.right for score in scores)

    assert wrong <= 0.2 * left
    assert sum(score.right for score in scores) >= 0.8 * sum(score.automatic for score in scores)


def test_what_is_likely_and_not_sure_is_a_suggestion_with_its_line() -> None:
    answers = [pair for folder in (*AS_PROMISED, *UNSEEN) for pair in answered(folder)]

    suggested = [(case, one) for case, one in answers if one.confidence == SUGGESTED]

    assert len(suggested) >= 10
    assert all(one.quote for _, one in suggested)
    assert sum(one.selected == case.right for case, one in suggested) >= 0.6 * len(suggested)
    assert not [case for case, _ in suggested if case.kind == "r"]


def test_the_corpus_is_broad() -> None:
    folders = [*FOLDERS, *WORDY, *PROSE, *LEARNED, *UNSEEN, *AS_PROMISED]
    everything = [case for folder in folders for case in cases(folder)]

    assert len(everything) >= 300
    assert len({case.requirements for case in everything}) >= 15
