"""The words in which people say when something is to happen again."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.deferred.every import EveryError, parse_every

BERLIN = ZoneInfo("Europe/Berlin")


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


MONDAY = moment("2026-11-23 11:00")


def times(text, start=MONDAY, count=3, form="%a %d %H:%M"):
    rule, found = parse_every(text), []
    for _ in range(count):
        start = rule(start)
        found.append(datetime.fromtimestamp(start, BERLIN).strftime(form))
    return found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("weekday at 2am", ["Tue 24 02:00", "Wed 25 02:00", "Thu 26 02:00"]),
        ("every weekday at 2am", ["Tue 24 02:00", "Wed 25 02:00", "Thu 26 02:00"]),
        ("monday and friday 18:30", ["Mon 23 18:30", "Fri 27 18:30", "Mon 30 18:30"]),
        ("mon, wed and fri at 9", ["Wed 25 09:00", "Fri 27 09:00", "Mon 30 09:00"]),
        ("mon-fri at 9", ["Tue 24 09:00", "Wed 25 09:00", "Thu 26 09:00"]),
        ("fri-mon at 9", ["Fri 27 09:00", "Sat 28 09:00", "Sun 29 09:00"]),
        ("9 on mondays and fridays", ["Fri 27 09:00", "Mon 30 09:00", "Fri 04 09:00"]),
        ("9am on weekdays", ["Tue 24 09:00", "Wed 25 09:00", "Thu 26 09:00"]),
        ("weekends at noon", ["Sat 28 12:00", "Sun 29 12:00", "Sat 05 12:00"]),
        ("Sundays at 6 p.m.", ["Sun 29 18:00", "Sun 06 18:00", "Sun 13 18:00"]),
        ("02:00", ["Tue 24 02:00", "Wed 25 02:00", "Thu 26 02:00"]),
        ("day at 9:30", ["Tue 24 09:30", "Wed 25 09:30", "Thu 26 09:30"]),
        ("nightly at 2", ["Tue 24 02:00", "Wed 25 02:00", "Thu 26 02:00"]),
        ("nightly at 12", ["Tue 24 00:00", "Wed 25 00:00", "Thu 26 00:00"]),
        ("night at 11:30", ["Mon 23 23:30", "Tue 24 23:30", "Wed 25 23:30"]),
        ("evening at 8", ["Mon 23 20:00", "Tue 24 20:00", "Wed 25 20:00"]),
        ("evenings at 7pm", ["Mon 23 19:00", "Tue 24 19:00", "Wed 25 19:00"]),
        ("hour", ["Mon 23 12:00", "Mon 23 13:00", "Mon 23 14:00"]),
        ("6 hours", ["Mon 23 17:00", "Mon 23 23:00", "Tue 24 05:00"]),
        ("two hours", ["Mon 23 13:00", "Mon 23 15:00", "Mon 23 17:00"]),
        ("90m", ["Mon 23 12:30", "Mon 23 14:00", "Mon 23 15:30"]),
        ("@daily", ["Tue 24 00:00", "Wed 25 00:00", "Thu 26 00:00"]),
        ("0 2 * * 1-5", ["Tue 24 02:00", "Wed 25 02:00", "Thu 26 02:00"]),
        ("0 2 * * MON", ["Mon 30 02:00", "Mon 07 02:00", "Mon 14 02:00"]),
        ("*/5 * * * *", ["Mon 23 11:05", "Mon 23 11:10", "Mon 23 11:15"]),
    ],
)
def test_what_people_say_is_understood(text, meant):
    assert times(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "day", "monday", "tonight at 9", "every other day", "25:00", "weekday-mon at 9"),
        *("2 s", "59 seconds", "2 years", "0 minutes", "99 * * * *", "0 0 30 2 *", "* * * *"),
        *("mon-weekday at 9", "9" * 400, "0 2 * * 1-5 root", "day day day day day"),
        *("* * * * * *", "*/10 * * * * *"),
    ],
)
def test_what_is_no_rule_is_refused_with_examples(text):
    with pytest.raises(EveryError) as refused:
        parse_every(text)
    assert "weekday at 2am" in refused.value.hint


@given(st.text(max_size=60))
def test_whatever_is_said_is_a_rule_that_goes_forward_or_refused(text):
    try:
        rule = parse_every(text)
    except EveryError:
        return
    first = rule(MONDAY)
    assert first > MONDAY
    assert rule(first) - first >= 60


def test_an_hour_that_is_left_out_is_the_hour_after():
    assert times("2:30", moment("2027-03-27 12:00"), 2, "%d %H:%M%z") == [
        "28 03:30+0200",
        "29 02:30+0200",
    ]


def test_an_hour_that_comes_twice_counts_once_for_a_time_and_twice_for_every_hour():
    before = moment("2026-10-25 01:50")

    assert times("2:15", before, 2, "%d %H:%M%z") == ["25 02:15+0200", "26 02:15+0100"]
    assert times("*/30 * * * *", before, 5, "%d %H:%M%z") == [
        "25 02:00+0200",
        "25 02:30+0200",
        "25 02:00+0100",
        "25 02:30+0100",
        "25 03:00+0100",
    ]
