"""Time as a port: every wait is a row with a due time in UTC epoch seconds."""

import time
from typing import Protocol


class Clock(Protocol):
    """The wall clock. Waits are re-checked against it: laptops sleep, clocks jump."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> float:
        return time.time()


class SteadyClock:
    """How long something takes in this process: nobody sets it, and it sleeps with the machine."""

    def now(self) -> float:
        return time.monotonic()
