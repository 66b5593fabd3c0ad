"""When something may be sent, and when it is tried again. Pure."""

from datetime import datetime, timedelta, tzinfo

_LONGEST_WAIT = timedelta(minutes=15)
LONGEST_QUIET = timedelta(hours=25)
"""A day in autumn: no message waits longer for its time."""


def quiet_until(
    now: float, hours: tuple[int, int] | None, zone: tzinfo | None = None
) -> float | None:
    """
    The end of the quiet that `now` is in, or None. UTC epoch seconds.

    `hours` are minutes of the local day; the end may be on the next day.
    """
    if hours is None:
        return None
    begins, ends = hours
    local = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
    minute = local.hour * 60 + local.minute
    is_over_midnight = begins > ends
    is_quiet = (minute >= begins or minute < ends) if is_over_midnight else begins <= minute < ends
    if not is_quiet:
        return None
    day = local.date() + timedelta(days=1 if is_over_midnight and minute >= begins else 0)
    # Built from the wall clock of that day, so a change to summer time in the night is no trouble.
    over = datetime(day.year, day.month, day.day, ends // 60, ends % 60, tzinfo=zone)
    return over.timestamp()


def next_try(attempts: int, first: timedelta) -> timedelta:
    """How long to wait after so many failed attempts: twice as long each time, up to a limit."""
    doubled: timedelta = first * 2 ** min(max(attempts - 1, 0), 20)
    return min(doubled, max(_LONGEST_WAIT, first))
