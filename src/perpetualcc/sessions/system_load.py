"""
How busy this machine is, from the standard library alone.

Unattended work waits while it is busy (seed 003, NFR-1); what a person started does not.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.tasks import Lane
from perpetualcc.sessions.settings import LoadSettings

_GROUPS = Path("/sys/fs/cgroup")
_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""
Of cgroup v2 and v1, by the controller's name in /proc/self/cgroup: the limit, what is in use, and
in `memory.stat` what of it files fill. Below the mount point v1 has a folder for each controller.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLoad:
    """One look at the machine."""

    cpu: float
    """Share of all processors in the last five minutes; above 1 when some had to wait."""
    memory: float
    """Share of the memory that is in use."""


def read_load() -> SystemLoad:
    """The five-minute load average over the number of processors, and the memory in use."""
    return SystemLoad(
        cpu=os.getloadavg()[1] / (os.cpu_count() or 1),
        memory=_memory_linux() if sys.platform == "linux" else _memory_darwin(),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """Of the machine, or of the container that we are in. Bytes."""

    total: int
    available: int
    """What programs can still have without anything being swapped."""


def read_memory() -> Memory | None:
    """None: nobody tells."""
    return _read_linux() if sys.platform == "linux" else _read_darwin()


def _read_darwin() -> Memory | None:
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        total = int(_output("/usr/sbin/sysctl", "-n", "hw.memsize"))
        return Memory(total, int(total * (1 - _memory_darwin())))
    return None


def _read_linux() -> Memory | None:
    with suppress(OSError, KeyError, ValueError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        kilobytes = {name: int(n) for name, n in re.findall(r"^(\w+):\s+(\d+)", text, re.MULTILINE)}
        machine = Memory(kilobytes["MemTotal"] * 1024, kilobytes["MemAvailable"] * 1024)
        with suppress(OSError, ValueError):
            own = Path("/proc/self/cgroup").read_text(encoding="utf-8")
            return within_group(machine, own, _GROUPS)
        return machine
    return None


def within_group(machine: Memory, own: str, groups: Path) -> Memory:
    """
    The least that our control group and those above it leave.

    `own` is /proc/self/cgroup. What files fill and the kernel can take back counts as available.
    """
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        for name in _FILES.keys() & set(names.split(",")):
            machine = _within(machine, groups / name, path, _FILES[name])
    return machine


def _within(found: Memory, top: Path, path: str, files: tuple[str, str, str]) -> Memory:
    limit, usage, reclaimable = files
    group = top / path.lstrip("/")
    for one in (group, *group.parents):
        with suppress(OSError, ValueError, KeyError):
            most = int((one / limit).read_text())
            told = (one / "memory.stat").read_text()
            kept = {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)", told, re.MULTILINE)}
            taken = int((one / usage).read_text()) - kept[reclaimable]
            left = max(0, most - taken)
            found = Memory(min(found.total, most), min(found.available, left))
        if one == top:
            break
    return found


def _memory_linux() -> float:
    memory = read_memory()
    return 1 - memory.available / memory.total if memory else 0.0


def _memory_darwin() -> float:
    with suppress(OSError, subprocess.SubprocessError, ValueError, IndexError, ZeroDivisionError):
        return used_in(
            _output("/usr/bin/vm_stat"), int(_output("/usr/sbin/sysctl", "-n", "hw.memsize"))
        )
    return 0.0


def used_in(vm_stat: str, total: int) -> float:
    """Active, wired and compressed pages over all bytes, much as Activity Monitor counts."""
    page = int(re.findall(r"page size of (\d+)", vm_stat)[0])
    used = re.findall(
        r"^Pages (?:active|wired down|occupied by compressor):\s+(\d+)", vm_stat, re.MULTILINE
    )
    return sum(map(int, used)) * page / total


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout


class LoadGate:
    """Says whether work of a lane may start now."""

    def __init__(self, settings: LoadSettings, read: Callable[[], SystemLoad] = read_load) -> None:
        self._settings = settings
        self._read = read

    def is_open(self, lane: Lane) -> bool:
        return not self.why_closed(lane)

    def why_closed(self, lane: Lane) -> str:
        """What the work of a lane waits for, and the setting that says so; empty: nothing."""
        if lane is Lane.INTERACTIVE:
            return ""
        load, settings = self._read(), self._settings
        for what, now, name in (
            ("processors", load.cpu, "max_cpu"),
            ("memory", load.memory, "max_memory"),
        ):
            if 0 < (most := getattr(settings, name)) < now:
                return f"waits for the machine: {what} {now:.0%} (load.{name} is {most:.0%})"
        return ""
