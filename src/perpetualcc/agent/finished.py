"""A finished turn is hours of work: trouble with writing the last of it discards nothing."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from perpetualcc.domain.errors import PassingError

T = TypeVar("T")
log = logging.getLogger(__name__)

_AGAIN = timedelta(seconds=5)


async def until_written(write: Callable[[], Awaitable[T]], again: timedelta = _AGAIN) -> T:
    """Try until it works, or until it is cancelled. `write` may have happened in part before."""
    while True:
        try:
            return await write()
        except PassingError:
            log.exception("what a finished run leaves cannot be written yet")
        await asyncio.sleep(again.total_seconds())
