"""
Notices that the wall clock leapt: a laptop woke, somebody set the time; and follows its time zone.

What waits in the engine sleeps by the machine's steady clock, which a sleeping machine stops. One
comparison a second, and no database.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError

log = logging.getLogger(__name__)

LEAP = timedelta(seconds=1)
"""Less than this is a clock that is being kept right."""


async def watch_clock(
    clock: Clock,
    leapt: Callable[[float], Awaitable[None]],
    *,
    every: timedelta = timedelta(seconds=1),
) -> None:
    """Await `leapt` with the seconds of each leap, forward or back; never ends by itself."""
    steady = asyncio.get_running_loop().time
    before = clock.now() - steady()
    while True:
        await asyncio.sleep(every.total_seconds())
        time.tzset()  # who travels has another midnight, and no process notices by itself
        ahead = clock.now() - steady()
        if abs(ahead - before) >= LEAP.total_seconds():
            log.info("The clock leapt by %.0f seconds", ahead - before)
            try:
                await leapt(ahead - before)
            except PerpetualError:  # a full disk, a busy database: the next look finds it
                log.exception("nobody could look again")
        before = ahead
