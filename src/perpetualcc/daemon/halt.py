"""Ending a daemon from outside: gracefully, or now."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from perpetualcc.claude import processes
from perpetualcc.daemon.child import kill_group
from perpetualcc.daemon.state import is_held, note_halt, read_pid, read_status
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import write_whole

_LONGEST = 600.0
"""Seconds to wait for a graceful stop whose grace only the supervisor knows."""
_MARGIN = 10.0
_DIES_WITHIN = 1.0
"""Seconds in which the kernel lets go of what was killed."""
_SUPERVISOR_KILLS_WITHIN = 2.5
"""Seconds of the kill switch's five that the supervisor gets to do it itself."""


def stop(locations: Locations, *, grace: float | None = None) -> bool:
    """
    Finish what is in progress within `grace` seconds (None: as the supervisor was told), then
    end everything. False when no daemon ran. On a full disk the supervisor has its own way.

    Raises:
        PerpetualError: it does not stop.
    """
    pid = _living(locations)
    if pid is None and is_held(locations.supervisor_lock):
        raise _Unknown(locations)
    if pid is None:
        return _wait_free(locations, _MARGIN) if is_held(locations.engine_lock) else False
    if grace is not None and not _wished(locations, grace):
        grace = None
    _signal(pid, signal.SIGTERM)
    if not _wait_free(locations, _LONGEST if grace is None else grace + _MARGIN):
        raise PerpetualError(f"The daemon ({pid}) does not stop", hint="pcc daemon stop --now")
    return True


def stop_now(locations: Locations) -> bool:
    """
    The kill switch of seed 003, FR-6: within five seconds no process of ours is left.

    Works without the supervisor's help, too. State stays resumable, and what is ended this way
    counts as no crash. False when nothing ran.

    Raises:
        PerpetualError: one lives, and nothing tells which process it is.
    """
    pid = _living(locations)
    if is_held(locations.engine_lock):
        note_halt(locations)
    ran = pid is not None or is_held(locations.engine_lock)
    if pid is not None:
        _signal(pid, signal.SIGUSR1)
        if not _wait_free(locations, _SUPERVISOR_KILLS_WITHIN):
            _signal(pid, signal.SIGKILL)
    if is_held(locations.engine_lock) and (engine := _engine(locations)):
        kill_group(engine)
    ran |= processes.sweep(locations.data, timedelta(seconds=0.5)) > 0
    if not _wait_free(locations, _DIES_WITHIN):
        raise _Unknown(locations)
    return ran


@contextmanager
def offered() -> Iterator[None]:
    """Where nothing can be written no session can be stopped alone: all of them can."""
    try:
        yield
    except PassingError as error:
        kill = "to stop all work at once: pcc daemon stop --now"
        raise PassingError(error.message, hint=f"{error.hint}; {kill}") from error


def _wished(locations: Locations, grace: float) -> bool:
    """Leave word for the supervisor. False on a full disk: then it stops with its own grace."""
    try:
        write_whole(locations.grace, str(grace))
    except OSError:
        return False
    return True


def _living(locations: Locations) -> int | None:
    if not is_held(locations.supervisor_lock):
        return None
    return read_pid(locations.supervisor_lock) or _noted(
        locations, read_status(locations).supervisor
    )


def _engine(locations: Locations) -> int | None:
    return read_pid(locations.engine_lock) or _noted(locations, read_status(locations).engine)


def _noted(locations: Locations, pid: int | None) -> int | None:
    """What the status says where a lock's file is damaged, unless the number is another's."""
    if pid is None:
        return None
    command = processes.command_of(pid)
    return pid if f"--data-dir {locations.data}" in command else None


class _Unknown(PerpetualError):  # noqa: N818  # named for what happened
    """A lock is held, and its file does not say by whom."""

    def __init__(self, locations: Locations) -> None:
        super().__init__(
            f"The daemon runs, and nothing in '{locations.run_dir}' says which process it is",
            hint=f"End it by hand: ps axww -o pid,command | grep '{locations.data}'",
        )


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _wait_free(locations: Locations, seconds: float) -> bool:
    """True when both locks were free before the time was over."""
    deadline = time.monotonic() + seconds
    while is_held(locations.supervisor_lock) or is_held(locations.engine_lock):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True
