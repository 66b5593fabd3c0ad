"""The files without which no engine can be started: an upgrade takes them away for moments."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

Trace = tuple[int, int] | None
"""Size and time of a file; None where there is none."""


def trace(file: Path | None) -> Trace:
    """What tells whether a file was written to, for the price of one system call."""
    try:
        found = file.stat() if file else None
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if found else None


@dataclass(slots=True, kw_only=True)
class ProgramFiles:
    """Says when the program was taken away for good."""

    files: tuple[Path, ...] = (Path(__file__), Path(sys.executable))
    missed: float | None = None
    """Monotonic seconds since when one of them is not there."""

    def traces(self, config: Path | None) -> tuple[Trace, ...]:
        """What an engine is started with: once it is another, trying again is worth it."""
        return (trace(config), *map(trace, self.files))

    def removed(self, patience: float) -> Path | None:
        """The one that has been away for `patience` seconds, from the first look that missed it."""
        gone = next((file for file in self.files if trace(file) is None), None)
        if gone is None:
            self.missed = None
            return None
        now = time.monotonic()
        if self.missed is None:
            self.missed = now
        return gone if now >= self.missed + patience else None
