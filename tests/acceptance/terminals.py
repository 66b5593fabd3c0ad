"""A terminal of its own for a command: what is on it, and what a person types."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

# The command gets the terminal as its controlling one, so that Ctrl+C is a signal.
_OWN_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)

CTRL_C, CTRL_D = "\x03", "\x04"


@dataclass(slots=True)
class Terminal:
    """A running command and all that it has written so far."""

    master: int
    command: subprocess.Popen[bytes]
    seen: str = field(default="")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        """The window is closed: there is no terminal any more."""
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, self.master)
        os.close(nothing)

    def wait_for(self, text: str, *, within: float = 60.0) -> None:
        deadline = time.monotonic() + within
        while text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} does not come:\n{self.seen}"
            assert self._read(0.2) or text in self.seen, f"the end came first:\n{self.seen}"

    def wait(self, *, within: float = 60.0) -> int:
        """The exit code, with everything read until then."""
        deadline = time.monotonic() + within
        while self._read(0.2):
            assert time.monotonic() < deadline, f"it does not end:\n{self.seen}"
        return self.command.wait(timeout=5)

    def _read(self, seconds: float) -> bool:
        """False: nothing more will come."""
        if not select.select([self.master], [], [], seconds)[0]:
            return self.command.poll() is None
        try:
            chunk = os.read(self.master, 65536)
        except OSError:  # Linux says EIO when the last writer has gone
            return False
        self.seen += chunk.decode(errors="replace").replace("\r\n", "\n")
        return bool(chunk)


@contextmanager
def terminal(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Run a command on a terminal of 100 columns; ended at the end, whatever it does."""
    master, slave = pty.openpty()
    os.set_blocking(master, True)
    command = subprocess.Popen(
        [sys.executable, "-c", _OWN_TERMINAL, *words],
        env={**environment, "TERM": "xterm-256color", "COLUMNS": "100"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    try:
        yield Terminal(master, command)
    finally:
        command.kill()
        command.wait()
        os.close(master)
