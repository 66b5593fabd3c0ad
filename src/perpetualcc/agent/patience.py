"""Hours of work hang on what is written of it: trouble that passes discards nothing."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from perpetualcc.domain.errors import PassingError

T = TypeVar("T")
log = logging.getLogger(__name__)

_AGAIN = timedelta(seconds=1)
PATIENCE = timedelta(minutes=1)
"""For a run that goes on: Claude may wait for the answer, and a lock is gone after seconds."""


async def until_written(write: Callable[[], Awaitable[T]], *, within: timedelta | None = None) -> T:
    """
    Try until it works, or until it is cancelled; `write` undoes what it cannot finish.

    Raises:
        PassingError: it does not work `within` this time, where one is given.
    """
    clock = asyncio.get_running_loop().time
    end = math.inf if within is None else clock() + within.total_seconds()
    while True:
        try:
            return await write()
        except PassingError:
            if clock() >= end:
                raise
            log.exception("what happened cannot be written down yet")
        await asyncio.sleep(_AGAIN.total_seconds())


async def patiently(write: Callable[[], Awaitable[T]]) -> T:
    """The same for a run that goes on: within `PATIENCE`."""
    return await until_written(write, within=PATIENCE)
