"""`pcc dashboard`: a page in the browser, as long as the command runs."""

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from html import escape
from pathlib import Path
from threading import Thread
from typing import Annotated, NamedTuple

import typer

from perpetualcc import config
from perpetualcc.cli.connection import connect
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.daemon.state import hold
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.private_files import write_whole
from perpetualcc.domain.version import code_version

app = typer.Typer(rich_markup_mode=None)

_PORT = 8420
"""Seed 003, NFR-4."""
_PATIENCE = 5.0
"""Seconds for the engine to answer; the page asks again."""


@app.command()
def dashboard(
    ctx: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help=f"This port and no other [default: {_PORT}, or a free one]",
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the link, for a browser of yours")
    ] = False,
    for_devices: Annotated[
        bool,
        typer.Option(
            "--for-devices", help="Print no link at all: for a service that paired devices use"
        ),
    ] = False,
) -> None:
    """
    See and steer your sessions in a browser on this machine, until Ctrl+C.

    The printed link works once; when it was used, a fresh one is printed. For another machine's
    browser: ssh -o ExitOnForwardFailure=yes -L 8420:127.0.0.1:8420 HOST, and open the link there.
    For a phone, see `pcc devices pair --help` and dashboard.address.

    Example: pcc dashboard --no-browser
    """
    no_run_of_ours(ctx.obj, "may open the dashboard")
    address = _address()
    if for_devices and not address:
        raise PerpetualError(
            "The dashboard has no address for devices", hint="pcc devices pair --help"
        )
    connect(ctx.obj).close()  # it starts what does not run, and says what is wrong
    # A proxy knows one port.
    with closing(_listener(port or (_PORT if for_devices else None))) as listener:
        if address and listener.getsockname()[1] != (port or _PORT):
            print("Paired devices do not reach it there: their proxy knows one port.",
                  file=sys.stderr)  # fmt: skip
            address = ""  # whoever has that port could pass on what devices say
        with _known_to_devices(ctx.obj, listener) if address else nullcontext():
            asyncio.run(_serve(ctx.obj, listener, address, _Manner(for_devices, not no_browser)))


def _address() -> str:
    from perpetualcc.config.file import load_config

    return load_config().dashboard.address


def _listener(port: int | None) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port or _PORT))
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            print(f"Port {_PORT} is taken; this is another one.", file=sys.stderr)
            return socket.create_server(("127.0.0.1", 0))
        raise PerpetualError(
            f"Port {port or _PORT} cannot be used: {error.strerror}",
            hint="Name another one, or none: pcc dashboard",
        ) from None


@contextmanager
def _known_to_devices(options: GlobalOptions, listener: socket.socket) -> Iterator[None]:
    """So that no link for a device is made while somebody else could have the port."""
    lock = None
    with suppress(OSError):  # then none is made, and that is said there
        lock = hold(options.locations.dashboard_lock(listener.getsockname()[1]), wait=1.0)
        if lock is not None:
            os.ftruncate(lock, 0)
            os.write(lock, code_version().encode())
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


class _Manner(NamedTuple):
    is_for_devices: bool
    opens: bool


async def _serve(
    options: GlobalOptions, listener: socket.socket, address: str, manner: _Manner
) -> None:
    from perpetualcc.cli.page_words import PageWords
    from perpetualcc.gateway.dashboard.bridge import Bridge

    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    door = options.locations.run_dir / f"dashboard-{os.getpid()}.html"

    def used() -> None:
        door.unlink(missing_ok=True)
        _say(f"Opened. For another browser: {bridge.link}")

    port = listener.getsockname()[1]
    bridge = Bridge(
        port=port, reach=lambda: _reach(options), words=PageWords, used=used, address=address
    )
    if not manner.is_for_devices:
        _say(f"Dashboard: {bridge.link}")
        _say(
            "The link works once, on this machine. Ctrl+C to end; sessions go on in the background."
        )
    if address:
        _say(f"For paired devices: {address} (by way of 127.0.0.1:{port})")
    if manner.opens and not manner.is_for_devices:
        _open(bridge.link, door)
    try:
        await bridge.serve(listener, over)
    finally:
        door.unlink(missing_ok=True)


def _say(words: str) -> None:
    try:
        print(words, flush=True)
    except OSError:  # the terminal is gone, and the signal that says so is on its way
        signal.raise_signal(signal.SIGTERM)


def _reach(options: GlobalOptions) -> socket.socket:
    """Never starts a daemon: somebody who stopped it is not to be undone by a page."""
    from perpetualcc.daemon.launch import connect as reach

    return reach(options.locations, start=False, patience=_PATIENCE).detached()


def _open(link: str, door: Path) -> None:
    """
    By way of a file of one's own, as Jupyter does: other users see what a program is started with.
    """
    import webbrowser

    variables = config.environment()
    if sys.platform != "darwin" and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(variables):
        return  # what would open then is a text browser, in this terminal
    link = escape(link)
    goes_on = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={link}">'
    write_whole(door, f'<!doctype html>{goes_on}<a href="{link}">PerpetualCC</a>\n')
    # Some browsers are waited for until they are closed: that must not hold up the end.
    Thread(target=webbrowser.open, args=[door.as_uri()], daemon=True).start()
