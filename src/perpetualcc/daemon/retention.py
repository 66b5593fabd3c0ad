"""What is old goes at once when the engine begins, then every day."""

import asyncio
import logging
from datetime import timedelta
from typing import Protocol

log = logging.getLogger(__name__)

_EVERY = timedelta(hours=24)


class Forgetful(Protocol):
    """Keeps something, and knows how long."""

    async def forget_old(self) -> object: ...


async def every_day(*keepers: Forgetful) -> None:
    """One that cannot forget hinders no other, and is asked again tomorrow."""
    while True:
        for keeper in keepers:
            try:
                await keeper.forget_old()
            except Exception:  # whatever it is, tomorrow is another day
                log.exception("what is old cannot be removed: %s", type(keeper).__name__)
        await asyncio.sleep(_EVERY.total_seconds())
