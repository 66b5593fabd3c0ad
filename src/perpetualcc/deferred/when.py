"""
When, in a person's words: `23:00`, `tonight at 11pm`, `9am tomorrow`, `friday at noon`,
`in 2 hours`, `24 dec 8am`, `2026-12-24 08:00` (seed 003, `--when`).

Times are of the local clock, days are the calendar's, and what comes back is UTC epoch seconds.
Where a clock change leaves an hour out, it is the hour after; where it repeats one, the
first that is ahead.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.spans import span_of

_LATEST = timedelta(days=366)
"""A year that has one more day than was typed is more likely a slip than a plan."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_SHORTEST_NAME = 3
_EVENING = 6
"""At night, an hour of the clock's twelve from here on is one before midnight, and twelve is none
of the day's."""
_NOON = 12
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
_PARTS = {
    "morning": range(12), "afternoon": range(12, 19), "evening": range(17, 24),
    "night": range(18, 24),
}  # fmt: skip
"""Hours of the day. Midnight is of none: by `tomorrow night at 12` people mean two days."""
_THIS = {"this morning": "today morning", "this afternoon": "today afternoon",
         "this evening": "today evening"}  # fmt: skip
_LEAP = 9
"""Years in which there is a 29 February for sure."""

_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm)?")
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}
_DATE = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? ([a-z]+)\.?|([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?")


class WhenError(PerpetualError):
    """It is no time that is known here, or one that cannot be meant."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(
            f"{text!r:.80} {problem}",
            hint='Say it as 23:00, "tomorrow at 9am", "friday 18:30", "in 2 hours"'
            ' or "2026-12-24 08:00"'
            + ("; next can be two days, so say which" if "next" in text.lower().split() else ""),
        )


def parse_when(text: str, now: float) -> float:
    """
    UTC epoch seconds of what is said, seen from `now`; always ahead of it.

    A time without a day is the next such time.

    Raises:
        WhenError: it is written otherwise, has passed, or is more than a year ahead.
    """
    said = " ".join(text.lower().replace("a.m.", "am").replace("p.m.", "pm").split())
    present = datetime.fromtimestamp(now)  # noqa: DTZ006  # the local clock is what is spoken of
    try:
        found = next(_readings(said, present), None)
        due = None if found is None else found.timestamp()
    except (OverflowError, ValueError, OSError):
        raise WhenError(text, "is in no calendar") from None
    if due is None:
        raise WhenError(text, "is no time that is understood")
    if due <= now:
        raise WhenError(text, "has passed")
    if due - now > _LATEST.total_seconds():
        raise WhenError(text, "is more than a year ahead")
    return due


def _readings(said: str, now: datetime) -> Iterator[datetime]:
    """What it can mean, the plainest first."""
    if (span := span_of(said.removeprefix("in ").removesuffix(" from now"))) is not None:
        yield (now.astimezone() + span).astimezone()
    words = [word for word in re.split(r"[\s,]+", said) if word not in {"", "at", "on", "the"}]
    for day, hour in _splits(words):
        if (days := _days(day, now)) is not None:
            is_tonight = day == "tonight"
            part = _PARTS.get(day.rpartition(" ")[2])
            clock = clock_time(hour, is_night=is_tonight) if part is None else _in(part, hour)
            if clock is not None:
                yield from _on(days, clock, now, is_tonight=is_tonight)
    if (clock := clock_time(" ".join(words), needs_more=True)) is not None:
        yield from _on([0, 1], clock, now, is_tonight=False)
    with suppress(ValueError):
        if len(said) > len("2026-12-24"):  # a day alone has no hour
            found = datetime.fromisoformat(said.upper())
            yield found if found.tzinfo else _first_ahead([found], now)


def _splits(words: list[str]) -> Iterator[tuple[str, str]]:
    """A day and a clock's time, in this order first: `8 may 9` is not the ninth."""
    halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    for day, hour in halves + [(day, hour) for hour, day in halves]:
        yield _THIS.get(day, day.removeprefix("this ")), hour


def _days(said: str, now: datetime) -> list[int] | None:
    """How many days from today it can mean; None: it names no day."""
    first, _, last = said.rpartition(" ")
    if last in _PARTS and first:
        return _days(first, now)
    if said in _NEAR:
        return [_NEAR[said]]
    if (number := _number_of(said.removesuffix("."), WEEKDAYS)) is not None:
        ahead = (number - now.weekday()) % 7
        return [ahead, ahead + 7]
    if said.startswith("in ") and (span := span_of(said.removeprefix("in "))) is not None:
        return None if span % timedelta(days=1) else [span.days]
    dates = _dates(said, now.year)
    return None if dates is None else [(one - now.date()).days for one in dates]


def _dates(said: str, year: int) -> list[date] | None:
    """
    `2026-12-24`, `24 dec`, `december 24th 2026`; without a year, the next years' too.

    Raises ValueError: there is no such day.
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", said):
        return [date.fromisoformat(said)]
    told = re.fullmatch(r"(.+?) (\d{4})", said)
    found = _DATE.fullmatch(told[1] if told else said)
    month = found and _number_of(found[2] or found[3], _MONTHS)
    if found is None or month is None:
        return None
    day = int(found[1] or found[4])
    if told:
        return [date(int(told[2]), month + 1, day)]
    dates = []
    for one in range(year, year + _LEAP):
        with suppress(ValueError):
            dates.append(date(one, month + 1, day))
    return dates[:2] or [date(year, month + 1, day)]


def _number_of(word: str, names: tuple[str, ...]) -> int | None:
    """Which of the names it is, or begins."""
    found = (number for number, name in enumerate(names) if name.startswith(word))
    return next(found, None) if len(word) >= _SHORTEST_NAME else None


def _in(part: range, said: str) -> time | None:
    """The time that a clock shows in that part of the day; None: it shows none then."""
    clock = clock_time(said)
    if clock is None:
        return None
    is_of_twelve = clock.hour <= _NOON and re.fullmatch(r"[\d:]+", said) is not None
    hours = (clock.hour, clock.hour + _NOON) if is_of_twelve else (clock.hour,)
    return next((clock.replace(hour=hour) for hour in hours if hour in part), None)


def clock_time(said: str, *, is_night: bool = False, needs_more: bool = False) -> time | None:
    """`9`, `9:30`, `9pm`, `noon`; a bare number tells an hour only beside a day."""
    if said in _NAMED:
        return _NAMED[said]
    found = _CLOCK.fullmatch(said)
    if found is None or (needs_more and not found[2] and not found[3]):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if found[3] == "pm" else 0)
    elif is_night and _EVENING <= hour < _NOON:
        hour += _NOON
    return time(0 if is_night and hour == _NOON else hour, minute)


def _on(days: list[int], clock: time, now: datetime, *, is_tonight: bool) -> Iterator[datetime]:
    """The time on the first of the days on which it is ahead; on the last, when it never is."""
    if is_tonight and clock.hour < _NOON and clock.hour < now.hour:
        days = [1]  # after midnight
    yield _first_ahead([datetime.combine(now.date() + timedelta(day), clock) for day in days], now)


def _first_ahead(moments: list[datetime], now: datetime) -> datetime:
    """Of the local clock's times, where one comes twice; the last, when none is ahead."""
    both = [moment.replace(fold=fold) for moment in moments for fold in (0, 1)]
    return next((one for one in both if one.timestamp() > now.timestamp()), both[-1])
