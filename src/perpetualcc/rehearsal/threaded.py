"""The scripted model beside code that has no event loop: a command, a test."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from perpetualcc.rehearsal.server import RehearsalServer

_PATIENCE = 10.0
"""Seconds for it to listen, and to end."""


@contextmanager
def playing(server: RehearsalServer) -> Iterator[RehearsalServer]:
    """It plays in a thread with its own event loop, until the block is left."""
    running: Future[asyncio.AbstractEventLoop] = Future()
    stop = asyncio.Event()

    async def play() -> None:
        async with server:
            running.set_result(asyncio.get_running_loop())
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(play(),), name="rehearsal")
    thread.start()
    loop = running.result(timeout=_PATIENCE)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=_PATIENCE)
