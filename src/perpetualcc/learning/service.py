"""
The worker's keeper inside the engine: one child process, restarted with growing pauses.

A worker that somebody else started is kept an eye on instead, and followed by one of our own.
"""

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import Sequence
from datetime import timedelta

from perpetualcc.domain.waiting import wait_at_most
from perpetualcc.learning.control import DISK_SPENT, running_pid
from perpetualcc.learning.files import read_json
from perpetualcc.learning.places import Places
from perpetualcc.learning.queue import QueueReader

log = logging.getLogger(__name__)

_LONGEST_PAUSE = 3_600.0
"""Seed 004: 2^n seconds, at most one hour."""
_MOST_CRASHES = 5
_HEALTHY_SECONDS = 60.0
_STUCK_SECONDS = 150.0
_END_SECONDS = 5.0
_LOOK_SECONDS = 2.0
"""Between two looks whether there is a queue at all."""


class LearningService:
    """
    `run` until `stop`: the queue is read by a child, so no transcript loads the engine's loop.

    Crashes in a row make longer pauses, and after five it gives up and says so in the log.
    """

    def __init__(self, places: Places, command: Sequence[str]) -> None:
        """`command` starts a worker for `places`."""
        self._places = places
        self._command = command
        self._stopped = asyncio.Event()
        self._at_work = False

    @property
    def is_wanted(self) -> bool:
        """The hooks are there, or were, and nobody said `pcc learn stop`: something may come."""
        return self._places.queue.is_file() and not self._places.stopped.exists()

    @property
    def busy(self) -> bool:
        """Events wait and somebody works on them: the engine must not go to sleep."""
        if not (self._at_work and self.is_wanted):
            return False
        try:
            return QueueReader(self._places).waiting() > 0
        except OSError:  # not to be read: the worker says so, and the engine has other work
            return False

    async def run(self) -> None:
        """Keep a worker going from the first event on. Returns after `stop`, or when it gave up."""
        crashes = 0
        while not self._stopped.is_set() and crashes < _MOST_CRASHES:
            if not self.is_wanted:
                await self._pause(_LOOK_SECONDS)
                continue
            self._at_work = True
            crashes = await self._one_life(crashes)
            await self._pause(min(_LONGEST_PAUSE, 2.0 ** (crashes + 1)))
        self._at_work = False
        if crashes >= _MOST_CRASHES:
            log.error("The learning worker crashed %d times, giving up", crashes)

    async def _one_life(self, crashes: int) -> int:
        """Stay with a worker as long as it lives. Returns the crashes in a row."""
        if (other := await asyncio.to_thread(running_pid, self._places)) is not None:
            await self._accompany(other)
            return 0
        begun = time.monotonic()
        try:
            code = await self._one_worker()
        except OSError:  # no memory, no file descriptor, another Python: the sessions go on
            log.exception("The learning worker cannot be started")
            return crashes + 1
        if time.monotonic() - begun > _HEALTHY_SECONDS or code == 0:
            return 0
        if code == DISK_SPENT:  # that passes: tried again with pauses, and never given up
            log.warning("The learning worker waits: the disk keeps nothing")
            return min(crashes + 1, _MOST_CRASHES - 1)
        log.warning("The learning worker ended with code %d", code)
        return crashes + 1

    async def _accompany(self, pid: int) -> None:
        """One was at work when we came: while it is well, there is nothing to do."""
        log.info("A learning worker (%d) runs already, it is kept", pid)
        begun = time.time()
        while not self._stopped.is_set() and running_pid(self._places) == pid:
            if self._is_silent(begun):
                log.error("The learning worker (%d) is stuck, killing it", pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await self._pause(_LOOK_SECONDS)

    async def stop(self) -> None:
        """Ask it to end; `run` returns when the child is gone."""
        self._stopped.set()

    async def _one_worker(self) -> int:
        child = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.TaskGroup() as tasks:
                watching = tasks.create_task(self._watch(child), name="learning-watch")
                await child.wait()
                watching.cancel()
        finally:
            await _end(child)
        return child.returncode or 0

    async def _watch(self, child: asyncio.subprocess.Process) -> None:
        """End the child when we are to stop, or when its heartbeat does."""
        begun = time.time()
        while not self._stopped.is_set():
            await self._pause(5.0)
            if self._is_silent(begun):
                log.error("The learning worker is stuck, killing it")
                child.kill()
                return
        await _end(child)

    def _is_silent(self, begun: float) -> bool:
        """Whether the heartbeat stopped, long after `begun`."""
        beat = (read_json(self._places.heartbeat) or {}).get("at")
        last = beat if isinstance(beat, int | float) else begun
        return time.time() - max(last, begun) > _STUCK_SECONDS

    async def _pause(self, seconds: float) -> None:
        await wait_at_most(timedelta(seconds=seconds), self._stopped)


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
