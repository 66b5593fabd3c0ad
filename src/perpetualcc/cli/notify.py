"""`pcc notify test`, `pcc notify digest`: see whether what is sent arrives."""

import time
from typing import Any

import typer

from perpetualcc import config
from perpetualcc.cli.connection import connect, restart_command
from perpetualcc.cli.look import coloured, fit, print_json
from perpetualcc.cli.options import GlobalOptions, Group, JsonOption
from perpetualcc.cli.takeover import take_over
from perpetualcc.config.file import load_config
from perpetualcc.daemon.state import set_otherwise, steered_otherwise
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(
    help="Send a test, or the day's digest, to every channel.",
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
)

_COLOURS = {"sent": "green", "failed": "red", "moot": "dim"}
_PATIENCE = 40.0
"""Seconds: longer than a sender may take."""


@app.command("test")
def send_test(
    ctx: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """
    Send a test through every channel, and wait for the receipts.

    It tries what the settings say now, and is refused while the daemon works with older ones.

    Example: pcc notify test
    """
    _send(ctx.obj, as_json=as_json)


@app.command("digest")
def send_digest(
    ctx: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """
    Send what the day's digest would say of the last 24 hours, now, and wait for the receipts.

    By itself it is sent once a day at `notifications.digest`.

    Example: pcc notify digest
    """
    _send(ctx.obj, as_json=as_json, digest=True)


def _send(options: GlobalOptions, *, as_json: bool, digest: bool = False) -> None:
    take_over(options)
    with connect(options) as daemon:
        settings = load_config().notifications
        _refuse_older(options, settings.urls)
        channels = daemon.call("notification.test", **({"digest": True} if digest else {}))
        if not channels and not settings.enabled:
            raise PerpetualError(
                "Nothing is sent to anybody: notifications.enabled is off",
                hint="pcc config set notifications.enabled true, then: pcc daemon restart",
            )
        if not channels:
            raise PerpetualError(
                "There is no channel: no desktop here, and no notifications.urls",
                hint="pcc config set notifications.urls mailto://user:password@example.org",
            )
        receipts = _wait(daemon, len(channels))
    if as_json:
        print_json(receipts)
    for one in [] if as_json else receipts:
        state = coloured(one["state"], _COLOURS.get(one["state"], "yellow"))
        reason = f": {fit(one['problem'], 200)}" if one["problem"] else ""
        print(f"{one['channel']}  {state}{reason}")
    if any(one["state"] != "sent" for one in receipts):
        raise typer.Exit(1)


def _refuse_older(options: GlobalOptions, urls: tuple[str, ...]) -> None:
    """Raises PerpetualError: what would be tried is not what the settings say now."""
    places = options.locations
    named = {url.removeprefix("env:") for url in urls if url.startswith("env:")}
    if "notifications" in set_otherwise(places, config.settings_digests()):
        raise PerpetualError(
            "The notifications were set otherwise since the daemon read the settings",
            hint=f"It reads them when it starts: {restart_command(options)}",
        )
    if others := named.intersection(steered_otherwise(places, config.steering())):
        raise PerpetualError(
            f"The daemon was started without your {', '.join(sorted(others))}, or with another"
            " value",
            hint=f"To take it over: {restart_command(options)}",
        )


def _wait(daemon: Any, count: int) -> list[dict[str, Any]]:
    deadline = time.monotonic() + _PATIENCE
    while True:
        newest = daemon.call("notification.list", limit=200)
        tests: list[dict[str, Any]] = [one for one in newest if one["kind"] == "test"][:count]
        is_over = all(one["state"] not in {"queued", "sending"} for one in tests)
        if is_over or time.monotonic() > deadline:
            return sorted(tests, key=lambda one: str(one["channel"]))
        time.sleep(0.1)


@app.callback()
def _group() -> None:
    """Send a test, or the day's digest, to every channel."""
