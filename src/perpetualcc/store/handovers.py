"""Handovers as rows: begun when due, done when the next iteration may start."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.events import EVENT_TYPES, Event
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, SessionId, TaskId
from perpetualcc.sessions.handover.records import Handover, Manner
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.rows import insert
from perpetualcc.store.text import redacted, storable, to_json

_EVIDENCE = ("TextSaid", "ToolDecided", "ToolFinished", "QuestionAnswered")
_MOST_EVIDENCE = 20_000
"""Events of one conversation; hours of work at one tool call a second."""


class SqliteHandovers:
    """`sessions.handover.records.Records`."""

    def __init__(self, database: Database, events: EventLog) -> None:
        self._database = database
        self._events = events

    async def begin(self, handover: Handover) -> None:
        await patiently(lambda: self._database.write(lambda c: _insert(c, handover), durable=True))

    async def finish(self, handover: Handover, *events: Event) -> None:
        def write(connection: sqlite3.Connection) -> None:
            _insert(connection, handover)
            done = connection.execute(
                "UPDATE handovers SET done_at = :done_at, manner = :manner, trouble = :trouble,"
                " reason = :reason, document = :document, findings = :findings,"
                " completed = :completed WHERE session = :session AND iteration = :iteration"
                " AND done_at IS NULL",
                _values(handover),
            )
            if done.rowcount == 1:
                self._events.append_in(connection, events)

        await self._database.write(write, durable=True)

    async def drop(self, session: SessionId) -> None:
        await self._database.execute(
            "DELETE FROM handovers WHERE session = ? AND done_at IS NULL", (session,)
        )

    async def history(self, session: SessionId) -> Sequence[Handover]:
        rows = await self._database.rows(
            "SELECT * FROM handovers WHERE session = ? ORDER BY iteration DESC LIMIT 20", (session,)
        )
        return [_handover(row) for row in rows]

    async def left_by(self, project: Path, iteration: int) -> Handover | None:
        row = await self._database.row(
            "SELECT h.* FROM handovers h JOIN sessions s ON s.id = h.session"
            " JOIN projects p ON p.id = s.project WHERE p.path = ? AND h.iteration = ?"
            " AND h.done_at IS NOT NULL ORDER BY h.done_at DESC, h.position DESC LIMIT 1",
            (str(project), iteration),
        )
        return None if row is None else _handover(row)

    async def iterations(self, project: Path) -> Sequence[int]:
        rows = await self._database.rows(
            "SELECT DISTINCT h.iteration FROM handovers h JOIN sessions s ON s.id = h.session"
            " JOIN projects p ON p.id = s.project WHERE p.path = ? AND h.done_at IS NOT NULL"
            " ORDER BY h.iteration LIMIT 1000",
            (str(project),),
        )
        return [row["iteration"] for row in rows]

    async def is_settled(self, handover: Handover) -> bool:
        newest = await self._database.row(
            "SELECT kind FROM events WHERE session = ? AND task = ?"
            " AND +kind IN ('HandoverDone', 'TaskSettled') ORDER BY seq DESC LIMIT 1",
            (handover.session, handover.task),
        )
        return newest is None or newest["kind"] == "TaskSettled"

    async def was_lost(self, handover: Handover) -> bool:
        row = await self._database.row("SELECT outcome FROM runs WHERE id = ?", (handover.run,))
        return row is None or row["outcome"] in {"", "lost"}

    async def words(self, task: TaskId) -> str:
        row = await self._database.row("SELECT prompt FROM tasks WHERE id = ?", (task,))
        return "" if row is None else str(row["prompt"])

    async def evidence(self, conversation: ClaudeSessionId) -> Sequence[Event]:
        rows = await self._database.rows(
            "SELECT e.* FROM events e JOIN runs r ON r.id = e.run AND r.session = e.session"
            " WHERE r.claude_session = ? AND e.kind IN (SELECT value FROM json_each(?))"
            " ORDER BY e.seq DESC LIMIT ?",
            (conversation, to_json(_EVIDENCE), _MOST_EVIDENCE),
        )
        said = await self._database.rows(
            "SELECT e.* FROM words w JOIN events e ON e.kind = 'WordSaid'"
            " AND e.session = w.session AND json_extract(e.data, '$.number') = w.number"
            " WHERE w.conversation = ? AND w.state <> 'waiting' ORDER BY w.number",
            (conversation,),
        )
        return [_event(row) for row in (*reversed(rows), *said)]

    async def is_new(
        self, task: TaskId, conversation: ClaudeSessionId, calls: Sequence[RequestId]
    ) -> bool:
        found = await self._database.row(
            "WITH made AS (SELECT r.claude_session, d.request, d.tool, d.input_digest"
            "  FROM runs r JOIN decisions d ON d.session = r.session AND d.run = r.id"
            "  WHERE r.task = :task AND d.verdict = 'allow')"
            " SELECT tool, input_digest FROM made WHERE claude_session = :conversation"
            "  AND request IN (SELECT value FROM json_each(:calls))"
            " EXCEPT SELECT tool, input_digest FROM made"
            "  WHERE claude_session <> :conversation LIMIT 1",
            {"task": task, "conversation": conversation, "calls": to_json(list(calls))},
        )
        return found is not None

    async def began_at(self, task: TaskId) -> float:
        row = await self._database.row(
            "SELECT coalesce(min(started_at), 0.0) AS began FROM runs WHERE task = ?", (task,)
        )
        return float(row["began"])

    async def seconds_worked(self, conversation: ClaudeSessionId) -> float:
        row = await self._database.row(
            "SELECT coalesce(sum(max(ended_at - started_at, 0)), 0.0) AS worked FROM runs"
            " WHERE claude_session = ? AND ended_at IS NOT NULL",
            (conversation,),
        )
        return float(row["worked"])


def _insert(connection: sqlite3.Connection, handover: Handover) -> None:
    values = _values(handover) | {"done_at": None}
    insert(
        connection,
        "handovers",
        values,
        # What an earlier task of the session left undone gives way; the same again changes nothing.
        "ON CONFLICT (session, iteration) DO UPDATE SET task = excluded.task, run = excluded.run,"
        " claude_session = excluded.claude_session, reason = excluded.reason"
        " WHERE done_at IS NULL AND claude_session IS NOT excluded.claude_session",
    )


def _values(handover: Handover) -> dict[str, Any]:
    values = asdict(handover) | {
        "document": storable(redacted(handover.document)),
        "findings": to_json(redacted(handover.findings)),
        "completed": to_json(redacted(handover.completed)),
    }
    return {**values, "trouble": redacted(storable(handover.trouble))}


def _handover(row: sqlite3.Row) -> Handover:
    return Handover(
        session=row["session"],
        task=row["task"],
        iteration=row["iteration"],
        run=row["run"],
        claude_session=row["claude_session"],
        reason=row["reason"],
        done_at=row["done_at"],
        manner=Manner(row["manner"]),
        trouble=row["trouble"],
        document=row["document"],
        findings=tuple(json.loads(row["findings"])),
        completed=tuple(json.loads(row["completed"])),
    )


def _event(row: sqlite3.Row) -> Event:
    ids = {"session": row["session"], "run": row["run"], "task": row["task"]}
    return EVENT_TYPES[row["kind"]].from_data(json.loads(row["data"]), **ids)
