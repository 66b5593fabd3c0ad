"""What the machine's clocks tell of its sleep and its starts. Standard library only."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def slept() -> float:
    """
    Seconds that the machine has slept since its start; 0.0 where no clock tells.

    Of two clocks one goes on in its sleep: clock_gettime(2), on macOS clock_gettime(3).
    """
    names = ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC")
    if sys.platform == "darwin":
        names = ("CLOCK_MONOTONIC", "CLOCK_UPTIME_RAW")
    with suppress(AttributeError, OSError):
        goes_on, stops = (time.clock_gettime(getattr(time, name)) for name in names)
        return max(0.0, goes_on - stops)
    return 0.0


def boot() -> str:
    """What is another one after each start of the machine; empty where nobody tells."""
    with suppress(OSError, subprocess.SubprocessError):
        told = _from_sysctl() if sys.platform == "darwin" else _BOOT.read_text(encoding="ascii")
        return told.strip()
    return ""


def _from_sysctl() -> str:
    command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
    return done.stdout
