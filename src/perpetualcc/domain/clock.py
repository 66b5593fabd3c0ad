"""Time as a port: every wait is a row with a due time in UTC epoch seconds."""

import time
from typing import Protocol


class Clock(Protocol):
    """The wall clock. Waits are re-checked against it: laptops sleep, clocks jump."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...


def elapsed(seconds: float) -> str:
    """How long something took, in whole units: `17 s`, `4 min 59 s`, `2 h 15 min`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> float:
        return time.time()


class SteadyClock:
    """How long something takes in this process: nobody sets it, and it sleeps with the machine."""

    def now(self) -> float:
        return time.monotonic()
