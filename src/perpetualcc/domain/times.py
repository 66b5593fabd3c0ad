"""
How times and lengths of time are written for people: one way for each. Local time, on a clock of
24 hours; days as `2026-11-22`. JSON, protocol and store have UTC epoch seconds instead.

What was a while ago is told relatively (`ago`) where it matters how long it is, and by the clock
where it is compared with other things that happened.
"""

import time

_NAMED_DAYS = 6 * 86400
"""Seconds: so far away the name of a weekday means one day only."""
NEVER = "never"
"""No calendar has that year."""


def duration(seconds: float) -> str:
    """Two units at most, as far as they have passed: `0.4s`, `12s`, `4m 59s`, `1h 20m`, `2h`."""
    if 0 <= seconds < 1:
        return f"{round(seconds, 1):g}s"
    total = max(0, int(seconds))
    days, hours, minutes = total // 86400, total // 3600 % 24, total // 60 % 60
    if days:
        first, second = f"{days}d", f"{hours}h" if hours else ""
    elif hours:
        first, second = f"{hours}h", f"{minutes}m" if minutes else ""
    elif minutes:
        first, second = f"{minutes}m", f"{total % 60}s" if total % 60 else ""
    else:
        first, second = f"{total}s", ""
    return f"{first} {second}".rstrip()


def ago(seconds: float) -> str:
    """`12s ago`, `5m ago`, `1h 20m ago`: after a minute nobody counts seconds."""
    return f"{duration(int(seconds if seconds < 60 else seconds // 60 * 60))} ago"


def seen(at: float) -> str:
    """`5m ago` within a day, else `2026-11-22 17:30`."""
    passed = time.time() - at
    return ago(passed) if 0 <= passed < 86400 else dated(at)


def clock(at: float) -> str:
    """Of something in a log: `14:30:22` today, else `2026-11-22 14:30:22`."""
    return _written("%H:%M:%S" if _is_today(at) else "%Y-%m-%d %H:%M:%S", at)


def moment(at: float) -> str:
    """On a screen: `17:30` today, `Mon 17:30` within the next days, else with the date."""
    if _is_today(at):
        return _written("%H:%M", at)
    return _written("%a %H:%M", at) if 0 < at - time.time() < _NAMED_DAYS else dated(at)


def sent_moment(at: float) -> str:
    """In a message, which is read later: `Mon 17:30` some days around, else with the date."""
    return _written("%a %H:%M", at) if abs(at - time.time()) < _NAMED_DAYS else dated(at)


def dated(at: float) -> str:
    """In what is kept, and read any time: `2026-11-22 17:30`."""
    return _written("%Y-%m-%d %H:%M", at)


def day(at: float) -> str:
    """`2026-11-22`."""
    return _written("%Y-%m-%d", at)


def _written(form: str, at: float) -> str:
    try:
        return time.strftime(form, time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return NEVER


def _is_today(at: float) -> bool:
    return day(at) == day(time.time())
