"""What the agent writes down, over the tables that keep it."""

import asyncio
from collections.abc import Sequence

from perpetualcc.agent.patience import patiently
from perpetualcc.agent.replies import summarize
from perpetualcc.domain.decisions import Decision
from perpetualcc.domain.events import Event, RunEnded
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.sessions import Run, Session
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.tools import ToolCall
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore


class SqliteJournal:
    """`agent.ports.Journal`. Writes asked for together are committed together, in order."""

    def __init__(
        self,
        database: Database,
        *,
        events: EventLog,
        sessions: SessionStore,
        runs: RunStore,
        decisions: DecisionJournal,
        ledger: SqliteLedger,
    ) -> None:
        self._database = database
        self._events = events
        self._sessions = sessions
        self._runs = runs
        self._decisions = decisions
        self._ledger = ledger

    async def session(self, session: SessionId) -> Session:
        return await self._sessions.get(session)

    async def record(self, *events: Event) -> None:
        """Patiently: what is told of a run that goes on may have to wait for another program."""
        if events:
            await patiently(lambda: self._events.append(events))

    async def record_now(self, *events: Event) -> None:
        """For people, who are told at once what is in the way."""
        await self._events.append(events)

    def note(self, *events: Event) -> None:
        if events:
            self._events.append_soon(events)

    async def decide(
        self, session: SessionId, decision: Decision, call: ToolCall, *events: Event
    ) -> None:
        """In one transaction: Claude Code waits for it at every call."""
        note = self._decisions.writing(
            decision,
            session=session,
            tool=call.tool,
            summary=summarize(call),
            tool_input=call.input,
        )
        await patiently(
            lambda: self._database.write(lambda c: (note(c), self._events.append_in(c, events)))
        )

    async def got_on(self, run: RunId, task: Task, request: RequestId) -> bool:
        is_new = await self._decisions.is_new(request, run, task.id)
        if is_new:
            await patiently(lambda: self._ledger.got_on(task.id, task.fence))
        return is_new

    async def open_run(self, run: Run, *events: Event) -> None:
        """The conversation's id is on disk before Claude Code hears of it."""
        await asyncio.gather(
            self._sessions.set_current_task(run.session, run.task),
            self._sessions.set_claude_session(run.session, run.claude_session),
            self._runs.begin(run),
            self._events.append(events, durable=True),
        )

    async def has_begun(self, task: TaskId) -> bool:
        return await self._runs.has_begun(task)

    async def close_run(self, run: Run, *events: Event) -> None:
        ended = next(event for event in events if isinstance(event, RunEnded))
        await asyncio.gather(
            self._runs.end(
                run.id,
                ended_at=run.ended_at or run.started_at,
                outcome=ended.outcome,
                tokens_in=ended.tokens_in,
                tokens_out=ended.tokens_out,
                cost_usd=ended.cost_usd,
                turns=ended.turns,
            ),
            self._events.append(events),
        )

    async def finished_tasks(self, session: SessionId) -> Sequence[Task]:
        return await self._ledger.list(session, {TaskState.DONE})
