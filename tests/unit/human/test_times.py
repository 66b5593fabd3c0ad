"""Quiet hours, back-off and the ladder of reminders."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.hours import end_of_quiet, parse_hours
from perpetualcc.domain.spans import parse_duration
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.human.notifications.times import next_try
from perpetualcc.human.reminders import next_reminder
from perpetualcc.human.settings import HumanSettings

NIGHT = parse_hours("22:00-07:00")
NOON = parse_hours("12:00-13:30")


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        (NIGHT, "2026-11-21 21:59", None),
        (NIGHT, "2026-11-21 22:00", "2026-11-22 07:00"),
        (NIGHT, "2026-11-22 03:00", "2026-11-22 07:00"),
        (NIGHT, "2026-11-22 07:00", None),
        (NOON, "2026-11-22 12:30", "2026-11-22 13:30"),
        (NOON, "2026-11-22 13:30", None),
        (None, "2026-11-22 03:00", None),
    ],
)
def test_quiet_hours_end_when_they_say(hours, now, until):
    at = datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp()

    over = end_of_quiet(at, hours, UTC)

    expected = until and datetime.fromisoformat(until).replace(tzinfo=UTC).timestamp()
    assert over == expected


def test_a_night_in_which_the_clock_changes_ends_by_the_wall_clock():
    berlin = ZoneInfo("Europe/Berlin")
    before = datetime(2026, 10, 24, 23, 0, tzinfo=berlin)

    over = end_of_quiet(before.timestamp(), NIGHT, berlin)

    assert over is not None
    assert datetime.fromtimestamp(over, berlin).hour == 7
    assert over - before.timestamp() == timedelta(hours=9).total_seconds()


def test_an_end_that_the_clock_shows_twice_is_the_first_that_is_ahead():
    berlin, hours = ZoneInfo("Europe/Berlin"), parse_hours("22:00-02:30")
    first, second = (
        datetime(2026, 10, 25, 2, 15, fold=fold, tzinfo=berlin).timestamp() for fold in (0, 1)
    )

    assert end_of_quiet(first, hours, berlin) == first + 15 * 60
    assert end_of_quiet(second, hours, berlin) == second + 15 * 60


@pytest.mark.parametrize("wrong", ["22-07", "25:00-07:00", "22:00-07:61", "night", "7:00-7:00"])
def test_wrong_settings_say_what_is_right(wrong):
    with pytest.raises(PerpetualError, match=r"span of local time|ends when"):
        NotificationSettings(quiet_hours=wrong)
    with pytest.raises(PerpetualError, match="length of time"):
        HumanSettings(remind_after=(wrong,))


def test_each_wait_is_twice_as_long_up_to_a_limit():
    waits = [next_try(n, timedelta(seconds=30)).total_seconds() for n in range(1, 9)]

    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]


def test_reminders_climb_the_ladder_and_never_make_up_for_lost_ones():
    ladder = [timedelta(minutes=30), timedelta(hours=4), timedelta(days=1)]

    assert next_reminder(ladder, 1000, 0, 1000) == 1000 + 1800
    assert next_reminder(ladder, 1000, 1, 2800) == 1000 + 4 * 3600
    assert next_reminder(ladder, 1000, 1, 1000 + 20 * 3600) == 1000 + 24 * 3600
    assert next_reminder(ladder, 1000, 3, 100_000) == 100_000 + 24 * 3600
    assert next_reminder([], 1000, 0, 1000) is None
    assert parse_duration("1.5h") == timedelta(minutes=90)
    assert parse_duration("3w") == timedelta(days=21)
    assert parse_duration("1h 30m") == timedelta(minutes=90)
