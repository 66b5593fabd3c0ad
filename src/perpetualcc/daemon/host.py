"""
The shell of the engine process: everything an engine needs that is not PerpetualCC.

It serves the gateway on the socket it was given, says to the supervisor that it lives, goes to
sleep when there is nothing to do, and stops when it is told to or when its supervisor is gone.
What the engine *is* comes from `build`.
"""

import argparse
import asyncio
import faulthandler
import gc
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from perpetualcc.claude import processes
from perpetualcc.daemon.state import NEEDS_A_PERSON
from perpetualcc.domain.errors import PerpetualError, first_cause
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_log import PrivateLog, RedactingFormatter
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.version import code_version
from perpetualcc.domain.waiting import wait_at_most
from perpetualcc.gateway.methods import Method
from perpetualcc.gateway.server import GatewayServer

log = logging.getLogger(__name__)

_BEAT = 1.0
"""Seconds between two heartbeats."""
_WORK = 2.0
"""Seconds between two looks whether work is at hand."""
_AFTER_A_VISIT = 4
"""So many times `--idle-exit` after a client left: people come back, and a session waits for three
seconds where the engine and the SDK must be loaded first. A look at the clock leaves as before."""
_OPEN_FILES = 10_240
"""OPEN_MAX of macOS (sys/syslimits.h), which takes no more."""
_ABANDONED_GRACE = timedelta(seconds=2)
"""What runs get when the supervisor is gone: a new one may already wait for this engine."""


class Hosted(Protocol):
    """What runs inside: opened by `build` before the first client, closed after the last."""

    @property
    def methods(self) -> Mapping[str, Method]: ...

    @property
    def busy(self) -> bool:
        """True while something runs that must not be put to sleep."""
        ...

    async def next_due(self) -> float | None:
        """Epoch seconds at which there is something to do; None: only a visitor can bring it."""
        ...

    async def goes_on(self) -> float:
        """Epoch seconds at which work goes on by itself, for `daemon.awake`; past while it does."""
        ...

    async def got_on(self) -> None:
        """Returns when work got on for the first time: earlier crashes are not in a row with it."""
        ...

    async def stop(self, grace: timedelta) -> None:
        """Finish or suspend what runs, leaving everything resumable. Cancelled after `grace`."""
        ...


Build = Callable[[Locations], AbstractAsyncContextManager[Hosted]]


def run(build: Build) -> None:
    """The main function of an engine's module; the supervisor starts that with our flags."""
    arguments = _arguments()
    for descriptor in (arguments.listen_fd, arguments.control_fd, arguments.lock_fd):
        os.set_inheritable(descriptor, False)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _open_more_files()
    # What is imported stays. Not to look through it again makes the SDK's import a fifth shorter.
    gc.freeze()
    locations = Locations(data=arguments.data_dir).prepare()
    _log_to(locations.engine_log)
    with (
        socket.socket(fileno=arguments.control_fd) as control,
        socket.socket(fileno=arguments.listen_fd) as listener,
    ):
        host = EngineHost(
            build=build,
            locations=locations,
            control=control,
            listener=listener,
            idle_exit=arguments.idle_exit,
            grace=timedelta(seconds=arguments.grace),
        )
        try:
            asyncio.run(host.run())
        except Exception as error:  # the last line of stderr is what a person will be shown
            log.critical("Engine %s fails", os.getpid(), exc_info=error)
            sys.exit(_last_words(first_cause(error)))


def _open_more_files() -> None:
    """
    As many as the system allows this user, up to ten thousand: macOS begins with 256.

    Children inherit it, so it is never so many that a program which closes them all takes long,
    and never fewer than before.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        with suppress(OSError, ValueError):  # macOS refuses more than `kern.maxfilesperproc`
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _last_words(error: BaseException) -> int:
    """One line on stderr for the supervisor to keep; the exit code that goes with it."""
    if isinstance(error, PerpetualError):
        words = f"{error.message}{f' ({error.hint})' if error.hint else ''}"
        code = NEEDS_A_PERSON
    else:
        words, code = f"{type(error).__name__}: {error}", 1
    with suppress(OSError):  # a full disk must not change the code
        sys.stderr.write(f"{redact(words)}\n")
        sys.stderr.flush()
    return code


class EngineHost:
    """One engine's life, between its `ready` and its `sleep`."""

    def __init__(
        self,
        *,
        build: Build,
        locations: Locations,
        control: socket.socket,
        listener: socket.socket,
        idle_exit: float,
        grace: timedelta,
    ) -> None:
        control.setblocking(False)
        self._build, self._locations = build, locations
        self._control, self._listener = control, listener
        self._idle_exit, self._grace = idle_exit, grace
        self._stop = asyncio.Event()

    async def run(self) -> None:
        log.info("Engine %s started, version %s", os.getpid(), code_version())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        async with asyncio.TaskGroup() as tasks:
            company = [
                tasks.create_task(self._beat(), name="heartbeat"),
                tasks.create_task(self._obey(), name="supervisor's orders"),
            ]
            due = await self._serve()
            for task in company:
                task.cancel()
        await self._say(f"sleep {'-' if due is None else due}")
        log.info("Engine %s ended; next due: %s", os.getpid(), _stamp(due))

    async def _serve(self) -> float | None:
        """Serve until there is nothing to do or a stop; the next due time in epoch seconds."""
        async with self._build(self._locations) as hosted:
            server = GatewayServer(
                methods=hosted.methods,
                version=code_version(),
                listener=self._listener,
                is_agent=partial(processes.is_of_run, self._locations.data),
            )
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(server.serve(), name="gateway")
                await self._say("ready")
                telling = [
                    tasks.create_task(self._tell_progress(hosted), name="progress"),
                    tasks.create_task(self._tell_work(hosted), name="work"),
                ]
                await self._until_over(hosted, server)
                for task in telling:
                    task.cancel()
                server.pause()
                if self._stop.is_set():
                    await self._stop_hosted(hosted)
                server.close()
            await self._say(f"awake {await hosted.goes_on()}")
            return await hosted.next_due()

    async def _until_over(self, hosted: Hosted, server: GatewayServer) -> None:
        idle_since = time.monotonic()
        while not self._stop.is_set():
            if await self._has_company(hosted, server):
                idle_since = time.monotonic()
            visited_until = server.last_visit + _AFTER_A_VISIT * self._idle_exit
            if time.monotonic() >= max(idle_since + self._idle_exit, visited_until):
                # Nobody is accepted between this look and the end: who comes now waits in the
                # listening socket for the next engine.
                server.pause()
                if not await self._has_company(hosted, server):
                    return
                server.resume()
            await wait_at_most(timedelta(seconds=min(1.0, self._idle_exit / 4)), self._stop)

    async def _has_company(self, hosted: Hosted, server: GatewayServer) -> bool:
        """True while something runs, somebody is there, or something is due soon."""
        if hosted.busy or server.connections:
            return True
        due = await hosted.next_due()
        is_due_soon = due is not None and due <= time.time() + self._idle_exit
        return is_due_soon or hosted.busy or server.connections > 0

    async def _stop_hosted(self, hosted: Hosted) -> None:
        log.info("Stopping within %s", self._grace)
        try:
            async with asyncio.timeout(self._grace.total_seconds()):
                await hosted.stop(self._grace)
        except TimeoutError:
            log.warning("What runs did not finish within %s; it is left resumable", self._grace)

    # -- the line to the supervisor

    async def _beat(self) -> None:
        # From the loop itself: a loop that is blocked falls silent.
        while True:
            await self._say("beat")
            await asyncio.sleep(_BEAT)

    async def _tell_progress(self, hosted: Hosted) -> None:
        await hosted.got_on()
        await self._say("progress")

    async def _tell_work(self, hosted: Hosted) -> None:
        """Whether the machine must stay awake; a second's gap between two runs is none."""
        told = None
        while True:
            with suppress(PerpetualError):  # a full disk: what was said stands
                if (goes_on := await hosted.goes_on()) != told:
                    await self._say(f"awake {goes_on}")
                    told = goes_on
            await asyncio.sleep(_WORK)

    async def _say(self, line: str) -> None:
        with suppress(ConnectionError):  # `_obey` notices too
            await asyncio.get_running_loop().sock_sendall(self._control, f"{line}\n".encode())

    async def _obey(self) -> None:
        """`stop <seconds>`; the end of the line means that the supervisor is gone."""
        heard = b""
        while b"\n" not in heard:
            try:
                chunk = await asyncio.get_running_loop().sock_recv(self._control, 4096)
            except ConnectionError:
                chunk = b""
            if not chunk:
                log.warning("The supervisor is gone; stopping")
                self._grace = _ABANDONED_GRACE
                break
            heard += chunk
        else:
            self._grace = timedelta(seconds=float(heard.split()[1]))
        self._stop.set()


class _Formatter(RedactingFormatter):
    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"


def _stamp(at: float | None) -> str:
    """As the log's own lines begin."""
    with suppress(OverflowError, ValueError, OSError):  # no calendar has that year
        return "nothing" if at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    return "never"


def _log_to(path: Path) -> None:
    handler = PrivateLog(path, maxBytes=5_000_000, backupCount=2)
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Started by the supervisor, never by hand")
    parser.add_argument("--data-dir", type=Path, required=True)
    for name in ("--listen-fd", "--control-fd", "--lock-fd"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--idle-exit", type=float, default=30.0)
    parser.add_argument("--grace", type=float, default=30.0)
    return parser.parse_args()
