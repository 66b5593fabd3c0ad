"""
Who may speak, and what may be said. Everything is refused that is not named here: no method that
changes settings, rules or trust, and nothing that starts a command.
"""

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from perpetualcc.domain.devices import Scope
from perpetualcc.gateway import protocol
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

ALLOWED: Mapping[str, tuple[Scope, frozenset[str]]] = {
    "budget.show": (Scope.LOOK, frozenset()),
    "escalation.count": (Scope.LOOK, frozenset()),
    "escalation.get": (Scope.LOOK, frozenset({"number"})),
    "escalation.list": (Scope.LOOK, frozenset({"limit"})),
    "escalation.respond": (Scope.ANSWER, frozenset({"number", "text", "approve", "answers"})),
    "events.follow": (Scope.LOOK, frozenset({"session", "since", "attend"})),
    "events.tail": (Scope.LOOK, frozenset({"session", "count", "levels", "before"})),
    "events.unfollow": (Scope.LOOK, frozenset({"subscription"})),
    "report.show": (Scope.LOOK, frozenset({"seconds"})),
    "result.accept": (Scope.WORK, frozenset({"session", "present"})),
    "result.discard": (Scope.WORK, frozenset({"session", "present"})),
    "result.plan": (Scope.WORK, frozenset({"session", "discard"})),
    "result.review": (Scope.LOOK, frozenset({"session"})),
    "session.get": (Scope.LOOK, frozenset({"session"})),
    "session.list": (Scope.LOOK, frozenset({"limit"})),
    "session.pause": (Scope.WORK, frozenset({"session"})),
    "session.resume": (Scope.WORK, frozenset({"session"})),
    "session.say": (Scope.WORK, frozenset({"session", "text", "key"})),
    "snapshot.changes": (Scope.LOOK, frozenset({"session", "task"})),
    "snapshot.patch": (Scope.LOOK, frozenset({"session", "task", "file"})),
    "snapshot.plan": (Scope.WORK, frozenset({"session", "snapshot"})),
    "snapshot.restore": (Scope.WORK, frozenset({"session", "snapshot", "present"})),
    "task.add": (Scope.WORK, frozenset({"session", "prompt"})),
}
"""Methods with what they take to be granted, and their parameters. `always` makes a rule, `checks`
and `when` are commands: they are typed in a terminal."""
_SETTLING = frozenset({"attend"})
"""Parameters by which calls are held for whoever can answer."""

FRAME_LIMIT = 64 * 1024
"""Bytes that a page may send at once: a long answer fits."""


def may(scope: Scope, method: str, params: Mapping[str, Any]) -> bool:
    """Whether that is something for a page at all, and for one with this scope."""
    needed, names = ALLOWED.get(method, (Scope.WORK, None))
    if names is None or not names.issuperset(params):
        return False
    settles = any(params.get(name) for name in _SETTLING)
    return scope.holds(needed) and (scope.holds(Scope.ANSWER) or not settles)


class Hosts:
    """What browsers call the page; any other name is a foreign site's doing."""

    def __init__(self, port: int, address: str = "") -> None:
        """`address`: the origin under which a proxy on this machine passes others on."""
        here = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._origins = {name: f"http://{name}" for name in here}
        self._address = address
        if address:
            self._origins[address.partition("://")[2]] = address

    def knows(self, host: Sequence[str]) -> bool:
        """`host`: every Host header that came."""
        return len(host) == 1 and host[0].lower() in self._origins

    def is_own_page(self, host: Sequence[str], origin: Sequence[str]) -> bool:
        """Only our own page has the origin that it was asked for under; none is not enough."""
        return self.knows(host) and list(origin) == [self._origins[host[0].lower()]]

    def is_elsewhere(self, origin: str) -> bool:
        return bool(self._address) and origin == self._address


class Keys:
    """
    A code opens the page once; a page that is open holds the key, as long as the dashboard runs.

    So a link in a browser's history, a screenshot or a scrollback opens nothing any more.
    """

    def __init__(self) -> None:
        self._key = secrets.token_urlsafe(32)
        self.code = secrets.token_urlsafe(32)
        """What the next link ends with."""

    def admit(self, given: Mapping[str, Any]) -> tuple[str, bool]:
        """The key, empty for a stranger, and whether a code was used up for it."""
        if _is_same(given.get("key"), self._key):
            return self._key, False
        if _is_same(given.get("code"), self.code):
            self.code = secrets.token_urlsafe(32)
            return self._key, True
        return "", False


def said(greeting: str | bytes) -> Mapping[str, Any]:
    """What a page says first; nothing where it makes no sense."""
    try:
        given = json.loads(greeting)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _is_same(given: Any, secret: str) -> bool:
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())


def passed(frame: bytes) -> protocol.Request:
    """
    What the engine is to be asked.

    Raises:
        ProtocolError: it is no request, or not one of a page's; `data` names its id if it has one.
    """
    request = protocol.read_request(frame)
    if not may(Scope.WORK, request.method, request.params):
        more = " with these parameters" if request.method in ALLOWED else ""
        message = f"The dashboard may not ask for {request.method[:80]!r}{more}"
        raise ProtocolError(ErrorCode.PERMISSION_DENIED, message, {"id": request.id})
    return request
