"""The supervisor's own log: one file, one older file, no logging machinery in memory."""

import os
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.domain.private_files import make_way, opened_log


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorLog:
    """Appends lines to a file that never grows past twice its limit."""

    path: Path
    limit: int = 1_000_000
    """Bytes after which the file becomes `<name>.1`."""

    def write(self, text: str) -> None:
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"
        # A full or vanished disk must not stop the one who restarts the engine.
        with suppress(OSError):
            if self.path.exists() and self.path.stat().st_size > self.limit:
                older = self.path.with_name(f"{self.path.name}.1")
                make_way(older)
                self.path.replace(older)
            descriptor = opened_log(self.path)
            try:
                os.write(descriptor, f"{stamp} {text}\n".encode(errors="replace"))
            finally:
                os.close(descriptor)


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a file; none when there is no file."""
    try:
        with TextIOWrapper(open_regular(path), errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)]
    except OSError:
        return []
