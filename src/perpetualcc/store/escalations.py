"""Escalations as rows. The answer and the waking of its task are one transaction."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.escalations import Escalation, EscalationRequest, EscalationType
from perpetualcc.domain.events import EscalationRaised, EscalationSettled
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.text import redacted, to_json


class SqliteEscalations:
    """`human.escalation.EscalationStore` on the one SQLite file."""

    def __init__(self, database: Database, clock: Clock, ledger: SqliteLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._events = EventLog(database, clock)

    async def add(self, request: EscalationRequest) -> Escalation:
        return await self._database.write(lambda c: self._add(c, request), durable=True)

    async def pending(self, session: SessionId | None = None) -> list[Escalation]:
        of_session = "" if session is None else " AND session = :session"
        return await self._database.read(
            lambda c: [
                _escalation(row)
                for row in c.execute(
                    "SELECT * FROM escalations WHERE settled_at IS NULL"  # noqa: S608  # constants
                    f"{of_session} ORDER BY number",
                    {"session": session},
                )
            ]
        )

    async def settle(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation | None:
        return await self._database.write(
            lambda c: self._settle(c, number, answer, by), durable=True
        )

    def _add(self, connection: sqlite3.Connection, request: EscalationRequest) -> Escalation:
        cursor = connection.execute(
            "INSERT INTO escalations (session, run, task, request, type, title, context, options,"
            " suggestion, confidence, raw, raised_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (run, request) DO NOTHING",
            (
                request.session,
                request.run,
                request.task,
                request.request,
                request.type,
                redacted(request.title),
                redacted(request.context),
                to_json(redacted(list(request.options))),
                redacted(request.suggestion),
                request.confidence,
                to_json(redacted(dict(request.raw))),
                self._clock.now(),
            ),
        )
        row = connection.execute(
            "SELECT * FROM escalations WHERE run = ? AND request = ?",
            (request.run, request.request),
        ).fetchone()
        escalation = _escalation(row)
        if cursor.rowcount == 1:
            self._events.append_in(connection, [_raised(escalation)])
        return escalation

    def _settle(
        self, connection: sqlite3.Connection, number: int, answer: Mapping[str, Any], by: str
    ) -> Escalation | None:
        cursor = connection.execute(
            "UPDATE escalations SET settled_at = ?, answer = ?, settled_by = ?"
            " WHERE number = ? AND settled_at IS NULL",
            (self._clock.now(), to_json(dict(answer)), by, number),
        )
        if cursor.rowcount == 0:
            return None
        row = connection.execute("SELECT * FROM escalations WHERE number = ?", (number,)).fetchone()
        escalation = _escalation(row)
        self._ledger.signal_in(connection, signal_name(number), answer)
        self._events.append_in(connection, [_settled(escalation)])
        return escalation


def signal_name(number: int) -> str:
    """What a task waits for when it waits for an escalation."""
    return f"escalation:{number}"


def _raised(escalation: Escalation) -> EscalationRaised:
    request = escalation.request
    return EscalationRaised(
        session=request.session,
        run=request.run,
        task=request.task,
        number=escalation.number,
        request=request.request,
        type=request.type.value,
        title=request.title,
        options=[dict(option) for option in request.options],
    )


def _settled(escalation: Escalation) -> EscalationSettled:
    request, answer = escalation.request, escalation.answer or {}
    word = {"True": "approved", "False": "denied"}.get(str(answer.get("approve")), "")
    return EscalationSettled(
        session=request.session,
        run=request.run,
        task=request.task,
        number=escalation.number,
        request=request.request,
        answer=str(answer.get("text") or word),
        decided_by=escalation.settled_by,
    )


def _escalation(row: sqlite3.Row) -> Escalation:
    return Escalation(
        number=row["number"],
        request=EscalationRequest(
            session=SessionId(row["session"]),
            run=RunId(row["run"]),
            task=TaskId(row["task"]),
            request=RequestId(row["request"]),
            type=EscalationType(row["type"]),
            title=row["title"],
            context=row["context"],
            options=tuple(json.loads(row["options"])),
            suggestion=row["suggestion"],
            confidence=row["confidence"],
            raw=json.loads(row["raw"]),
        ),
        raised_at=row["raised_at"],
        settled_at=row["settled_at"],
        answer=None if row["answer"] is None else json.loads(row["answer"]),
        settled_by=row["settled_by"],
    )
