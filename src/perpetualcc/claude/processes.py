"""
Which processes are ours, and how they end.

Every process that a run starts carries `PERPETUALCC_RUN=<digest of the data directory>:<run>` in
its environment, and so do its children, even those that made a session of their own (Claude's Bash
commands do). Standard library only: the supervisor imports this.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from perpetualcc.domain.folders import canonical

if TYPE_CHECKING:  # its module makes ids, and imports more than a supervisor should hold
    from perpetualcc.domain.ids import RunId

VARIABLE = "PERPETUALCC_RUN"
_PROC = Path("/proc")
_HAS_PROC = (_PROC / "self" / "environ").exists()
"""True on Linux; macOS has `ps` only."""
_PS = ("/bin/ps",)
_SHELL = ("/bin/sh", "-c")
_POLL = 0.02
"""Seconds between two looks at processes that were told to end."""
_KILLED_WITHIN = 3.0
"""Seconds that the kernel gets to remove what was sent SIGKILL."""


class _Process(NamedTuple):
    pid: int
    parent: int
    marks: tuple[str, ...] = ()
    """The value of `PERPETUALCC_RUN`; on macOS also what stands like one among its words."""


def mark(data_dir: Path, run_id: "RunId") -> dict[str, str]:
    """The environment variable that makes a process and its children findable."""
    return {VARIABLE: f"{_token(data_dir)}:{run_id}"}


def shell(command: str, carried: Mapping[str, str]) -> list[str]:
    """
    `sh -c command`, for an environment with a mark.

    macOS hides the environment of its own shell. There the mark stands among its words, which the
    command does not see.
    """
    if _HAS_PROC:
        return [*_SHELL, command]
    words = (f"{name}={value}" for name, value in carried.items())
    return [*_SHELL, 'eval "shift $#; $1"', "sh", command, *words]


def find(data_dir: Path, run_id: "RunId | None" = None) -> list[int]:
    """
    Processes of one run, or of every run of a data directory.

    A child that cleaned its environment is found as long as a marked parent lives. This
    process is never listed. Processes of other users are not looked at.
    """
    return [pid for pid, runs in _found(data_dir) if run_id is None or run_id in runs]


def by_run(data_dir: Path) -> "dict[RunId, list[int]]":
    """The same, of each run that has any."""
    found: dict[RunId, list[int]] = {}
    for pid, runs in _found(data_dir):
        found.setdefault(runs[0], []).append(pid)
    return found


def _found(data_dir: Path) -> "Iterator[tuple[int, list[RunId]]]":
    processes = {process.pid: process for process in _processes()}
    prefix = f"{_token(data_dir)}:"
    for process in processes.values():
        carried = () if process.pid == os.getpid() else next(_marks(process, processes), ())
        runs = [_run(one.removeprefix(prefix)) for one in carried if one.startswith(prefix)]
        if runs:
            yield process.pid, runs


def _run(text: str) -> "RunId":
    return cast("RunId", text)


def is_of_run(data_dir: Path | None, pid: int) -> bool:
    """
    Whether a run of this data directory, or of any, started a process: it or an ancestor carries
    the mark.

    One that is gone, or of another user, counts as started by a run: nobody can tell. One that
    took a clean environment and left its parents behind is not recognized.
    """
    processes = {process.pid: process for process in _processes()}
    process, prefix = processes.get(pid), f"{_token(data_dir)}:" if data_dir else ""
    if process is None:
        return True
    return any(one.startswith(prefix) for found in _marks(process, processes) for one in found)


def end(processes: Iterable[int], grace: timedelta) -> list[int]:
    """
    SIGTERM, and SIGKILL for what is left after `grace`. Never this process.

    Returns what even SIGKILL did not remove within three seconds: nothing, unless the kernel
    holds a process in a system call.
    """
    pids = [pid for pid in processes if pid != os.getpid()]
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


def end_hidden(group: int, grace: timedelta) -> None:
    """
    `end` for a process group, of whatever hides its mark; on Linux nothing does.

    macOS hides that of all that is Apple's, such as `sleep`.
    """
    if _HAS_PROC:
        return
    deadline = time.monotonic() + grace.total_seconds()
    with suppress(ProcessLookupError, PermissionError):  # gone, or none but zombies are left
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            time.sleep(_POLL)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """A zombie counts as gone: it runs nothing and waits only to be counted."""
    return _alive([pid]) != []


def is_stopped(pid: int) -> bool:
    """By a signal: it does nothing until another one lets it go on."""
    return _states([pid]).get(pid) == "T"


def _alive(pids: Sequence[int]) -> list[int]:
    states = _states(pids)
    return [pid for pid in pids if states.get(pid, "Z") not in {"Z", "X"}]


def _states(pids: Sequence[int]) -> dict[int, str]:
    """One letter for each process that there is."""
    if not _HAS_PROC:
        return (
            states_in(_ps(*_columns("pid", "stat"), "-p", ",".join(map(str, pids)))) if pids else {}
        )
    found = {}
    for pid in pids:
        with suppress(OSError, IndexError):
            found[pid] = _stat_fields(pid)[0]
    return found


def _token(data_dir: Path) -> str:
    import hashlib  # noqa: PLC0415  # loads OpenSSL; most commands look for no process

    return hashlib.sha256(bytes(canonical(data_dir))).hexdigest()[:16]


def _marks(process: _Process, processes: dict[int, _Process]) -> Iterator[tuple[str, ...]]:
    """Those of a process and its ancestors, the nearest first; this process gives none."""
    seen = {os.getpid()} - {process.pid}
    current: _Process | None = process
    while current and current.pid not in seen:
        if current.marks:
            yield current.marks
        seen.add(current.pid)
        current = processes.get(current.parent)


def _processes() -> Iterator[_Process]:
    """Every process of this user."""
    return _from_proc() if _HAS_PROC else _from_ps()


def _from_proc() -> Iterator[_Process]:
    wanted, user = os.fsencode(f"{VARIABLE}="), os.getuid()
    with os.scandir(_PROC) as entries:
        for entry in entries:
            # A process may end between two looks, and some hide their environment.
            with suppress(OSError, IndexError):
                if not entry.name.isdigit() or entry.stat().st_uid != user:
                    continue
                pid = int(entry.name)
                parent = int(_stat_fields(pid)[1])
                marks: tuple[str, ...] = ()
                with suppress(PermissionError):
                    pairs = (_PROC / entry.name / "environ").read_bytes().split(b"\0")
                    carried = [pair for pair in pairs if pair.startswith(wanted)][:1]
                    marks = tuple(os.fsdecode(pair[len(wanted) :]) for pair in carried)
                yield _Process(pid=pid, parent=parent, marks=marks)


def _stat_fields(pid: int) -> list[str]:
    """State, parent, … : what follows the command's name, which may itself hold spaces."""
    text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    return text.rpartition(")")[2].split()


def _from_ps() -> Iterator[_Process]:
    # -E appends the environment to the command, -ww keeps it whole, -x is also without a terminal.
    columns = _columns("pid", "ppid", "command")
    yield from processes_in(_ps("-Ewwx", "-U", str(os.getuid()), *columns))


def processes_in(listing: str) -> Iterator[_Process]:
    """Of `ps`, which does not say where the words of a command end and its environment begins."""
    wanted = f"{VARIABLE}="
    for pid, rest in _numbered(listing):
        parent, _, command = rest.partition(" ")
        if parent.isdigit():
            found = (word for word in command.split() if word.startswith(wanted))
            marks = tuple(word.removeprefix(wanted) for word in found)
            yield _Process(pid=pid, parent=int(parent), marks=marks)


def states_in(listing: str) -> dict[int, str]:
    """The first letter of each state that `ps` lists."""
    return {pid: rest[:1] for pid, rest in _numbered(listing)}


def _numbered(listing: str) -> Iterator[tuple[int, str]]:
    for line in listing.splitlines():
        number, _, rest = line.strip().partition(" ")
        if number.isdigit() and rest:
            yield int(number), rest.strip()


def command_of(pid: int) -> str:
    """How a process was started; empty when there is none."""
    return _ps("-ww", *_columns("command"), "-p", str(pid)).strip()


def _columns(*names: str) -> list[str]:
    """Without headers. One option each: by POSIX the rest of a word behind `=` is the header."""
    return [word for name in names for word in ("-o", f"{name}=")]


def _ps(*arguments: str) -> str:
    """What it lists; nothing where a sandbox forbids it: whoever asks takes the safe side."""
    unmarked = {name: value for name, value in os.environ.items() if name != VARIABLE}
    with suppress(OSError):
        return subprocess.run(
            [*_PS, *arguments],
            env=unmarked, capture_output=True, text=True, errors="replace", check=False,
        ).stdout  # fmt: skip
    return ""


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _wait_gone(pids: list[int], seconds: float) -> list[int]:
    deadline = time.monotonic() + seconds
    while (left := _alive(pids)) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return left
