"""Hours of every day, as people write them in settings."""

import re
from datetime import date, datetime, time, timedelta, tzinfo

from perpetualcc.domain.errors import PerpetualError

_TIME = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*")
_SPAN = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)\s*")


def parse_hours(text: str) -> tuple[time, time] | None:
    """
    `23:00-07:00` as two local times; None for an empty text.

    Raises:
        PerpetualError: it is written otherwise, or ends when it begins.
    """
    if not text.strip():
        return None
    found = _SPAN.fullmatch(text)
    if found is None:
        raise PerpetualError(
            f"{text!r} is not a span of local time", hint="Write it as 23:00-07:00"
        )
    first, second, third, fourth = map(int, found.groups())
    begin, end = time(first, second), time(third, fourth)
    if begin == end:
        raise PerpetualError(
            f"{text!r} ends when it begins", hint='Write "" for never, 00:00-23:59 for always'
        )
    return begin, end


def parse_time(text: str) -> time | None:
    """
    `08:00` as a local time; None for an empty text.

    Raises:
        PerpetualError: it is written otherwise.
    """
    if not text.strip():
        return None
    found = _TIME.fullmatch(text)
    if found is None:
        raise PerpetualError(f"{text!r} is not a local time", hint="Write it as 08:00")
    return time(int(found[1]), int(found[2]))


def day_at(at: float) -> date:
    """The day that the local calendar shows then."""
    return date.fromtimestamp(at)  # noqa: DTZ012  # the local calendar is what is meant


def on_day(day: date, at: time) -> float:
    """
    When that day's local clock shows it, in UTC epoch seconds; the first time where it does twice,
    and as much later where it never does.
    """
    return datetime.combine(day, at).timestamp()


def end_of_quiet(
    at: float, hours: tuple[time, time] | None, zone: tzinfo | None = None
) -> float | None:
    """
    When the hours that `at` falls into end; None: it is in none of them. UTC epoch seconds.

    `zone`: None for the local one. Where the clock shows the end twice, it is the first ahead.
    """
    if hours is None:
        return None
    (begin, end), local = hours, datetime.fromtimestamp(at, zone)
    clock = local.time()
    is_in = begin <= clock < end if begin < end else clock >= begin or clock < end
    if not is_in:
        return None
    day = local.date() + timedelta(days=0 if clock < end else 1)
    ends = [datetime.combine(day, end, zone).replace(fold=fold).timestamp() for fold in (0, 1)]
    return next((one for one in ends if one > at), ends[-1])
