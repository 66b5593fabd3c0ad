"""
When, in a person's words: `23:00`, `tonight at 11pm`, `tomorrow 9:30`, `friday at noon`,
`in 2 hours`, `2026-12-24 08:00` (seed 003, `--when`).

Times are of the local clock, days are the calendar's, and what comes back is UTC epoch seconds.
Where a clock change leaves an hour out, it is the hour after; where it repeats one, the
first that is ahead.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, time, timedelta

from perpetualcc.domain.errors import PerpetualError

_LATEST = timedelta(days=366)
"""A year that has one more day than was typed is more likely a slip than a plan."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTEST_WEEKDAY = 3
_EVENING = 6
"""At night, an hour of the clock's twelve from here on is one before midnight, and twelve is none
of the day's."""
_NOON = 12

_UNITS = {
    "s": timedelta(seconds=1), "sec": timedelta(seconds=1), "second": timedelta(seconds=1),
    "m": timedelta(minutes=1), "min": timedelta(minutes=1), "minute": timedelta(minutes=1),
    "h": timedelta(hours=1), "hr": timedelta(hours=1), "hour": timedelta(hours=1),
    "d": timedelta(days=1), "day": timedelta(days=1),
    "w": timedelta(weeks=1), "week": timedelta(weeks=1),
}  # fmt: skip
_AMOUNT = re.compile(r"(\d{1,5}(?:\.\d+)?|an?)\s*([a-z]+?)s?(?![a-z])[\s,]*(?:and\s+)?")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm)?")
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}


class WhenError(PerpetualError):
    """It is no time that is known here, or one that cannot be meant."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(
            f"{text!r:.80} {problem}",
            hint='Say it as 23:00, "tomorrow at 9am", "friday 18:30", "in 2 hours"'
            ' or "2026-12-24 08:00"',
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
    if (span := span_of(said.removeprefix("in "))) is not None:
        yield (now.astimezone() + span).astimezone()
    with suppress(ValueError):
        if len(said) > len("2026-12-24"):  # a day alone has no hour
            yield datetime.fromisoformat(said.upper())
    words = [word for word in said.split() if word not in {"at", "on"}]
    if words and (days := _days(words[0], now)) is not None:
        is_tonight = words[0].rstrip(",") == "tonight"
        if (clock := clock_time(" ".join(words[1:]), is_night=is_tonight)) is not None:
            yield from _on(days, clock, now, is_tonight=is_tonight)
    elif (clock := clock_time(" ".join(words), needs_more=True)) is not None:
        yield from _on([0, 1], clock, now, is_tonight=False)


def span_of(said: str) -> timedelta | None:
    """`2 hours and 30 minutes`, `1h30m`, `an hour`."""
    span, at = timedelta(), 0
    while at < len(said):
        part = _AMOUNT.match(said, at)
        if part is None or part[2] not in _UNITS:
            return None
        span += (1.0 if part[1] in {"a", "an"} else float(part[1])) * _UNITS[part[2]]
        at = part.end()
    return span if at else None


def _days(word: str, now: datetime) -> list[int] | None:
    """How many days from today a word can mean; None: it names no day."""
    word = word.rstrip(",")
    match word:
        case "today" | "tonight":
            return [0]
        case "tomorrow":
            return [1]
    for number, name in enumerate(WEEKDAYS):
        if len(word) >= _SHORTEST_WEEKDAY and name.startswith(word):
            ahead = (number - now.weekday()) % 7
            return [ahead, ahead + 7]
    return None


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
    moments = [
        datetime.combine(now.date() + timedelta(days=day), clock).replace(fold=fold)
        for day in days
        for fold in (0, 1)
    ]
    ahead = (moment for moment in moments if moment.timestamp() > now.timestamp())
    yield next(ahead, moments[-1])
