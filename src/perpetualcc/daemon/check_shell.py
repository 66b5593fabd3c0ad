"""Runs the commands that a person named: checks that prove a task, conditions it waits for."""

import asyncio
import os
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from perpetualcc.claude import processes
from perpetualcc.domain.ids import RunId, new_run_id
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.times import duration
from perpetualcc.goals.claims import Ran

_KEPT = 16_384
"""Bytes of the end of the output."""
_READ = 65_536
_GRACE = timedelta(seconds=2)
"""For what a check leaves running."""


class CheckShell:
    """
    `goals.verifier.Shell` and `deferred.conditions.Look`: `sh -c`, in the environment of the
    session's Claude, no standard input.

    What a command starts carries the mark of a run, so that a crash leaves nothing behind, and so
    that what Claude wrote cannot answer for a person.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data = data_dir

    async def run(self, command: str, session: Session, seconds: float) -> Ran:
        began, run = time.monotonic(), new_run_id()
        tail = _Tail()
        try:
            trouble = await self._to_the_end(command, session, seconds, run, tail)
        except (OSError, ValueError) as error:
            trouble = f"it cannot be run: {_told(error)}"
        finally:
            tail.close()
        return Ran(
            command=command,
            trouble=trouble,
            seconds=time.monotonic() - began,
            output=tail.text(),
        )

    async def _to_the_end(
        self, command: str, session: Session, seconds: float, run: RunId, tail: "_Tail"
    ) -> str:
        """Why it failed; empty: it succeeded."""
        mark = processes.mark(self._data, run)
        process = await asyncio.create_subprocess_exec(
            *processes.shell(command, mark),
            cwd=session.project,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=tail.writer,
            stderr=tail.writer,
            env=os.environ | session.options.programs | mark,
            start_new_session=True,
        )
        tail.follow()
        try:
            async with asyncio.timeout(seconds):
                code = await process.wait()
        except TimeoutError:
            return f"it was ended after {duration(seconds)}"
        finally:
            await asyncio.shield(asyncio.to_thread(self._clear_away, process.pid, run))
        return _in_words(code)

    def _clear_away(self, group: int, run: RunId) -> None:
        processes.end_hidden(group, _GRACE)
        processes.sweep(self._data, _GRACE, run)


def _told(error: OSError | ValueError) -> str:
    """In the system's words, without Python's."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename is None else f"{error.strerror}: '{error.filename}'"


def _in_words(code: int) -> str:
    if code == 0:
        return ""
    return f"exit code {code}" if code > 0 else f"signal {-code}"


class _Tail:
    """The reading end of a pipe: what has been written to it, the last of it kept."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()

    def follow(self) -> None:
        """The process has the writing end now."""
        os.close(self.writer)
        self.writer = -1
        self._loop.add_reader(self._reader, self._read)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            read = os.read(self._reader, _READ)
            if not read:
                self._loop.remove_reader(self._reader)
            self._kept += read
            del self._kept[:-_KEPT]

    def close(self) -> None:
        """Take what is still in the pipe; whoever holds its other end writes to nobody."""
        with suppress(BlockingIOError):
            if read := os.read(self._reader, _READ):  # a pipe holds no more
                self._kept += read
                del self._kept[:-_KEPT]
        self._loop.remove_reader(self._reader)
        os.close(self._reader)
        if self.writer >= 0:
            os.close(self.writer)

    def text(self) -> str:
        return bytes(self._kept).decode("utf-8", "replace")
