"""`pcc devices`: which browsers elsewhere may look at the dashboard, answer there, or work."""

import shlex
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, table
from perpetualcc.cli.options import DryRunOption, JsonOption, ListingGroup
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.daemon.state import is_held
from perpetualcc.domain.devices import Scope
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.installing import pip_install
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.times import duration, moment, seen
from perpetualcc.domain.version import code_version

app = typer.Typer(
    help="Phones and other browsers that may open your dashboard; alone it lists them.",
    cls=ListingGroup,
    add_completion=False,
    rich_markup_mode=None,
)

_LOOK_AGAIN = 1.0
"""Seconds."""


@app.command()
def pair(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What you call it, such as 'my phone'")],
    may: Annotated[
        str,
        typer.Option(
            help="look, answer (look, and answer what waits), or work (answer, and add tasks,"
            " pause, resume)",
            autocompletion=completion.one_of(*Scope),
        ),
    ] = Scope.ANSWER.value,
    as_json: JsonOption = False,
) -> None:
    """
    Let one browser elsewhere open the dashboard: show a link for it, as a QR code too.

    The link pairs one browser, within ten minutes, while a dashboard of yours runs. It waits until
    that has happened.

    Example: pcc devices pair "my phone" --may work
    """
    if may not in set(Scope):
        raise Mistyped(f"--may cannot be {may!r}", hint=f"It is {', '.join(Scope)}")
    address = _address()
    no_run_of_ours(ctx.obj, "may pair a device")
    places = ctx.obj.locations
    with connect(ctx.obj) as daemon:
        _check_dashboard(places)
        invited = daemon.call("device.invite", name=name, scope=may)
        link = f"{address}/#{invited['code']}"
        if as_json:
            told = {name: invited[name] for name in ("name", "expires_at")}
            print_json({**told, "link": link})
            return
        _show(link)
        print(f"It works once, until {moment(invited['expires_at'])}; it may {may}.")
        words = "If the dashboard here ends meanwhile, the link is taken back."
        print(words, flush=True)  # a pipe is to hear of it before the wait
        _wait(daemon, invited, places)


def _address() -> str:
    from perpetualcc.config.file import load_config

    address = load_config().dashboard.address
    if not address:
        raise PerpetualError(
            "The dashboard has no address for other machines yet",
            hint="Name the one that a proxy with https passes on to port 8420 here:"
            " pcc config set dashboard.address https://box.example.ts.net",
        )
    return address


def _show(link: str) -> None:
    if sys.stdout.isatty():
        try:
            import segno  # an extra

            segno.make(link, micro=False).terminal(compact=True)
        except ImportError:
            print(f"For a QR code of it: {pip_install('perpetualcc[remote]')}", file=sys.stderr)
    print(link)


def _check_dashboard(places: Locations) -> None:
    """Raises PerpetualError where none runs that a device could use."""
    versions = list(_served(places))
    if not versions:
        raise PerpetualError(
            "No dashboard of yours runs for devices, so the link could open a stranger's page",
            hint="Keep one there: pcc devices install; or in another terminal: pcc dashboard."
            " One that began before dashboard.address was set does not count: end it, and start"
            " it anew",
        )
    if code_version() not in versions:
        raise PerpetualError(
            f"The dashboard that runs is of another version ({versions[0] or 'an older one'}) than"
            f" this command ({code_version()})",
            hint="End it, and start it anew: pcc dashboard; one that is there at every login:"
            " pcc devices uninstall, then pcc devices install",
        )


def _served(places: Locations) -> Iterator[str]:
    """
    The versions of the dashboards that devices come by; empty: it does not say. Where there is one
    a proxy's port is ours: any user of the machine can take one that is free.
    """
    for one in places.run_dir.glob(places.dashboard_lock("*").name):
        if is_held(one):
            yield one.read_text("utf-8", "replace")[:80]


def _is_served(places: Locations) -> bool:
    return any(True for _ in _served(places))


def _wait(daemon: Any, invited: dict[str, Any], places: Locations) -> None:
    name = invited["name"]
    while time.time() < invited["expires_at"]:
        found = next((one for one in daemon.call("device.list") if one["name"] == name), None)
        if found is None:
            raise PerpetualError(f"The invitation of {name!r} was taken back")
        if found["is_paired"]:
            print(f"Paired: {name}")
            return
        if not _is_served(places):
            daemon.call("device.revoke", name=name)
            raise PerpetualError(
                "The dashboard ended before the link was used, and the link was taken back",
                hint=f"pcc dashboard, then: pcc devices pair {shlex.quote(name)}",
            )
        time.sleep(_LOOK_AGAIN)
    raise PerpetualError(
        f"Nobody used the link of {name!r} in time",
        hint=f"Make a fresh one: pcc devices pair {shlex.quote(name)}",
    )


@app.command("list")
def list_devices(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """
    List the devices, what each may do, and when it was last here.

    Example: pcc devices list
    """
    with connect(ctx.obj) as daemon:
        devices = daemon.call("device.list")
    if as_json:
        print_json(devices)
    elif not devices:
        print('No devices yet. Pair one with: pcc devices pair "my phone"')
    else:
        rows = [[one["name"], one["scope"], _seen(one)] for one in devices]
        print(table(["Device", "May", "Last seen"], rows))


def _seen(device: dict[str, Any]) -> str:
    if not device["is_paired"]:
        return f"invited, {duration(device['expires_at'] - time.time())} left"
    return "now" if device["connections"] else seen(device["seen_at"])


@app.command()
def revoke(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(help="As `pcc devices list` shows it", autocompletion=completion.devices),
    ],
) -> None:
    """
    Let a device in no longer, at once; a page that it has open is hung up on.

    Example: pcc devices revoke "my phone"
    """
    with connect(ctx.obj) as daemon:
        found = daemon.call("device.revoke", name=name)
    if not found:
        raise PerpetualError(f"No device is called {name!r}", hint="See them: pcc devices list")
    print(f"Revoked: {name}")


@app.command()
def install(ctx: typer.Context, dry_run: DryRunOption = False) -> None:
    """
    Have the dashboard there for them at every login: a systemd user unit or a launchd agent.

    Example: pcc devices install --dry-run
    """
    from perpetualcc.cli.services import install_service
    from perpetualcc.daemon.units import Service

    _address()
    install_service(ctx, Service.DASHBOARD, dry_run=dry_run)


@app.command()
def uninstall(ctx: typer.Context, dry_run: DryRunOption = False) -> None:
    """
    Undo `install`. Devices stay paired.

    Example: pcc devices uninstall
    """
    from perpetualcc.cli.services import uninstall_service
    from perpetualcc.daemon.units import Service

    uninstall_service(ctx, Service.DASHBOARD, dry_run=dry_run)
