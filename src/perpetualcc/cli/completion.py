"""
What the shell offers for SESSION: the sessions that a running engine knows.

Nothing is started for it: without a running engine there is nothing to offer. Whatever goes
wrong shows as no suggestion, because a shell has no place for an error here.
"""

from collections.abc import Iterator
from typing import Any

from perpetualcc.domain.errors import PerpetualError

_MOST = 100
"""Sessions that are looked at, newest first."""
_PATIENCE = 1.0
"""Seconds; a person waits with a finger on the key."""


def sessions(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
    """Ids with a name and status; once something is typed, names too."""
    try:
        found = _listed(ctx.find_root().params.get("data_dir"))
    except (PerpetualError, OSError):
        return []
    return [pair for session in found for pair in _offered(session, incomplete)]


def _offered(session: dict[str, Any], incomplete: str) -> Iterator[tuple[str, str]]:
    about = f"{session['name']}, {session['status'].lower()}"
    yield session["id"], about
    if incomplete and " " not in session["name"]:
        yield session["name"], f"{session['id']}, {session['status'].lower()}"


def _listed(data_dir: Any) -> list[dict[str, Any]]:
    from perpetualcc import config  # noqa: PLC0415  # only when a key is pressed
    from perpetualcc.daemon.state import is_held  # noqa: PLC0415
    from perpetualcc.gateway.client import Client  # noqa: PLC0415

    locations = config.locate(data_dir)
    if not is_held(locations.engine_lock):
        return []
    with Client.open(locations.socket, timeout=_PATIENCE) as daemon:
        found: list[dict[str, Any]] = daemon.call("session.list", limit=_MOST)
        return found
