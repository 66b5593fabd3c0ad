"""
Which processes are ours, and how they end.

Every process that a run starts carries `PERPETUALCC_RUN=<data directory>:<run>` in its
environment, and so do its children, even those that made a session of their own (Claude's Bash
commands do). Standard library only: the supervisor imports this.
"""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:  # its module makes ids, and imports more than a supervisor should hold
    from perpetualcc.domain.ids import RunId

VARIABLE = "PERPETUALCC_RUN"
_PROC = Path("/proc")
_HAS_PROC = (_PROC / "self" / "environ").exists()
"""True on Linux; macOS has `ps` only."""
_POLL = 0.02
"""Seconds between two looks at processes that were told to end."""
_KILLED_WITHIN = 3.0
"""Seconds that the kernel gets to remove what was sent SIGKILL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Process:
    pid: int
    parent: int
    mark: str
    """The value of `PERPETUALCC_RUN`, or nothing."""


def mark(data_dir: Path, run_id: "RunId") -> dict[str, str]:
    """The environment variable that makes a process and its children findable."""
    return {VARIABLE: f"{_token(data_dir)}:{run_id}"}


def find(data_dir: Path, run_id: "RunId | None" = None) -> list[tuple[int, "RunId"]]:
    """
    Processes of one run, or of every run of a data directory, with their run.

    A child that cleaned its environment is found as long as a marked parent lives. This
    process is never listed. Processes of other users are not looked at.
    """
    processes = {process.pid: process for process in _processes()}
    prefix = f"{_token(data_dir)}:"
    found = []
    for process in processes.values():
        carried = "" if process.pid == os.getpid() else _nearest_mark(process, processes)
        if carried.startswith(prefix):
            run = cast("RunId", carried.removeprefix(prefix))
            if run_id in {None, run}:
                found.append((process.pid, run))
    return found


def is_of_run(data_dir: Path | None, pid: int) -> bool:
    """
    Whether a run of this data directory, or of any, started a process: it or an ancestor carries
    the mark.

    One that is gone, or of another user, counts as started by a run: nobody can tell. One that
    took a clean environment and left its parents behind is not recognized.
    """
    processes = {process.pid: process for process in _processes()}
    process, prefix = processes.get(pid), f"{_token(data_dir)}:" if data_dir else ""
    return process is None or any(one.startswith(prefix) for one in _marks(process, processes))


def end(processes: Iterable[tuple[int, "RunId"]], grace: timedelta) -> list[int]:
    """
    SIGTERM, and SIGKILL for what is left after `grace`. Never this process.

    Returns what even SIGKILL did not remove within three seconds: nothing, unless the kernel
    holds a process in a system call.
    """
    pids = [pid for pid, _ in processes if pid != os.getpid()]
    _signal(pids, signal.SIGTERM)
    left = _wait_gone(pids, grace.total_seconds())
    _signal(left, signal.SIGKILL)
    return _wait_gone(left, _KILLED_WITHIN)


def sweep(data_dir: Path, grace: timedelta, run_id: "RunId | None" = None) -> int:
    """
    End everything of a data directory, or of one run, also what appears meanwhile. Returns how
    many.
    """
    ended = 0
    for _ in range(5):
        if not (found := find(data_dir, run_id)):
            break
        ended += len(found) - len(end(found, grace))
        grace = timedelta()
    return ended


def is_alive(pid: int) -> bool:
    """A zombie counts as gone: it runs nothing and waits only to be counted."""
    return _state(pid) not in {"", "Z", "X"}


def is_stopped(pid: int) -> bool:
    """By a signal: it does nothing until another one lets it go on."""
    return _state(pid) == "T"


def _state(pid: int) -> str:
    """One letter; empty when there is no such process."""
    if _HAS_PROC:
        with suppress(OSError, IndexError):
            return _stat_fields(pid)[0]
        return ""
    return _ps("-o", "stat=", "-p", str(pid)).strip()[:1]


def _token(data_dir: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(data_dir))).hexdigest()[:16]


def _nearest_mark(process: _Process, processes: dict[int, _Process]) -> str:
    """The mark of the process or of its nearest marked ancestor."""
    return next(_marks(process, processes), "")


def _marks(process: _Process, processes: dict[int, _Process]) -> Iterator[str]:
    """The marks of a process and its ancestors, the nearest first; this process gives none."""
    seen = {os.getpid()} - {process.pid}
    current: _Process | None = process
    while current and current.pid not in seen:
        if current.mark:
            yield current.mark
        seen.add(current.pid)
        current = processes.get(current.parent)


def _processes() -> Iterator[_Process]:
    """Every process of this user."""
    return _from_proc() if _HAS_PROC else _from_ps()


def _from_proc() -> Iterator[_Process]:
    wanted, user = os.fsencode(f"{VARIABLE}="), os.getuid()
    for entry in os.scandir(_PROC):
        # A process may end between two looks, and some hide their environment.
        with suppress(OSError, IndexError):
            if not entry.name.isdigit() or entry.stat().st_uid != user:
                continue
            pid = int(entry.name)
            parent = int(_stat_fields(pid)[1])
            carried = b""
            with suppress(PermissionError):
                environment = (_PROC / entry.name / "environ").read_bytes().split(b"\0")
                carried = next((pair for pair in environment if pair.startswith(wanted)), b"")
            yield _Process(pid=pid, parent=parent, mark=os.fsdecode(carried[len(wanted) :]))


def _stat_fields(pid: int) -> list[str]:
    """State, parent, … : what follows the command's name, which may itself hold spaces."""
    text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    return text.rpartition(")")[2].split()


def _from_ps() -> Iterator[_Process]:
    # -E appends the environment to the command; -ww keeps it whole.
    for line in _ps("-Eww", "-U", str(os.getuid()), "-o", "pid=,ppid=,command=").splitlines():
        words = line.split()
        pid, parent = int(words[0]), int(words[1])
        carried = next((word for word in words if word.startswith(f"{VARIABLE}=")), "")
        yield _Process(pid=pid, parent=parent, mark=carried.partition("=")[2])


def command_of(pid: int) -> str:
    """How a process was started; empty when there is none."""
    return _ps("-ww", "-o", "command=", "-p", str(pid)).strip()


def _ps(*arguments: str) -> str:
    command = ["/bin/ps", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _wait_gone(pids: list[int], seconds: float) -> list[int]:
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return left
