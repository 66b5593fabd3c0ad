"""Which session is meant where none is named."""

from typing import TYPE_CHECKING

from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import first_few

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client

_MOST = 500
"""Sessions that are looked at."""
_NAMED = 5
"""Those that a message has room for."""
_OVER = frozenset({SessionStatus.COMPLETED, SessionStatus.STOPPED})


def the_session(daemon: "Client", typed: str | None, command: str, *statuses: SessionStatus) -> str:
    """
    What was typed, or else the id of the only session with one of these statuses.

    Where none are given, of the only one that is not over; where all are over, of the newest.

    Raises:
        Mistyped: it can be several, or none. `command` takes the session's id behind it.
    """
    if typed is not None:
        return typed
    found = daemon.call("session.list", status=None, project=None, limit=_MOST)
    wanted = statuses or [one for one in SessionStatus if one not in _OVER]
    meant = [one for one in found if one["status"] in wanted]
    if not meant and not statuses:
        meant = found[:1]
    if len(meant) > 1:
        names = first_few([one["name"] for one in meant], _NAMED)
        raise Mistyped(f"Which session? It can be {names}", hint=f"{command} {meant[0]['id']}")
    if not meant:
        raise Mistyped("There is no such session", hint="See what there is with: pcc list")
    chosen: str = meant[0]["id"]
    return chosen
