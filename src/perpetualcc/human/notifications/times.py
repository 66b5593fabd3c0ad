"""When something is tried again. Pure."""

from datetime import timedelta

_LONGEST_WAIT = timedelta(minutes=15)
LONGEST_QUIET = timedelta(hours=25)
"""A day in autumn: no message waits longer for its time."""


def next_try(attempts: int, first: timedelta) -> timedelta:
    """How long to wait after so many failed attempts: twice as long each time, up to a limit."""
    doubled: timedelta = first * 2 ** min(max(attempts - 1, 0), 20)
    return min(doubled, max(_LONGEST_WAIT, first))
