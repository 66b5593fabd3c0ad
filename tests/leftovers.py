"""Finds processes by a variable in their environment, which every child inherits."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

LEAK_MARK = "PERPETUALCC_TEST"
"""Every process that a test starts inherits this variable, with a value of the test's own."""


def ended_by_force(variable: str, value: str, *, patience: float) -> dict[int, str]:
    """Kill what still runs after `patience` seconds; returns pid and command line of each."""
    deadline = time.monotonic() + patience
    while (left := marked_processes(variable, value)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


def marked_processes(variable: str, value: str) -> dict[int, str]:
    """Pid and command line of every other process whose environment holds the mark."""
    listing = subprocess.run(
        [
            "ps",
            "axEww" if sys.platform == "darwin" else "axeww",
            "-o",
            "pid=,ppid=,stat=,command=",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {}
    for line in listing.splitlines():
        fields = line.split(None, 3)
        if len(fields) == 4 and f"{variable}={value}" in fields[3] and fields[2][0] != "Z":
            pid, parent = int(fields[0]), int(fields[1])
            own_listing = parent == os.getpid() and fields[3].startswith("ps axeww")
            if pid != os.getpid() and not own_listing:
                found[pid] = fields[3][:200]
    return found
