"""How much memory the processes of a run hold: all that carry its mark, Claude Code's own too."""

import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from perpetualcc.claude import processes
from perpetualcc.domain.ids import RunId
from perpetualcc.domain.texts import cut
from perpetualcc.sessions.run_memory import Resident

_PROC = Path("/proc")
_LONGEST_NAME = 60
"""Characters of a program's name: anybody may call a process what they like."""
_WORDS = 3
CLAUDE = "Claude Code itself"


def of_runs(data_dir: Path) -> dict[RunId, list[Resident]]:
    """
    Of every run at work. Pages that processes share count for each of them: see `shared_out`.

    Some milliseconds for hundreds of processes on Linux; macOS starts `ps` twice.
    """
    found = processes.by_run(data_dir)
    measured = _measured([pid for pids in found.values() for pid in pids])
    return {run: [measured[pid] for pid in pids if pid in measured] for run, pids in found.items()}


def shared_out(found: Sequence[Resident]) -> list[Resident]:
    """
    The same with the part of each in what they share (PSS, proc_pid_smaps(5)): a test suite of
    forty forked workers holds less than the sum. It costs the kernel more to count.
    """
    return [replace(one, held=_proportional(one.pid) or one.held) for one in found]


def _proportional(pid: int) -> int | None:
    with suppress(OSError):
        text = (_PROC / str(pid) / "smaps_rollup").read_text(errors="replace")
        if told := re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE):
            return int(told[1]) * 1024
    return None


def _measured(pids: Sequence[int]) -> dict[int, Resident]:
    if _PROC.joinpath("self", "statm").exists():
        return {pid: one for pid in pids if (one := _from_proc(pid))}
    if not pids:
        return {}
    columns = [word for name in ("pid", "rss", "command") for word in ("-o", f"{name}=")]
    with suppress(OSError):
        told = subprocess.run(
            ["/bin/ps", "-ww", *columns, "-p", ",".join(map(str, pids))],
            capture_output=True, text=True, errors="replace", check=False,
        ).stdout  # fmt: skip
        return listed(told)
    return {}


def _from_proc(pid: int) -> Resident | None:
    with suppress(OSError, IndexError, ValueError):
        place = _PROC / str(pid)
        pages = int((place / "statm").read_text().split()[1])
        words = (place / "cmdline").read_bytes()[:4096].decode(errors="replace").split("\0")
        return Resident(pid, pages * os.sysconf("SC_PAGE_SIZE"), program(words))
    return None


def listed(told: str) -> dict[int, Resident]:
    """Of `ps`, whose sizes are in units of 1024 bytes."""
    found = re.findall(r"^\s*(\d+)\s+(\d+)\s+(.*)$", told, re.MULTILINE)
    return {
        int(pid): Resident(int(pid), int(size) * 1024, program(command.split()))
        for pid, size, command in found
    }


def program(words: Sequence[str]) -> str:
    """`python3 -m pytest`, of what a process was started with; in letters that a terminal shows."""
    named = [PurePosixPath(word).name if number == 0 else word for number, word in enumerate(words)]
    if named[:1] == ["claude"]:
        return CLAUDE
    text = " ".join("".join(filter(str.isprintable, word)) for word in named[:_WORDS])
    return cut(text.strip(), _LONGEST_NAME) or "a program without a name"
