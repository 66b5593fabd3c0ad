"""How a command finds the daemon; the first one that needs it starts it."""

import shlex
from typing import TYPE_CHECKING

from perpetualcc import config
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.patience import said_if_long

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client


def locations(options: GlobalOptions) -> config.Locations:
    return config.locate(options.data_dir)


def other_environment(options: GlobalOptions) -> str:
    """What of this terminal's environment a running daemon does not know; empty: nothing."""
    from perpetualcc.daemon.state import steered_otherwise  # noqa: PLC0415  # not for --help

    names = steered_otherwise(locations(options), config.steering())
    if not names:
        return ""
    chosen = ""
    if options.config is not None:
        names = ["--config" if one == config.CONFIG_VARIABLE else one for one in names]
        chosen = f" --config {shlex.quote(str(options.config))}"
    return (
        f"The daemon was started without your {', '.join(names)}, or with another value;"
        f" to take it over: pcc{chosen} daemon restart"
    )


def connect(options: GlobalOptions, *, outwait: bool = True) -> "Client":
    """
    A client of the running engine. Raises PerpetualError with what to do.

    A daemon that stops is waited for and another one started, unless `outwait` is false: who
    watches does not undo what another terminal asked for.
    """
    from perpetualcc.daemon.launch import connect as reach  # noqa: PLC0415  # not for --help

    # A mistake in the file is better told here than by an engine that does not start.
    config.check_config()
    with said_if_long("Waiting for the daemon"):
        return reach(locations(options), flags=config.supervisor_flags(), outwait=outwait)
