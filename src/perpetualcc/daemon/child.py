"""One engine process, as the supervisor sees it: what it says, and how it is ended."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from perpetualcc.daemon.state import hold, write_pid
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import opened_log


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCommand:
    """What an engine is started with, besides its file descriptors."""

    module: str = "perpetualcc.daemon.engine"
    """Run with `python -m`; it calls `perpetualcc.daemon.host.run`."""
    idle_exit: float = 30.0
    """Seconds without work and visitors after which the engine goes to sleep."""
    grace: float = 30.0
    """Seconds to finish what is in progress when the engine is told to stop by a signal."""

    def arguments(self, locations: Locations, listener: int, control: int, lock: int) -> list[str]:
        # -P: nothing in the working directory may pose as one of our modules.
        return [
            *(sys.executable, "-P", "-m", self.module),
            *("--data-dir", str(locations.data)),
            *("--listen-fd", str(listener), "--control-fd", str(control), "--lock-fd", str(lock)),
            *("--idle-exit", str(self.idle_exit), "--grace", str(self.grace)),
        ]


@dataclass(slots=True, kw_only=True)
class EngineProcess:
    """A running engine. Its lock, its control line and its process group die with it."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    started: float = field(default_factory=time.monotonic)
    ready: float | None = None
    """Monotonic seconds at which it said that it is ready."""
    last_beat: float | None = None
    got_on: bool = False
    """It said that work got on in its life."""
    goes_on: float | None = None
    """When it said that work goes on by itself (`daemon.awake`); None: it has not said yet."""
    sleep: str | None = None
    """What it said about its next due time before it left."""
    _unread: bytes = b""

    @classmethod
    def start(
        cls, command: EngineCommand, locations: Locations, listener: socket.socket
    ) -> "EngineProcess | None":
        """A new engine, or None while another one lives."""
        lock = hold(locations.engine_lock, wait=0.2)
        if lock is None:
            return None
        ours, theirs = socket.socketpair()
        fds = (listener.fileno(), theirs.fileno(), lock)
        try:
            with _private(locations.engine_last_words) as stderr:
                process = subprocess.Popen(
                    command.arguments(locations, *fds),
                    pass_fds=fds,
                    stdin=subprocess.DEVNULL,
                    stdout=stderr,
                    stderr=stderr,
                    cwd=locations.data,
                    start_new_session=True,
                )
            with suppress(OSError):  # on a full disk: whoever runs is not lost for a number
                write_pid(lock, process.pid)
        finally:
            theirs.close()
            os.close(lock)
        ours.setblocking(False)
        return cls(process=process, control=ours)

    @property
    def pid(self) -> int:
        return self.process.pid

    def excuse(self) -> None:
        """Forget how long it has been silent."""
        if self.last_beat is None:
            self.started = time.monotonic()
        else:
            self.last_beat = time.monotonic()

    def hear(self) -> None:
        """Take in what the engine said since the last time."""
        with suppress(OSError):
            while chunk := self.control.recv(4096):
                self._unread += chunk
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            self._understand(line.decode(errors="replace"))

    def _understand(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        match word:
            case "beat":
                self.last_beat = time.monotonic()
            case "ready":
                self.ready = self.last_beat = time.monotonic()
            case "progress":
                self.got_on = True
            case "awake":
                with suppress(ValueError):
                    self.goes_on = float(rest)
            case "sleep":
                self.sleep = rest

    def wake(self) -> float | None:
        """The due time it named when it went to sleep, in epoch seconds; None: nothing is due."""
        with suppress(ValueError, TypeError):
            return float(self.sleep or "")
        return None

    def tell_to_stop(self, grace: float) -> None:
        """Ask for a stop within `grace` seconds; one that cannot hear gets the signal."""
        try:
            self.control.sendall(f"stop {grace}\n".encode())
        except OSError:
            self.signal(signal.SIGTERM)

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def kill(self) -> None:
        """End the engine and its process group, whatever they do."""
        kill_group(self.pid)
        self.process.wait()

    def kill_hung(self) -> None:
        """The same, but ask first where it hangs: the host writes all stacks on SIGUSR2."""
        self.signal(signal.SIGUSR2)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.2)
        self.kill()

    def close(self) -> None:
        """Let go of what is left of an engine that ended, its children in its group included."""
        kill_group(self.pid)
        self.control.close()


def _private(file: Path) -> BinaryIO:
    """Empty, and closed to everybody else whatever the umask, also one of an older version."""
    return os.fdopen(opened_log(file, os.O_TRUNC), "wb")


def kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
