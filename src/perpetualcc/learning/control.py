"""Stopping and starting the worker by hand, as `pcc learn stop` and `restart` do."""

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.learning.places import Places

DISK_SPENT = 75
"""Exit code of a worker that had no room to write what it learned (EX_TEMPFAIL)."""
_STOP_SECONDS = 5.0


class WorkerWillNotStop(PerpetualError):  # noqa: N818  # says what happened
    """It was asked, and is still there."""

    def __init__(self, pid: int) -> None:
        super().__init__(
            f"The worker (PID {pid}) does not stop", hint="Use `pcc learn restart --force`"
        )


def running_pid(places: Places) -> int | None:
    """The process that holds the worker's lock; a pid in a file alone proves nothing."""
    try:
        descriptor = os.open(places.lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # Shared: two who ask at once must not take each other for the worker that was there last.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        return int(text) if text.isdigit() else None
    finally:
        os.close(descriptor)
    return None


def stop(places: Places, *, force: bool, say: Callable[[str], None]) -> None:
    """End the running worker, if there is one. Raises `WorkerWillNotStop`."""
    pid = running_pid(places)
    if pid is None:
        return
    say(f"Stopping worker (PID {pid})...")
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL if force else signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while running_pid(places) == pid:
        if time.monotonic() > deadline:
            raise WorkerWillNotStop(pid)
        time.sleep(0.05)
    say("Force killed" if force else "Worker stopped")


def stop_for_good(places: Places, *, say: Callable[[str], None]) -> bool:
    """
    End the worker, and let no engine start another until `start`. False when none ran.

    One that does not end by itself in time is killed: it may be, at any instruction.
    """
    if places.home.is_dir():
        places.stopped.touch(mode=0o600)
    is_running = running_pid(places) is not None
    try:
        stop(places, force=False, say=say)
    except WorkerWillNotStop:
        stop(places, force=True, say=say)
    return is_running


def start(
    places: Places,
    command: Sequence[str],
    *,
    say: Callable[[str], None],
    mark: Mapping[str, str] | None = None,
) -> int | None:
    """
    Start a worker of its own with `command`, and wait until it holds the lock. None: it did not.

    `mark`: environment variables by which the kill switch finds it.
    """
    places.make()
    places.stopped.unlink(missing_ok=True)
    say("Starting worker...")
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env={**os.environ, **(mark or {})},
    )  # fmt: skip
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline and running_pid(places) is None and child.poll() is None:
        time.sleep(0.05)
    pid = running_pid(places)
    child.returncode = 0  # it outlives us: nobody here waits for it
    say(f"Worker started (PID {pid})" if pid else "The worker did not start: see pcc learn logs")
    return pid
