"""Waits that end by themselves, and how long one is before something is tried again."""

import asyncio
import hashlib
from contextlib import suppress
from datetime import timedelta

_LONGEST = 300.0
"""Seconds."""


async def wait_at_most(pause: timedelta, event: asyncio.Event) -> None:
    """Until the event is set, or the pause is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(pause.total_seconds()):
            await event.wait()


def back_off(attempt: int, key: str) -> float:
    """
    Seconds after the first, second, … failed attempt: 2, 4, 8 …, and up to a quarter more.

    The jitter comes from `key`, so that tasks that failed together do not come back together,
    and a test can know when.
    """
    digest = hashlib.sha256(f"{key} {attempt}".encode()).digest()
    jitter = int.from_bytes(digest[:4]) / 2**32 / 4
    return float(min(2.0 ** max(attempt, 1), _LONGEST) * (1 + jitter))
