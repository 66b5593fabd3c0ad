"""What a terminal has and the running daemon has not: told, or taken over where nobody minds."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress

from perpetualcc import config
from perpetualcc.cli.connection import connect, restart_command
from perpetualcc.cli.look import tell
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.patience import said_if_long
from perpetualcc.daemon.state import (
    hold,
    is_held,
    read_status,
    set_otherwise,
    steered_by,
    steered_otherwise,
)
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import ENDED
from perpetualcc.domain.version import code_version

_TAKEOVER = 60.0
"""Seconds in which another command that starts the daemon anew has done so."""
_GRACE = 10.0
"""Seconds for what works without a session: a message that is being sent, a lesson."""
_MANY = 500
"""Sessions that are looked at."""


def not_taken_over(options: GlobalOptions) -> Iterator[tuple[str, str]]:
    """
    What holds in this terminal and not in the running daemon: its environment, then the settings.

    Raises PerpetualError: the settings have a mistake.
    """
    restart = restart_command(options)
    names, is_set_otherwise = _otherwise_here(options)
    if names:
        was = f"The daemon was started without your {', '.join(names)}, or with another value"
        if missing := lacking_here(options):
            was += f", and has {', '.join(missing)}, which this terminal has not"
        yield "Environment", f"{was}; to take it over: {restart}"
    if is_set_otherwise:
        changed = "The configuration was changed, and the daemon works with what it was"
        yield "Settings", f"{changed}; to take it over: {restart}"


def lacking_here(options: GlobalOptions) -> list[str]:
    """Variables that the daemon was started with, and that are not set in this terminal."""
    return sorted(steered_by(options.locations) - {config.CONFIG_VARIABLE, *config.environment()})


def tell_what_is_not_taken_over(options: GlobalOptions) -> None:
    with suppress(PerpetualError):  # `connect` has told of a mistake
        for _, note in not_taken_over(options):
            tell(f"note: {note}")


def take_over(options: GlobalOptions) -> None:
    """
    Have the daemon work with what holds in this terminal, where that disturbs nothing.

    It is started anew while every session has ended, where a command started it, and where nothing
    is missing here that it was started with. Else `tell_what_is_not_taken_over` says what to type.
    """
    places = options.locations
    with suppress(PerpetualError, OSError), ExitStack() as held:  # then it stays as it is
        if not is_held(places.supervisor_lock) or not any(_otherwise_here(options)):
            return
        lock = hold(places.takeover_lock, wait=_TAKEOVER)
        if lock is not None:
            held.callback(os.close, lock)
            _start_anew(options)


def _start_anew(options: GlobalOptions) -> None:
    from perpetualcc.claude.processes import command_of  # seldom wanted
    from perpetualcc.daemon import halt
    from perpetualcc.daemon.launch import DETACH

    names, is_set_otherwise = _otherwise_here(options)  # another command may have done it
    if not (names or is_set_otherwise) or _is_something_missing_here(options):
        return
    supervisor = read_status(options.locations).supervisor
    if supervisor is None or DETACH not in command_of(supervisor).split():  # one of every login
        return
    config.check_config()
    with connect(options, is_work=True) as daemon:
        listed = daemon.call("session.list", limit=_MANY)
        if daemon.server_version != code_version():
            return
    if any(one["status"] not in ENDED for one in listed):
        return
    with said_if_long("Starting the daemon anew"):
        halt.stop(options.locations, grace=_GRACE)
    connect(options, is_work=True).close()
    what = [f"your {', '.join(names)}"] if names else []
    what += ["the settings as they are now"] * is_set_otherwise
    anew = f"The daemon had nothing to do and was started anew, with {' and '.join(what)}"
    tell(f"note: {anew}")


def _is_something_missing_here(options: GlobalOptions) -> bool:
    """Whether it was started with what nobody has set, or with a file that nobody names, here."""
    others = steered_otherwise(options.locations, config.steering())
    is_named = config.is_config_named() or config.CONFIG_VARIABLE not in others
    return not is_named or bool(lacking_here(options))


def _otherwise_here(options: GlobalOptions) -> tuple[list[str], bool]:
    """Variables that are set otherwise here, as a person calls them; and whether settings are."""
    variables = steered_otherwise(options.locations, config.steering())
    names = [_called(one, options) for one in variables]
    if config.CONFIG_VARIABLE in variables:  # another file, which is told of there
        return names, False
    return names, bool(set_otherwise(options.locations, config.settings_digests()))


def _called(variable: str, options: GlobalOptions) -> str:
    if variable != config.CONFIG_VARIABLE:
        return variable
    if options.config is not None:
        return "--config"
    return variable if config.is_config_named() else "usual configuration file"
