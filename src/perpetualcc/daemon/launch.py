"""How a command reaches the engine: connect, start a supervisor when none lives, or say why not."""

import os
import pwd
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from perpetualcc.config import environment
from perpetualcc.daemon.frozen import frozen, thaw
from perpetualcc.daemon.state import (
    DaemonStatus,
    Phase,
    has_lost_its_socket,
    is_held,
    read_status,
    was_stopped,
)
from perpetualcc.daemon.surroundings import for_a_daemon
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.version import code_version
from perpetualcc.gateway.client import Client, ConnectionLost

DETACH = "--detach"
"""The supervisor's word for going on in the background: what a command starts has it."""
PATIENCE = 20.0
"""Seconds within which a daemon must answer: a cold start takes one or two."""
_LONGEST_STOP = 600.0
"""Seconds: a longer grace is somebody's wish, and no command waits for it."""
_RESTARTS_WITHIN = 5.0
"""Seconds after a stop in which the next daemon is there, where it was a restart."""
_ASK_AGAIN = 1.0
"""Seconds after which a silent engine's supervisor is looked at again."""
_ALONE_FOR = 1.0
"""Seconds after which a daemon without its socket is not one that changes places with another."""
_FROZEN_FOR = 3.0
"""Seconds after which a supervisor that a signal stopped is not waited for: it does not wake."""


class DaemonUnavailable(PerpetualError):  # noqa: N818  # named for what happened
    """No engine answers, and the hint says what to type."""


def connect(
    locations: Locations,
    *,
    start: bool = True,
    flags: Sequence[str] = (),
    patience: float = PATIENCE,
    outwait: bool = False,
    undo_stop: bool = True,
) -> Client:
    """
    A client that is connected to the engine; both are started when they do not run.

    `flags` are extra ones for a supervisor that this call starts. With `outwait` a daemon that
    is about to stop is waited for, and another one started; without `undo_stop` by somebody else
    only, as a restart does.

    Raises:
        DaemonUnavailable: it does not run and `start` is false, it gave up, it was stopped or is
            about to, or nobody answered for `patience` seconds.
    """
    locations.prepare()
    begun = time.monotonic()
    deadline = begun + patience
    restarted_by = time.monotonic() + _RESTARTS_WITHIN
    pause = 0.01
    while (left := deadline - time.monotonic()) > 0:
        # First the lock: an engine whose supervisor was killed still answers, but not for long.
        if is_held(locations.supervisor_lock):
            restarted_by = time.monotonic() + _RESTARTS_WITHIN
        elif undo_stop or not was_stopped(locations):
            _launch_if(start, locations, flags)
        elif time.monotonic() >= restarted_by:
            raise _stopped()
        try:
            return Client.open(locations.socket, timeout=min(left, _ASK_AGAIN))
        except (ConnectionLost, OSError):
            status = read_status(locations)
            _raise_if_hopeless(status, locations)
            waited = time.monotonic() - begun
            if waited > _ALONE_FOR:
                _raise_if_out_of_reach(locations, status)
            # A stopped engine is ended by its supervisor.
            if waited > _FROZEN_FOR and status.supervisor in frozen(status):
                break
            if status.phase is Phase.STOPPING:
                if not outwait or time.time() > status.since + _LONGEST_STOP:
                    raise _stopping() from None
                deadline = time.monotonic() + patience
        time.sleep(pause)
        pause = min(0.2, pause * 2)
    raise _no_answer(locations, patience)


def _launch_if(start: bool, locations: Locations, flags: Sequence[str]) -> None:
    if not start:
        raise DaemonUnavailable("The daemon does not run", hint="Start it: pcc daemon start")
    launch(locations, flags)


def launch(locations: Locations, flags: Sequence[str] = ()) -> None:
    """
    Start a supervisor that outlives this process. Harmless when one lives already.

    Raises:
        DaemonUnavailable: it could not start; the message is its own.
    """
    command = [
        *(sys.executable, "-P", "-m", "perpetualcc.daemon.supervisor"),
        *("--data-dir", str(locations.data), DETACH, *flags),
    ]
    # Its parent process leaves when the socket listens, so this waits for exactly that.
    try:
        started = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env=for_a_daemon(environment(), locations.programs),
        )  # fmt: skip
    except OSError as error:  # no memory, no more processes, a Python that is not ours to run
        raise DaemonUnavailable(
            f"The supervisor does not start: {error.strerror}",
            hint=f"Once the system lets you, try it: {shlex.join(command)}",
        ) from error
    if started.returncode:
        lines = started.stderr.strip().splitlines() or ["no message"]
        told = dict(one.split(": ", 1) for one in lines if one.startswith(("error: ", "hint: ")))
        raise DaemonUnavailable(
            f"The supervisor does not start: {told.get('error', lines[-1])}",
            hint=told.get("hint", f"Try it: {shlex.join(command)}").strip(),
        )


def _raise_if_hopeless(status: DaemonStatus, locations: Locations) -> None:
    if status.phase is Phase.RESTARTING and status.crashes > 1:
        from perpetualcc.daemon.disk import remedy, spent_disk  # noqa: PLC0415  # seldom wanted

        if space := spent_disk(locations.data):
            raise DaemonUnavailable(
                f"The daemon cannot work: the disk is {space.described()}",
                hint=f"{remedy(space, locations.data)}; the daemon goes on by itself then",
            )
    if status.phase is Phase.GAVE_UP:
        tries = f" after {status.crashes} crashes in a row" if status.crashes > 1 else ""
        is_another = bool(status.version) and status.version != code_version()
        raise DaemonUnavailable(
            f"The daemon gave up{tries}: {status.problem}",
            hint="It runs another version than this command: pcc daemon restart"
            if is_another
            else "Once that is mended: pcc daemon restart (more is in: pcc daemon logs)",
        )


def _raise_if_out_of_reach(locations: Locations, status: DaemonStatus) -> None:
    if has_lost_its_socket(locations, status):
        raise DaemonUnavailable(
            f"The daemon cannot be reached: its socket '{locations.socket}' was removed",
            hint="Nothing of its work is lost: pcc daemon restart",
        )
    with suppress(OSError):  # it is about to be there
        if (owner := locations.socket.stat().st_uid) != os.getuid():
            raise _anothers(owner)


def _anothers(owner: int) -> DaemonUnavailable:
    """Whoever is root may open anybody's socket; the engine hangs up on them."""
    try:
        name = pwd.getpwuid(owner).pw_name
    except KeyError:  # a container's user without a name
        name = str(owner)
    return DaemonUnavailable(
        f"The daemon here is another user's ({name}), and answers nobody else",
        hint=f"Be {name} for this command, or have a daemon of your own with --data-dir",
    )


def _stopping() -> DaemonUnavailable:
    return DaemonUnavailable(
        "The daemon is stopping", hint="Try again soon, or end it: pcc daemon stop --now"
    )


def _stopped() -> DaemonUnavailable:
    return DaemonUnavailable(
        "The daemon was stopped", hint="To go on with what it left: pcc daemon start"
    )


def _no_answer(locations: Locations, patience: float) -> DaemonUnavailable:
    from perpetualcc.daemon.supervisor_log import tail  # noqa: PLC0415  # seldom wanted

    if stopped := frozen(read_status(locations)):
        return DaemonUnavailable(
            "The daemon does not answer: a signal stopped it",
            hint=f"Let it go on: {thaw(stopped)} ; or end it: pcc daemon stop --now",
        )
    last = "\n".join(f"  {line}" for line in tail(locations.supervisor_log, 5))
    words = f". Its last words:\n{last}" if last else ", and left no word"
    return DaemonUnavailable(
        f"The daemon does not answer within {patience:.0f} seconds{words}",
        hint="See `pcc daemon status` and `pcc daemon logs`, or: pcc daemon restart",
    )
