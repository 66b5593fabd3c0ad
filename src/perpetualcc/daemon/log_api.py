"""The methods that read the log: events as they come and as they were, and what was decided."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from perpetualcc.daemon.people import HumanBridge
from perpetualcc.daemon.views import (
    decision_data,
    event_data,
    newest_that_fit,
    rows_for,
    that_fits,
)
from perpetualcc.domain.decisions import DecidedBy, Verdict
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.tools import Risk
from perpetualcc.gateway.methods import Connection, Feed, Method, Params, one_of
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.sessions import SessionStore

_GLANCE = timedelta(milliseconds=50)
"""Between two looks of somebody who watches: no eye sees more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogApi:
    """`events.…` and `decision.list`."""

    events: EventLog
    decisions: DecisionJournal
    manager: SessionManager
    sessions: SessionStore
    people: HumanBridge

    def methods(self) -> Mapping[str, Method]:
        return {
            "events.follow": Method(
                call=self.follow,
                params={"session": str | None, "since": int | None, "attend": bool | None},
                only_people=frozenset({"attend"}),
            ),
            "events.tail": Method(
                call=self.tail,
                params={
                    "session": str | None,
                    "count": int | None,
                    "levels": list | None,
                    "before": int | None,
                },
            ),
            "decision.list": Method(
                call=self.list_decisions,
                params={
                    "session": str | None,
                    "risk": str | None,
                    "verdict": str | None,
                    "decided_by": str | None,
                    "since": float | None,
                    "limit": int | None,
                    "before": int | None,
                },
            ),
        }

    async def follow(self, params: Params, connection: Connection) -> Any:
        """Push events from `since` on, past and then present; `attend`: a person looks at them."""
        session = await self.manager.id_of(params["session"])
        feed = self._feed(params["since"] or 0, session, attended=bool(params["attend"]))
        return {"subscription": connection.subscribe(feed)}

    async def _feed(self, since: int, session: SessionId | None, *, attended: bool) -> Feed:
        with ExitStack() as looking:
            if attended and session is not None:
                looking.enter_context(self.people.looking(session))
            async for recorded in self.events.follow(since, session=session, breath=_GLANCE):
                yield recorded.event.kind, event_data(recorded)

    async def tail(self, params: Params, _: Connection) -> Any:
        """
        The last `count` events (50), oldest first; `levels`: only these; `before`: older ones.

        One answer holds at most 2,000 events and a megabyte: ask on with the first one's `seq`.
        """
        found = await self.events.tail(
            await self.manager.id_of(params["session"]),
            rows_for(params["count"], usual=50),
            levels=params["levels"],
            before=params["before"],
        )
        return newest_that_fit([event_data(recorded) for recorded in found])

    async def list_decisions(self, params: Params, _: Connection) -> Any:
        """
        What was decided about tool calls, newest first; at most `limit` (100), and what one answer
        holds: ask on with the last one's `id` as `before`.
        """
        risk, verdict, by = params["risk"], params["verdict"], params["decided_by"]
        found = await self.decisions.read(
            session=await self.manager.id_of(params["session"]),
            risk=None if risk is None else one_of(Risk, risk),
            verdict=None if verdict is None else one_of(Verdict, verdict),
            decided_by=None if by is None else one_of(DecidedBy, by),
            since=params["since"],
            before=params["before"],
            limit=rows_for(params["limit"]),
        )
        return that_fits(
            [
                {**decision_data(one), "project": str(await self.sessions.project(one.session))}
                for one in found
            ]
        )
