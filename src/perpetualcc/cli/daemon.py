"""`pcc daemon …`: look at the background process, start it, stop it, keep it."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perpetualcc import config
from perpetualcc.cli.awake import awake_data, awake_lines
from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import print_json, printable, tell
from perpetualcc.cli.options import DryRunOption, FollowOption, Group, JsonOption
from perpetualcc.cli.patience import said_if_long
from perpetualcc.cli.takeover import lacking_here, tell_what_is_not_taken_over
from perpetualcc.daemon.disk import DiskSpace, DiskUse, Room, disk_space, disk_use, remedy
from perpetualcc.daemon.frozen import frozen, thaw
from perpetualcc.daemon.state import (
    DaemonStatus,
    Phase,
    has_lost_its_socket,
    is_work_stopped,
    note_stop,
    read_status,
    set_otherwise,
)
from perpetualcc.daemon.supervisor_log import tail
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.times import clock, duration, moment
from perpetualcc.domain.version import code_version

if TYPE_CHECKING:
    from perpetualcc.human.notifications.standing import Standstill

app = typer.Typer(
    help="The background process: start, stop, look, keep it after login.",
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
)

_USUAL_GRACE = 30
"""Seconds that `EngineCommand.grace` gives."""
GraceOption = Annotated[
    float | None,
    typer.Option(help="Seconds to finish what is in progress [default: 30]", min=0),
]


@app.command()
def start(ctx: typer.Context) -> None:
    """
    Start the daemon; also one that gave up.

    Example: pcc daemon start
    """
    from perpetualcc.daemon import halt

    locations: Locations = ctx.obj.locations
    if read_status(locations).phase is Phase.GAVE_UP:
        config.check_config()  # it tries again by itself once the file is another
        with said_if_long("Ending the one that gave up"):
            halt.stop(locations)
    _start(ctx)


@app.command()
def stop(
    ctx: typer.Context,
    now: Annotated[
        bool, typer.Option("--now", help="The kill switch: nothing of ours is left in 5 seconds")
    ] = False,
    grace: GraceOption = None,
) -> None:
    """
    Stop the daemon. Everything stays resumable.

    Its work stands still until `pcc daemon start`, or until you ask for work (pcc start, add,
    resume). Commands that look begin none.

    Example: pcc daemon stop --grace 120
    """
    from perpetualcc.daemon import halt

    if now and grace is not None:
        raise typer.BadParameter("--now gives no grace")
    locations: Locations = ctx.obj.locations
    note_stop(locations)
    with said_if_long("Stopping at once" if now else _stopping(grace)):
        ran = halt.stop_now(locations) if now else halt.stop(locations, grace=grace)
    print("The daemon has stopped" if ran else "The daemon does not run")


@app.command()
def restart(ctx: typer.Context, grace: GraceOption = None) -> None:
    """
    Stop the daemon and start it with this version.

    Example: pcc daemon restart
    """
    from perpetualcc.daemon import halt
    from perpetualcc.store.inspection import refuse_newer

    # A daemon that could not start again is not stopped.
    config.check_config()
    refuse_newer(ctx.obj.locations.database)
    lost = ", ".join(lacking_here(ctx.obj))
    with said_if_long(_stopping(grace)):
        ran = halt.stop(ctx.obj.locations, grace=grace)
    _start(ctx, "was started anew" if ran else "runs")
    if ran and lost:
        gone = f"It had {lost}, which this terminal has not, and has it no more"
        tell(f"note: {gone}")


@app.command()
def status(
    ctx: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """
    Show what the daemon does, without waking it.

    Example: pcc daemon status --json
    """
    locations: Locations = ctx.obj.locations
    found, space = read_status(locations), disk_space(locations.data)
    used, silent = disk_use(locations.data), _unreached(locations)
    if as_json:
        disk = asdict(space) | {"room": space.room} if space else None
        where: dict[str, object] = {"data_dir": str(locations.data), "used": used.parts}
        where["work_stopped"] = is_work_stopped(locations)
        where["awake"] = awake_data(locations)
        where |= {"disk": disk, "unreached": [asdict(one) for one in silent]}
        print_json(asdict(found) | where)
        return
    for label, value in (*_described(found, locations, space, used), *_silence(silent)):
        print(f"{label:<11} {printable(value)}")


@app.command()
def logs(
    ctx: typer.Context,
    follow: FollowOption = False,
    lines: Annotated[int, typer.Option("--tail", help="Show the last N lines", min=0)] = 50,
) -> None:
    """
    Show what the supervisor and the engine wrote.

    Example: pcc daemon logs --follow
    """
    locations: Locations = ctx.obj.locations
    files = [locations.supervisor_log, locations.engine_log]
    positions = {file: file.stat().st_size if file.exists() else 0 for file in files}
    for line in _merged(files, lines):
        print(printable(line))
    while follow:
        for line in _added(positions):
            print(printable(line), flush=True)
        time.sleep(0.3)


@app.command()
def install(ctx: typer.Context, dry_run: DryRunOption = False) -> None:
    """
    Start the daemon at every login: a systemd user unit or a launchd agent.

    Example: pcc daemon install --dry-run
    """
    from perpetualcc.cli.services import install_service
    from perpetualcc.daemon.units import Service

    config.check_config()
    install_service(ctx, Service.DAEMON, dry_run=dry_run)


@app.command()
def uninstall(ctx: typer.Context, dry_run: DryRunOption = False) -> None:
    """
    Undo `install`.

    Example: pcc daemon uninstall
    """
    from perpetualcc.cli.services import uninstall_service
    from perpetualcc.daemon.units import Service

    uninstall_service(ctx, Service.DAEMON, dry_run=dry_run)


def _stopping(grace: float | None) -> str:
    seconds = _USUAL_GRACE if grace is None else grace
    return (
        f"Stopping; what is at work gets up to {duration(seconds)} to finish its step"
        " (from another terminal, at once: pcc daemon stop --now)"
    )


def _start(ctx: typer.Context, does: str = "runs") -> None:
    with connect(ctx.obj, outwait=False, is_work=True) as daemon:
        if is_work_stopped(ctx.obj.locations):
            daemon.call("daemon.go_on")
        found = read_status(ctx.obj.locations)
    print(f"The daemon {does} (supervisor {found.supervisor}, engine {found.engine})")
    tell_what_is_not_taken_over(ctx.obj)


def _described(
    found: DaemonStatus, locations: Locations, space: DiskSpace | None, used: DiskUse
) -> Iterator[tuple[str, str]]:
    since = f" since {clock(found.since)}" if found.since else ""
    yield "Daemon", f"{found.phase}{since}"
    if found.phase is Phase.ASLEEP:
        yield "Wakes", "for a visitor" + (f" or {moment(found.wake)}" if found.wake else "")
    if found.supervisor:
        yield "Supervisor", str(found.supervisor)
    if found.engine:
        yield "Engine", str(found.engine)
    if has_lost_its_socket(locations, found):
        yield "Socket", "removed, so that no command reaches it: pcc daemon restart"
    yield from awake_lines(locations)
    if is_work_stopped(locations):
        yield "Work", "was stopped; to go on: pcc daemon start"
    yield from _troubles(found)
    if found.version and found.version != code_version():
        yield "Version", f"{found.version}; this command is {code_version()}: pcc daemon restart"
    if found.phase is not Phase.GAVE_UP:  # perhaps for a mistake in them
        yield from _settings(locations)
    yield "Data", f"{locations.data} ({used.described()})" if used.total else str(locations.data)
    if space and space.room is not Room.ENOUGH:
        yield "Disk", space.described()
        yield "Mend it", remedy(space, locations.data)


def _settings(locations: Locations) -> Iterator[tuple[str, str]]:
    try:
        if set_otherwise(locations, config.settings_digests()):
            yield "Settings", "other than the configuration says now: pcc daemon restart"
    except PerpetualError as mistake:
        yield "Settings", f"{mistake}; the daemon cannot start with them"
        if mistake.hint:
            yield "Mend it", mistake.hint


def _unreached(locations: Locations) -> "list[Standstill]":
    from perpetualcc.cli.unreached import unreached  # start and stop do without

    with suppress(PerpetualError):  # a mistake in the settings is told by what needs them
        return unreached(locations)
    return []


def _silence(silent: "list[Standstill]") -> Iterator[tuple[str, str]]:
    from perpetualcc.cli.unreached import REMEDY, described  # see above

    for one in silent:
        yield "Channel", described(one)
        yield "Mend it", REMEDY


def _troubles(found: DaemonStatus) -> Iterator[tuple[str, str]]:
    if stopped := frozen(found):
        yield "Stopped", f"by a signal, and does nothing until: {thaw(stopped)}"
    if found.phase is Phase.RUNNING and found.problem:
        often = f" ({found.crashes} times in a row)" if found.crashes > 1 else ""
        yield "Restarted", f"{clock(found.since)}{often}: {found.problem}"
        return
    if found.crashes or found.phase is Phase.GAVE_UP:
        yield "Crashes", f"{found.crashes} in a row"
    if found.problem:
        yield "Problem", found.problem
    if found.phase is Phase.GAVE_UP:
        yield "Try again", "pcc daemon restart"


def _merged(files: list[Path], lines: int) -> list[str]:
    """The last lines of all files, in the order of their stamps; a traceback stays whole."""
    stamped = []
    for file in files:
        stamp = ""
        for line in tail(file, lines):
            stamp = line.split(" ", 1)[0] if line[:2] == "20" else stamp
            stamped.append((stamp, line))
    in_order = [line for _, line in sorted(stamped, key=lambda pair: pair[0])]
    return in_order[max(0, len(in_order) - lines) :]


def _added(positions: dict[Path, int]) -> Iterator[str]:
    """Lines that were written since the last look; a file that shrank was rotated."""
    for path, position in positions.items():
        size = path.stat().st_size if path.exists() else 0
        if size == position:
            continue
        with suppress(OSError), open_regular(path) as file:
            file.seek(position if size > position else 0)
            yield from file.read().decode(errors="replace").splitlines()
            positions[path] = file.tell()
