"""How times and lengths of time are written: one way each."""

import time

import pytest

from perpetualcc.domain.times import ago, clock, dated, duration, moment, seen, sent_moment

NOON = time.mktime((2026, 11, 18, 12, 0, 0, 0, 0, -1))
"""A Wednesday."""
HOUR, DAY = 3600, 86400


@pytest.fixture(autouse=True)
def _at_noon(monkeypatch):
    monkeypatch.setattr("perpetualcc.domain.times.time.time", lambda: NOON)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0s"),
        (0, "0s"),
        (0.04, "0s"),
        (0.42, "0.4s"),
        (59.9, "59s"),
        (60, "1m"),
        (299.7, "4m 59s"),
        (3600, "1h"),
        (3659, "1h"),
        (4800, "1h 20m"),
        (90_000, "1d 1h"),
        (14 * DAY, "14d"),
    ],
)
def test_a_length_of_time_has_two_units_at_most(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0s ago"), (0.6, "0s ago"), (59, "59s ago"), (299, "4m ago"), (4_850, "1h 20m ago")],
)
def test_after_a_minute_nobody_counts_seconds(seconds, words):
    assert ago(seconds) == words


@pytest.mark.parametrize(
    ("told", "passed", "words"),
    [
        (seen, 300, "5m ago"),
        (seen, 25 * HOUR, "2026-11-17 11:00"),
        (seen, -60, "2026-11-18 12:01"),
        (clock, 61, "11:58:59"),
        (clock, 13 * HOUR, "2026-11-17 23:00:00"),
        (moment, -HOUR, "13:00"),
        (moment, -2 * DAY, "Fri 12:00"),
        (moment, -7 * DAY, "2026-11-25 12:00"),
        (moment, 2 * DAY, "2026-11-16 12:00"),
        (sent_moment, HOUR, "Wed 11:00"),
        (sent_moment, 2 * DAY, "Mon 12:00"),
        (sent_moment, -7 * DAY, "2026-11-25 12:00"),
        (dated, 0, "2026-11-18 12:00"),
    ],
)
def test_a_time_names_its_day_where_that_is_not_today(told, passed, words):
    assert told(NOON - passed) == words


@pytest.mark.parametrize("told", [clock, moment, sent_moment, dated, seen])
def test_a_year_that_no_calendar_has_is_never(told):
    assert told(1e300) == "never"
