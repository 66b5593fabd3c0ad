"""The engine's clock: the machine's, unless a test moves it."""

import os
import time
from pathlib import Path

from perpetualcc.domain.clock import Clock, SystemClock


class ShiftedClock:
    """The wall clock and as many seconds as a file says; read each time, so that tests move it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def offset(self) -> float:
        try:
            return float(self._path.read_text())
        except (OSError, ValueError):
            return 0.0

    def now(self) -> float:
        return time.time() + self.offset


def wall_clock() -> Clock:
    """
    The engine's clock. `PERPETUALCC_CLOCK_OFFSET` names a file with seconds to add to it.

    For tests: a week of waiting passes when the file changes.
    """
    path = os.environ.get("PERPETUALCC_CLOCK_OFFSET")
    return ShiftedClock(Path(path)) if path else SystemClock()
