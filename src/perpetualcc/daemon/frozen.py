"""Processes of the daemon that a signal stopped. Apart from `launch`, for who only looks."""

from collections.abc import Sequence

from perpetualcc.claude import processes
from perpetualcc.daemon.state import DaemonStatus


def frozen(status: DaemonStatus) -> list[int]:
    """Those of its processes that a signal stopped (Ctrl+Z, a debugger): they do nothing."""
    pids = (status.supervisor, status.engine)
    return [pid for pid in pids if pid is not None and processes.is_stopped(pid)]


def thaw(pids: Sequence[int]) -> str:
    """What lets them go on."""
    return f"kill -CONT {' '.join(map(str, pids))}"
