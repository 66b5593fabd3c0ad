"""What is missing between two signs of life, and why."""

import pytest

from perpetualcc.sessions.outages import (
    SHORTEST,
    LastSign,
    Outage,
    OutageCause,
    joined,
    missed_since,
    stood_still,
    without,
)

H = 3600.0
NOW = 100 * H
CASES = [
    # how it left, when it wanted to be back, this boot, hours slept, stopped: from when, why
    ("", None, "b", 0, False, 94, OutageCause.DIED),
    ("", None, "c", 0, False, 94, OutageCause.OFF),
    ("", None, "b", 5, False, 94, OutageCause.SLEPT),
    ("", None, "b", 2, False, 94, OutageCause.DIED),
    ("", None, "b", 0, True, 94, OutageCause.STOPPED),
    ("stopped", None, "c", 5, False, 94, OutageCause.STOPPED),
    ("ended", None, "b", 0, False, 94, OutageCause.ENDED),
    ("ended", None, "c", 0, False, 94, OutageCause.OFF),
    ("gave up", None, "b", 0, False, 94, OutageCause.GAVE_UP),
    ("asleep", 97 * H, "b", 2.5, False, 97, OutageCause.SLEPT),
    ("asleep", 97 * H, "b", 0, False, 97, OutageCause.DIED),
    ("asleep", 90 * H, "b", 0, False, 94, OutageCause.DIED),
    ("asleep", 97 * H, "b", 0, True, 97, OutageCause.STOPPED),
    ("asleep", None, "b", 6, False, None, None),
    ("asleep", 101 * H, "b", 6, False, None, None),
    ("of another version", None, "b", 0, False, 94, OutageCause.DIED),
]


@pytest.mark.parametrize(("left", "due", "boot", "slept", "stopped", "began", "cause"), CASES)
def test_what_is_missing_since_the_last_sign(left, due, boot, slept, stopped, began, cause):
    sign = LastSign(at=94 * H, boot="b", slept=7 * H, left=left, due=due, detail="why")

    found = missed_since(sign, now=NOW, boot=boot, slept=(7 + slept) * H, is_stopped=stopped)

    wanted = began and Outage(began=began * H, ended=NOW, cause=cause, detail="why")
    assert found == wanted


def test_moments_are_no_news_and_neither_is_a_clock_that_was_set_back():
    for at in (NOW - SHORTEST + 1, NOW + H):
        assert missed_since(LastSign(at=at), now=NOW, boot="", slept=0, is_stopped=False) is None


@pytest.mark.parametrize(
    ("wall", "steady", "slept", "missing", "cause"),
    [
        (10, 10, 0, 0, None),
        (8 * H + 10, 10, 8 * H, 8 * H, OutageCause.SLEPT),
        (8 * H, 10, 0, 8 * H - 10, OutageCause.STOOD_STILL),  # a machine in a machine, paused
        (8 * H, 8 * H, 0, 8 * H - 10, OutageCause.STOOD_STILL),  # Ctrl+Z
        (8 * H, 3 * H, 5 * H, 8 * H - 10, OutageCause.SLEPT),
        (-8 * H, 10, 0, 0, None),
        (2 * H, 10, 8 * H, 8 * H, OutageCause.SLEPT),  # and the clock was set back meanwhile
        (SHORTEST, 10, SHORTEST - 10, 0, None),
    ],
)
def test_an_engine_that_lives_on_measures_what_it_missed(wall, steady, slept, missing, cause):
    found = stood_still(wall=wall, steady=steady, slept=slept, expected=10, now=NOW)

    assert (found and found.cause) == cause
    assert (found.seconds if found else 0) == missing


def test_what_was_interrupted_for_a_look_is_one():
    def outage(began: float, ended: float, cause=OutageCause.STOPPED, *names: str) -> Outage:
        return Outage(began=began, ended=ended, cause=cause, sessions=names)

    found = joined([
        outage(3 * H, 5 * H, OutageCause.STOPPED, "b", "a"),
        outage(1 * H, 3 * H - 60, OutageCause.STOPPED, "a"),
        outage(5 * H, 6 * H, OutageCause.SLEPT),
        outage(7 * H, 8 * H, OutageCause.SLEPT),
    ])  # fmt: skip

    assert found == [
        outage(1 * H, 5 * H, OutageCause.STOPPED, "a", "b"),
        outage(5 * H, 6 * H, OutageCause.SLEPT),
        outage(7 * H, 8 * H, OutageCause.SLEPT),
    ]


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        ([], [(10, 20)]),
        ([(0, 10), (20, 30)], [(10, 20)]),
        ([(0, 12), (15, 16), (18, 30)], [(12, 15), (16, 18)]),
        ([(11, 19), (12, 13)], [(10, 11), (19, 20)]),
        ([(0, 30)], []),
    ],
)
def test_what_is_left_of_a_stretch(taken, left):
    assert list(without((10, 20), taken)) == left
