"""The words in which people say when."""

from contextlib import suppress
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.deferred.when import WhenError, parse_when

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 23, 15, 30, tzinfo=BERLIN).timestamp()


def said(text: str, now: float = MONDAY) -> str:
    return f"{datetime.fromtimestamp(parse_when(text, now), BERLIN):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("23:00", "2026-11-23 23:00"),
        ("9:00", "2026-11-24 09:00"),
        ("at 7am", "2026-11-24 07:00"),
        ("11 p.m.", "2026-11-23 23:00"),
        ("12am", "2026-11-24 00:00"),
        ("12pm", "2026-11-24 12:00"),
        ("noon", "2026-11-24 12:00"),
        ("midnight", "2026-11-24 00:00"),
        ("today 18:00", "2026-11-23 18:00"),
        ("tonight at 11pm", "2026-11-23 23:00"),
        ("Tonight at 11", "2026-11-23 23:00"),
        ("tonight at 1:30", "2026-11-24 01:30"),
        ("tonight at midnight", "2026-11-24 00:00"),
        ("tonight at 12", "2026-11-24 00:00"),
        ("tonight 12:30", "2026-11-24 00:30"),
        ("tonight, 12:30am", "2026-11-24 00:30"),
        ("tonight at 12pm", "2026-11-24 00:00"),
        ("tonight, 11", "2026-11-23 23:00"),
        ("tomorrow at 12", "2026-11-24 12:00"),
        ("tomorrow at 9", "2026-11-24 09:00"),
        ("tomorrow 9:30pm", "2026-11-24 21:30"),
        ("friday 18:30", "2026-11-27 18:30"),
        ("Sun, 7am", "2026-11-29 07:00"),
        ("monday at 16:00", "2026-11-23 16:00"),
        ("mon 08:30", "2026-11-30 08:30"),
        ("in 2 hours", "2026-11-23 17:30"),
        ("1h30m", "2026-11-23 17:00"),
        ("in an hour and 5 minutes", "2026-11-23 16:35"),
        ("in 3 days", "2026-11-26 15:30"),
        ("2026-12-24 08:00", "2026-12-24 08:00"),
        ("2026-12-24T08:00Z", "2026-12-24 09:00"),
        ("2026-12-24 8:00", "2026-12-24 08:00"),
        ("2026-12-24 at 8am", "2026-12-24 08:00"),
        ("24 dec 8am", "2026-12-24 08:00"),
        ("December 24th at noon", "2026-12-24 12:00"),
        ("31 dec 2026, 23:59", "2026-12-31 23:59"),
        ("8 may 9", "2027-05-08 09:00"),
        ("nov 23 at 15:00", "2027-11-23 15:00"),
        ("9am tomorrow", "2026-11-24 09:00"),
        ("18:30 on friday", "2026-11-27 18:30"),
        ("this friday at noon", "2026-11-27 12:00"),
        ("the day after tomorrow at 9", "2026-11-25 09:00"),
        ("in 2 days at 9", "2026-11-25 09:00"),
        ("tomorrow morning at 9", "2026-11-24 09:00"),
        ("tomorrow afternoon at 3", "2026-11-24 15:00"),
        ("this evening at 8", "2026-11-23 20:00"),
        ("friday night at 11:30", "2026-11-27 23:30"),
        ("two hours from now", "2026-11-23 17:30"),
        ("in half an hour", "2026-11-23 16:00"),
        ("in an hour and a half", "2026-11-23 17:00"),
    ],
)
def test_a_time_is_read_as_people_say_it(text: str, meant: str):
    assert said(text) == meant


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "understood"),
        ("tomorrow", "understood"),
        ("23", "understood"),
        ("13pm", "understood"),
        ("2026-12-24", "understood"),
        ("next friday at noon", "understood"),
        ("in 5 parsecs", "understood"),
        ("tomorrow night at 12", "understood"),
        ("this evening at 12", "understood"),
        ("tomorrow morning at 9pm", "understood"),
        ("the 31st at 9", "understood"),
        ("soon", "understood"),
        ("25:00", "calendar"),
        ("9:75", "calendar"),
        ("2027-02-29 08:00", "calendar"),
        ("31 april at 9", "calendar"),
        ("today at 9", "passed"),
        ("2020-01-01 08:00", "passed"),
        ("in 0 minutes", "passed"),
        ("2027-12-24 08:00", "a year"),
        ("29 february at 9", "a year"),
        ("in 99999 weeks", "a year"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_an_example(text: str, problem: str):
    with pytest.raises(WhenError, match=problem) as refused:
        parse_when(text, MONDAY)
    assert "tomorrow at 9am" in str(refused.value.hint)


def test_next_friday_is_two_days_to_people_and_asked_about():
    with pytest.raises(WhenError) as refused:
        parse_when("next friday at noon", MONDAY)

    assert "next can be two days" in str(refused.value.hint)


def test_the_29th_of_february_is_a_day_of_the_years_that_have_it():
    assert (
        said("feb 29 at 9", datetime(2027, 6, 1, tzinfo=BERLIN).timestamp()) == "2028-02-29 09:00"
    )


def test_after_midnight_tonight_is_this_night():
    late = datetime(2026, 11, 24, 0, 30, tzinfo=BERLIN).timestamp()

    assert said("tonight at 2", late) == "2026-11-24 02:00"


def test_an_hour_that_the_clock_leaves_out_is_the_one_after():
    evening = datetime(2027, 3, 27, 20, 0, tzinfo=BERLIN).timestamp()

    assert said("02:30", evening) == "2027-03-28 03:30"


def test_an_hour_that_comes_twice_is_the_first():
    evening = datetime(2026, 10, 24, 20, 0, tzinfo=BERLIN).timestamp()

    assert parse_when("02:30", evening) - evening == 6.5 * 3600


def test_in_the_hour_that_comes_again_it_is_the_one_that_is_ahead():
    again = datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=BERLIN).timestamp()
    between = datetime(2026, 10, 25, 2, 40, fold=0, tzinfo=BERLIN).timestamp()

    assert parse_when("02:30", again) - again == 20 * 60
    assert parse_when("today 02:30", between) - between == 50 * 60
    assert parse_when("2026-10-25 02:30", between) - between == 50 * 60
    assert parse_when("2026-10-25T02:30", between) - between == 50 * 60


def test_a_span_is_not_stretched_by_a_change_of_the_clock():
    evening = datetime(2027, 3, 27, 20, 0, tzinfo=BERLIN).timestamp()

    assert parse_when("in 12 hours", evening) - evening == 12 * 3600


@given(st.text(max_size=40), st.floats(min_value=0, max_value=4e9))
def test_whatever_is_typed_is_a_time_ahead_or_an_error(text: str, now: float):
    with suppress(WhenError):
        assert parse_when(text, now) > now
