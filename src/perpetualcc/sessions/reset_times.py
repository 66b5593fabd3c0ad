"""
When a limit resets, from the texts that Claude Code writes for people.

Times without a date or zone are local, as Claude Code means them. What stays ambiguous becomes
the earliest moment it can mean: who wakes too early is told again.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

_JUST_PAST = timedelta(minutes=15)
"""A dateless time this long ago is the one that was meant, not the one a day later."""

_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?"
_SEPARATOR = r"(?:,?\s+at\s+|,?\s+|,)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RESETS = r"(?:resets?|again|access|available|until|reset at)\s+(?:at\s+|on\s+)?"

_EPOCH = re.compile(r"\|\s*(\d{10}(?:\d{3})?)\b")
_DATED = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?:T|\s+at\s+|\s+)(?P<clock>\d{1,2}:\d{2})"
    r"(?::\d{2}(?:\.\d+)?)?\s*(?P<zulu>Z|UTC)?"
)
_RELATIVE = re.compile(
    r"\b(?:in|after)\s+((?:\d+\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b"
    r"[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"(\d+)\s*([dhms])", re.IGNORECASE)
_WEEKDAY = re.compile(
    rf"{_RESETS}(?P<weekday>{'|'.join(_WEEKDAYS)})[a-z]*{_SEPARATOR}{_CLOCK}", re.IGNORECASE
)
_MONTH_DAY = re.compile(
    rf"{_RESETS}(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})"
    rf"(?:,?\s+(?P<year>\d{{4}}))?{_SEPARATOR}{_CLOCK}",
    re.IGNORECASE,
)
_DATELESS = re.compile(rf"{_RESETS}(?:(?P<tomorrow>tomorrow)\s+(?:at\s+)?)?{_CLOCK}", re.IGNORECASE)
_ZONE = re.compile(r"\(([A-Za-z][\w+-]*(?:/[\w+-]+)*)\)|\b(UTC|GMT)\b")
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class _Reading:
    """One text, read at a moment, with the zone that it names."""

    text: str
    now: datetime
    zone: tzinfo | None

    def epoch(self, day: date, clock: time) -> float:
        return datetime.combine(day, clock, self.zone).timestamp()

    def is_ahead(self, at: float) -> bool:
        return at >= self.now.timestamp() - _JUST_PAST.total_seconds()


def reset_time(text: str, now: float, zone: tzinfo | None = None) -> float | None:
    """
    UTC epoch seconds of the reset that the text speaks of; None when it speaks of none.

    `zone` is where this machine is, by default what the system says. A text's own zone wins.
    """
    zone = _zone_named(text) or zone
    reading = _Reading(text, datetime.fromtimestamp(now, zone), zone)
    for read in _READERS:
        try:
            at = read(reading)
        except (ValueError, OverflowError, OSError):  # the 31st of February, the hour 27
            continue
        if at is not None:
            return at
    return None


def _zone_named(text: str) -> tzinfo | None:
    for found in _ZONE.finditer(text):
        if (name := found[1] or found[2]).upper() in {"UTC", "GMT"}:
            return UTC
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, KeyError):  # no zone of this name here: local time
            continue
    return None


def _epoch(reading: _Reading) -> float | None:
    if found := _EPOCH.search(reading.text):
        return normal_epoch(float(found[1]))
    return None


def normal_epoch(number: float) -> float:
    """Epoch seconds from what may be milliseconds."""
    return number / 1000 if number > 1e11 else number


def _dated(reading: _Reading) -> float | None:
    if not (found := _DATED.search(reading.text)):
        return None
    day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    hour, minute = map(int, found["clock"].split(":"))
    zone = UTC if found["zulu"] else reading.zone
    return datetime.combine(day, time(hour, minute), zone).timestamp()


def _relative(reading: _Reading) -> float | None:
    if not (found := _RELATIVE.search(reading.text)):
        return None
    ahead = sum(int(n) * _SECONDS[unit.lower()] for n, unit in _AMOUNT.findall(found[1]))
    return reading.now.timestamp() + ahead


def _weekday(reading: _Reading) -> float | None:
    if not (found := _WEEKDAY.search(reading.text)):
        return None
    wanted, clock = _WEEKDAYS.index(found["weekday"].lower()), _clock(found)
    days = (day for day in _days_from(reading, 0, 8) if day.weekday() == wanted)
    return _first_ahead(reading, days, clock)


def _month_day(reading: _Reading) -> float | None:
    if not (found := _MONTH_DAY.search(reading.text)):
        return None
    month, day = _MONTHS.index(found["month"].lower()) + 1, int(found["day"])
    clock, this_year = _clock(found), reading.now.year
    if found["year"]:
        return reading.epoch(date(int(found["year"]), month, day), clock)
    days = (date(year, month, day) for year in (this_year, this_year + 1))
    return _first_ahead(reading, days, clock)


def _dateless(reading: _Reading) -> float | None:
    found = _DATELESS.search(reading.text)
    if not found or not (found["half"] or found["minute"]):
        return None
    first = 1 if found["tomorrow"] else -1
    return _first_ahead(reading, _days_from(reading, first, first + 3), _clock(found))


def _days_from(reading: _Reading, first: int, last: int) -> Iterator[date]:
    return (reading.now.date() + timedelta(days=ahead) for ahead in range(first, last))


def _first_ahead(reading: _Reading, days: Iterator[date], clock: time) -> float | None:
    moments = (reading.epoch(day, clock) for day in days)
    return next((at for at in moments if reading.is_ahead(at)), None)


def _clock(found: re.Match[str]) -> time:
    """Raises: ValueError."""
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), found["half"]
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(f"no such hour: {hour}{half}")
        hour = hour % 12 + (12 if half.lower().startswith("p") else 0)
    return time(hour, minute)


_READERS: tuple[Callable[[_Reading], float | None], ...] = (
    _epoch,
    _dated,
    _month_day,
    _weekday,
    _dateless,
    _relative,
)
