"""When a handover is due, and which numbers are refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.sessions import Perpetual
from perpetualcc.sessions.handover.estimate import (
    INSTRUCTIONS,
    TOKENS_PER_CALL,
    ContextEstimate,
)
from perpetualcc.sessions.handover.status_text import status_text
from perpetualcc.sessions.handover.thresholds import (
    HandoverSettings,
    Level,
    Thresholds,
    level_of,
    perpetual_from,
    thresholds_for,
)

SETTINGS = HandoverSettings()
SEED = Thresholds(warn_tokens=90_000, hard_tokens=120_000, warn_minutes=18, hard_minutes=25)


@pytest.mark.parametrize(
    ("tokens", "minutes", "level"),
    [
        (0, 0, Level.NORMAL),
        (89_999, 17.99, Level.NORMAL),
        (90_000, 0, Level.WARNING),
        (0, 18, Level.WARNING),
        (119_999, 24.99, Level.WARNING),
        (120_000, 0, Level.CRITICAL),
        (0, 25, Level.CRITICAL),
        (90_000, 25, Level.CRITICAL),
    ],
)
def test_the_worst_of_tokens_and_time_counts(tokens, minutes, level):
    assert level_of(SEED, tokens, minutes)[0] is level


@pytest.mark.parametrize(
    ("window", "warn", "hard"),
    [(200_000, 157_500, 175_000), (1_000_000, 800_000, 900_000)],
)
def test_an_ordinary_session_goes_by_its_window(window, warn, hard):
    """Below 178,000 of 200,000, where Claude Code without compaction refuses to go on."""
    assert thresholds_for(None, SETTINGS, window) == Thresholds(warn_tokens=warn, hard_tokens=hard)


def test_a_small_window_lowers_what_a_perpetual_session_asked_for():
    asked = Perpetual(warn_tokens=400_000, hard_tokens=500_000)

    found = thresholds_for(asked, SETTINGS, 200_000)

    assert (found.warn_tokens, found.hard_tokens) == (157_500, 175_000)


@settings(deadline=None, max_examples=60)
@given(window=st.integers(min_value=1_000, max_value=10_000_000))
def test_a_warning_always_comes_before_the_hard_limit(window):
    for asked in (None, Perpetual()):
        found = thresholds_for(asked, SETTINGS, window)
        assert 0 < found.warn_tokens < found.hard_tokens < window


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"warn_tokens": 50_000, "hard_tokens": 40_000}, "The warning at 50000 tokens would come"),
        ({"warn_tokens": 40_000, "hard_tokens": 40_000}, "would come after"),
        ({"hard_tokens": -1}, "--hard-tokens -1 makes no sense"),
        ({"hard_tokens": 14_000}, "A hard limit of 14,000 tokens is below what every conversation"),
        ({"warn_tokens": 0}, "--warn-tokens 0 makes no sense"),
        ({"hard_minutes": float("nan")}, "--hard-minutes nan makes no sense"),
        ({"hard_minutes": float("inf")}, "--hard-minutes inf makes no sense"),
        ({"warn_minutes": 1e12}, "makes no sense"),
        ({"max_iterations": 0}, "--max-iterations 0 makes no sense"),
        ({"resume_from": -3}, "--resume-from -3 makes no sense"),
        ({"sleep": 3}, "no setting 'sleep'"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(asked, said):
    with pytest.raises(PerpetualError) as caught:
        perpetual_from(asked, SETTINGS)

    assert said in caught.value.message


def test_one_number_alone_takes_the_other_along():
    assert perpetual_from({"hard_tokens": 40_000}, SETTINGS).warn_tokens == 30_000
    assert perpetual_from({"warn_minutes": 60.0}, SETTINGS).hard_minutes == 80
    assert perpetual_from({}, SETTINGS) == Perpetual()


@pytest.mark.parametrize("shares", [(0.9, 0.8), (0.0, 0.5), (0.5, 1.1)])
def test_shares_that_cannot_be_meant_are_refused(shares):
    with pytest.raises(PerpetualError, match=r"warn_share"):
        HandoverSettings(warn_share=shares[0], hard_share=shares[1])


def test_status_txt_is_as_the_seed_writes_it():
    """`TOKENS: 87,432 / 120,000 (73%) - NORMAL` (seed 001; it rounds 72.86 up)."""
    limits = Thresholds(warn_tokens=90_000, hard_tokens=120_000, warn_minutes=18, hard_minutes=20)

    assert status_text(limits, 87_432, 12, Level.NORMAL) == (
        "TOKENS: 87,432 / 120,000 (73%) - NORMAL\n"
        "TIME: 12 / 20 minutes - NORMAL\n"
        "STATUS: Continue working\n"
    )
    assert status_text(limits, 91_000, 12, Level.WARNING).splitlines()[2] == (
        "STATUS: WARNING - Complete current task and trigger handover"
    )


def test_the_estimate_counts_instructions_words_results_calls_and_minutes():
    estimate = ContextEstimate()
    before = estimate.tokens(0)

    estimate.said("z" * 4_400)
    estimate.wants({"file_path": "a.py", "content": "y" * 6_996})
    estimate.got(35_000)

    assert before == INSTRUCTIONS
    assert estimate.tokens(0) - before == 1_000 + 2_000 + 10_000 + TOKENS_PER_CALL
    assert estimate.tokens(2.5) - estimate.tokens(0) == 5_000


def test_a_script_without_an_alphabet_counts_as_what_it_is():
    estimate = ContextEstimate()

    estimate.said("对账程序" * 700)
    estimate.said("\ud800 is no text")

    assert 2_380 <= estimate.tokens(0) - INSTRUCTIONS <= 2_420


def test_numbers_of_the_settings_that_contradict_each_other_name_what_to_set():
    with pytest.raises(PerpetualError) as told:
        HandoverSettings(hard_tokens=60_001)
    assert told.value.hint == "pcc config set handover.warn_tokens 45000"

    with pytest.raises(PerpetualError, match="below what every conversation begins with") as told:
        HandoverSettings(hard_tokens=14_999)
    assert told.value.hint == "pcc config set handover.hard_tokens 120000"

    with pytest.raises(PerpetualError, match=r"^handover.hard_minutes 0 makes no sense"):
        HandoverSettings(hard_minutes=0)


@pytest.mark.parametrize(
    ("shares", "hint"),
    [
        ((0.8, 0.5), "warn_share 0.44"),
        ((2.0, 0.9), "warn_share 0.8"),
        ((0.8, 2.0), "hard_share 0.9"),
    ],
)
def test_what_is_hinted_at_is_taken(shares, hint):
    with pytest.raises(PerpetualError) as refused:
        HandoverSettings(warn_share=shares[0], hard_share=shares[1])

    name, value = hint.split()
    assert refused.value.hint == f"pcc config set handover.{hint}"
    given = {"warn_share": shares[0], "hard_share": shares[1]} | {name: float(value)}
    HandoverSettings(warn_share=given["warn_share"], hard_share=given["hard_share"])
