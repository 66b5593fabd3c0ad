"""How a command finds the daemon; the first one that needs it starts it."""

import shlex
import sys
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING

from perpetualcc import config
from perpetualcc.cli.look import tell
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.patience import said_if_long
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.version import code_version

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client


def restart_command(options: GlobalOptions) -> str:
    return as_here(options, "daemon restart")


def as_here(options: GlobalOptions, words: str) -> str:
    """A command for a person to type, for the same daemon and file as the one that was typed."""
    chosen = {"--config": options.config, "--data-dir": options.data_dir}
    flags = (f" {name} {shlex.quote(str(path))}" for name, path in chosen.items() if path)
    return f"pcc{''.join(flags)} {words}"


def connect(
    options: GlobalOptions, *, outwait: bool = True, undo_stop: bool = True, is_work: bool = False
) -> "Client":
    """
    A client of the running engine. Raises PerpetualError with what to do.

    A daemon that stops is waited for (unless `outwait` is false) and another one started; without
    `undo_stop` not by this command: who watches does not undo what another terminal asked for.
    One that is started for a look begins no work that a person stopped; `is_work`: it will.
    A mistake in the settings keeps nobody from an engine that works: a person must be able to stop
    it, and to answer.
    """
    from perpetualcc.daemon.launch import connect as reach
    from perpetualcc.daemon.state import is_work_stopped

    _check_config(options)
    with said_if_long("Waiting for the daemon"):
        daemon = reach(
            options.locations,
            flags=config.supervisor_flags(),
            outwait=outwait,
            undo_stop=undo_stop,
        )
    if daemon.server_version != code_version():
        _beware(restart_command(options))
    if not is_work and is_work_stopped(options.locations):
        start = as_here(options, "daemon start")
        _tell(f"The daemon was stopped, and begins no work until: {start}")
    return daemon


def _check_config(options: GlobalOptions) -> None:
    """A mistake in the file is better told here than by an engine that does not start."""
    from perpetualcc.daemon.state import Phase, read_status

    try:
        config.check_config()
    except PerpetualError as mistake:
        if read_status(options.locations).phase is not Phase.RUNNING:
            raise
        _tell(f"{mistake}; the daemon works with what the settings were", mistake.hint or "")


@cache
def _tell(note: str, hint: str = "") -> None:
    tell(f"note: {note}")
    if hint:
        tell(f"hint:  {hint}")


@cache
def _beware(restart: str) -> None:
    """The daemon is from before an upgrade, or after one: most is understood, some is not."""
    tell(f"note: The daemon runs another version than this command: {restart}")

    def misunderstood(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if not issubclass(kind, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        what = f"The daemon's answer is not understood ({kind.__name__}: {error})"
        print(f"error: {what}\nhint:  {restart}", file=sys.stderr)

    sys.excepthook = misunderstood
