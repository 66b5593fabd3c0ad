"""Waits that end by themselves."""

import asyncio
from contextlib import suppress
from datetime import timedelta


async def wait_at_most(pause: timedelta, event: asyncio.Event) -> None:
    """Until the event is set, or the pause is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(pause.total_seconds()):
            await event.wait()
