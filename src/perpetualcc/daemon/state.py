"""
What the supervisor leaves on disk for everybody else: locks that die with their holder, and
one status file. Standard library only.
"""

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import write_whole

NEEDS_A_PERSON = 78
"""Exit code of an engine whose last words are an error that a person can act on (EX_CONFIG)."""
_NOTICED_WITHIN = 0.2
"""Seconds after an engine's death in which its supervisor writes it down."""
_LONGEST = 1_000_000
"""Bytes of a note of ours: what is longer is damaged."""


class Phase(StrEnum):
    """What the supervisor does."""

    STARTING = "starting"
    """An engine was started and has not said that it is ready."""
    RUNNING = "running"
    """The engine is ready."""
    ASLEEP = "asleep"
    """Nothing to do: no engine runs until a visitor comes or something is due."""
    RESTARTING = "restarting"
    """The engine crashed; the next start waits for its back-off."""
    GAVE_UP = "gave up"
    """Too many crashes in a row; a person must say start or restart."""
    STOPPING = "stopping"
    """The engine finishes what is in progress."""
    STOPPED = "stopped"
    """No supervisor runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonStatus:
    """The status file: enough to explain the daemon without waking its engine."""

    phase: Phase = Phase.STOPPED
    supervisor: int | None = None
    """Process ids."""
    engine: int | None = None
    since: float = 0.0
    """Epoch seconds at which this phase began."""
    wake: float | None = None
    """Epoch seconds of the next due time, while asleep."""
    crashes: int = 0
    """In a row, with no healthy life between."""
    problem: str = ""
    """The last thing that went wrong."""
    version: str = ""


def write_status(locations: Locations, status: DaemonStatus) -> None:
    """Replace the status file at once: a reader sees the old text or the new one."""
    text = json.dumps(asdict(status))
    try:
        write_whole(locations.status, text)
    except OSError:  # a full disk has room yet in what is there: better torn than untrue
        descriptor = os.open(locations.status, os.O_WRONLY | os.O_NONBLOCK)
        try:
            overwrite(descriptor, text.encode())
        finally:
            os.close(descriptor)


def read_status(locations: Locations) -> DaemonStatus:
    """What the living supervisor does; `STOPPED` when none lives, whatever files are left."""
    if not is_held(locations.supervisor_lock):
        return DaemonStatus()
    status = _written(locations)
    if status.engine is None or is_held(locations.engine_lock):
        return status
    # It has just died, and the supervisor needs a moment; or the file could not be written.
    time.sleep(_NOTICED_WITHIN)
    status = _written(locations)
    if status.engine is None or is_held(locations.engine_lock):
        return status
    if status.phase is Phase.STOPPING:
        return replace(status, engine=None)
    gone = f"the engine ({status.engine}) is gone"
    return replace(status, phase=Phase.RESTARTING, engine=None, problem=gone)


def has_lost_its_socket(locations: Locations, status: DaemonStatus) -> bool:
    """Whether it lives, and no command can reach it any more: somebody removed the socket."""
    return status.phase in {Phase.RUNNING, Phase.ASLEEP} and not locations.socket.exists()


def was_stopped(locations: Locations) -> bool:
    """Of a daemon that does not run: whether somebody stopped it, as opposed to a crash."""
    return locations.halted.exists() or _written(locations).phase in {Phase.STOPPING, Phase.STOPPED}


def _written(locations: Locations) -> DaemonStatus:
    try:
        raw = json.loads(read_regular(locations.status, _LONGEST))
        raw["phase"] = Phase(raw["phase"])
        return DaemonStatus(**raw)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        # The lock is older than the status: a supervisor that has only just come up.
        return DaemonStatus(phase=Phase.STARTING, supervisor=read_pid(locations.supervisor_lock))


def note_steering(locations: Locations, steering: Mapping[str, str]) -> None:
    """Leave for later commands what environment the daemon works in."""
    with suppress(OSError):  # only the warning is lost
        write_whole(locations.steering, json.dumps(dict(steering)))


def steered_by(locations: Locations) -> frozenset[str]:
    """Names of the variables that were set where the daemon was started."""
    try:
        return frozenset(json.loads(read_regular(locations.steering, _LONGEST)))
    except (OSError, ValueError, TypeError, RecursionError):
        return frozenset()


def steered_otherwise(locations: Locations, steering: Mapping[str, str]) -> list[str]:
    """Variables that are set here, and not or otherwise where the daemon was started."""
    try:
        known = json.loads(read_regular(locations.steering, _LONGEST))
        return sorted(name for name, digest in steering.items() if known.get(name) != digest)
    except (OSError, ValueError, AttributeError, RecursionError):
        return []


def note_settings(locations: Locations, digests: Mapping[str, str]) -> None:
    """Leave for later commands which settings the engine works with."""
    with suppress(OSError):  # only the warning is lost
        write_whole(locations.settings, json.dumps(dict(digests)))


def set_otherwise(locations: Locations, digests: Mapping[str, str]) -> list[str]:
    """Sections of the settings that are others than those an engine works with; [] without one."""
    try:
        known = json.loads(read_regular(locations.settings, _LONGEST))
        changed = sorted(dict(known.items() ^ digests.items()))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []
    return changed if is_held(locations.engine_lock) else []


def note_halt(locations: Locations) -> None:
    """Leave word for the next engine that a person ended this one by force."""
    with suppress(OSError):  # a full disk must not keep the kill switch from working
        locations.halted.touch(mode=0o600)


def note_stop(locations: Locations) -> None:
    """From now on no work is begun: see `is_work_stopped`."""
    with suppress(OSError):  # a full disk must not keep it from stopping
        locations.stopped.touch(mode=0o600)


def is_work_stopped(locations: Locations) -> bool:
    """
    A person stopped the daemon, and nobody has asked for work since.

    Commands that look have an engine all the same, also after the machine was started anew.
    """
    return locations.stopped.exists()


def let_work_go_on(locations: Locations) -> None:
    """What `note_stop` says holds no longer."""
    locations.stopped.unlink(missing_ok=True)


def hold(path: Path, *, wait: float = 0.0) -> int | None:
    """
    Take a lock that ends with its last holder; the open file descriptor, or None.

    `wait` is in seconds. A look with `is_held` holds the lock for a moment, so whoever really
    wants it must try for longer than that.

    Raises:
        OSError: what is there is no file.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is no file", str(path))
    deadline = time.monotonic() + wait
    while True:
        if _locked(descriptor, fcntl.LOCK_EX, path):
            return descriptor
        if time.monotonic() >= deadline:
            os.close(descriptor)
            return None
        time.sleep(0.02)


def is_held(path: Path) -> bool:
    """True while some process holds the lock; false when it cannot even be looked at."""
    with _opened(path) as descriptor:
        return descriptor is not None and not _locked(descriptor, fcntl.LOCK_SH, path)


def _locked(descriptor: int, how: int, path: Path) -> bool:
    """
    False: somebody else holds it.

    Raises:
        PerpetualError: there are no locks here, as on some network file systems.
    """
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise PerpetualError(
            f"'{path}' cannot be locked: {error.strerror}",
            hint="Its file system keeps no locks; name a directory on a local disk: --data-dir",
        ) from error
    return True


def is_still(descriptor: int, path: Path) -> bool:
    """False when the file that is held was removed: then it keeps nobody out any more."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # cannot be looked at now: no reason to leave
        return True


def write_pid(descriptor: int, pid: int) -> None:
    """Leave a process id in a lock file that this process holds."""
    overwrite(descriptor, f"{pid}\n".encode())


def overwrite(descriptor: int, text: bytes) -> None:
    """First written, then cut: a file that is emptied gives its place on a full disk away."""
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))


def read_pid(path: Path) -> int | None:
    """The process id in a lock file. Only true while the lock is held."""
    with suppress(OSError, ValueError):
        return int(read_regular(path, _LONGEST))
    return None


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        # A pipe without a writer would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
