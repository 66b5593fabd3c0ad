"""Waits that end by themselves, and how long one is before something is tried again."""

import asyncio
import hashlib
from contextlib import suppress
from datetime import timedelta

LONGEST_SLEEP = timedelta(seconds=30)
"""Laptops sleep and clocks jump: due times are compared with the wall clock at least this often."""
_LONGEST = 300.0
"""Seconds between two attempts."""


async def wait_at_most(pause: timedelta, event: asyncio.Event) -> None:
    """Until the event is set, or the pause is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(pause.total_seconds()):
            await event.wait()


def sleep_until(due: float | None, now: float, *, at_least: timedelta) -> timedelta:
    """How long who has nothing to do before `due` sleeps now; None: nothing is due."""
    longest = LONGEST_SLEEP.total_seconds()
    return max(timedelta(seconds=longest if due is None else min(due - now, longest)), at_least)


def back_off(attempt: int, key: str) -> float:
    """
    Seconds after the first, second, … failed attempt: 2, 4, 8 …, and up to a quarter more.

    The jitter comes from `key`, so that tasks that failed together do not come back together,
    and a test can know when.
    """
    digest = hashlib.sha256(f"{key} {attempt}".encode()).digest()
    jitter = int.from_bytes(digest[:4]) / 2**32 / 4
    return float(min(2.0 ** max(attempt, 1), _LONGEST) * (1 + jitter))
