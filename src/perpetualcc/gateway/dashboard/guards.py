"""
Who may speak, and what may be said. Everything is refused that is not named here: no method that
changes settings, rules or trust, and nothing that starts a command.
"""

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from perpetualcc.gateway import protocol
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

ALLOWED: Mapping[str, frozenset[str]] = {
    "budget.show": frozenset(),
    "escalation.count": frozenset(),
    "escalation.get": frozenset({"number"}),
    "escalation.list": frozenset({"limit"}),
    "escalation.respond": frozenset({"number", "text", "approve", "answers"}),
    "events.follow": frozenset({"session", "since", "attend"}),
    "events.tail": frozenset({"session", "count", "levels", "before"}),
    "events.unfollow": frozenset({"subscription"}),
    "report.show": frozenset({"seconds"}),
    "session.get": frozenset({"session"}),
    "session.list": frozenset({"limit"}),
    "session.pause": frozenset({"session"}),
    "session.resume": frozenset({"session"}),
    "task.add": frozenset({"session", "prompt"}),
}
"""Methods with their parameters. `always` makes a rule, `checks` and `when` are commands: they are
typed in a terminal."""

FRAME_LIMIT = 64 * 1024
"""Bytes that a page may send at once: a long answer fits."""


class Hosts:
    """What browsers on this machine call the page; any other name is a foreign site's doing."""

    def __init__(self, port: int) -> None:
        self._names = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def knows(self, host: Sequence[str]) -> bool:
        """`host`: every Host header that came."""
        return len(host) == 1 and host[0] in self._names

    def is_own_page(self, host: Sequence[str], origin: Sequence[str]) -> bool:
        """Only our own page has the origin that it was asked for under; none is not enough."""
        return self.knows(host) and list(origin) == [f"http://{host[0]}"]


class Keys:
    """
    A code opens the page once; a page that is open holds the key, as long as the dashboard runs.

    So a link in a browser's history, a screenshot or a scrollback opens nothing any more.
    """

    def __init__(self) -> None:
        self._key = secrets.token_urlsafe(32)
        self.code = secrets.token_urlsafe(32)
        """What the next link ends with."""

    def admit(self, greeting: str | bytes) -> tuple[str, bool]:
        """The key, empty for a stranger, and whether a code was used up for it."""
        try:
            given = json.loads(greeting)
        except (ValueError, RecursionError):
            return "", False
        if not isinstance(given, dict):
            return "", False
        if _is_same(given.get("key"), self._key):
            return self._key, False
        if _is_same(given.get("code"), self.code):
            self.code = secrets.token_urlsafe(32)
            return self._key, True
        return "", False


def _is_same(given: Any, secret: str) -> bool:
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())


def passed(frame: bytes) -> bytes:
    """
    The line for the engine.

    Raises:
        ProtocolError: it is no request, or not one of a page's; `data` names its id if it has one.
    """
    request = protocol.read_request(frame)
    names = ALLOWED.get(request.method)
    if names is None or not names.issuperset(request.params):
        more = "" if names is None else " with these parameters"
        message = f"The dashboard may not ask for {request.method[:80]!r}{more}"
        raise ProtocolError(ErrorCode.PERMISSION_DENIED, message, {"id": request.id})
    return protocol.request(request.id, request.method, request.params)
