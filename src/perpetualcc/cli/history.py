"""A session's past, read page by page: one answer of the engine has room for a part of it."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client
from perpetualcc.gateway.protocol import SUBSCRIPTION_FAILED, PushedEvent

NOTHING_LEFT = (
    "note: Nothing of what happened is on record any more: the events of finished work are"
    " removed after sessions.history_days"
)
"""Of a session that has events from its first moment on."""


def last_events(
    daemon: Client, session: str, count: int, *, levels: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """The last `count` events, oldest first; fewer when there are no more."""
    found: deque[dict[str, Any]] = deque()
    older: dict[str, int] = {}
    while len(found) < count:
        page = daemon.call(
            "events.tail", session=session, count=count - len(found), levels=levels, **older
        )
        if not page:
            break
        found.extendleft(reversed(page))
        older = {"before": page[0]["seq"]}
        if page[0]["seq"] <= 1:
            break
    return list(found)


def refuse_broken(pushed: PushedEvent) -> None:
    """Raises PerpetualError when the engine cannot go on with a subscription."""
    if pushed.event == SUBSCRIPTION_FAILED:
        raise PerpetualError("The daemon cannot show these events", hint="See why: pcc daemon logs")
