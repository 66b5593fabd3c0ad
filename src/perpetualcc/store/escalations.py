"""Escalations as rows. The answer and the waking of its task are one transaction."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.decisions import DecidedBy
from perpetualcc.domain.escalations import (
    WITHDRAWN,
    Escalation,
    EscalationRequest,
    EscalationType,
    Severity,
    signal_name,
)
from perpetualcc.domain.events import (
    EscalationRaised,
    EscalationReminded,
    EscalationSettled,
    QuestionAnswered,
)
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.limits import add_asked
from perpetualcc.store.outbox import spare_people
from perpetualcc.store.rows import insert
from perpetualcc.store.text import redacted, to_json

_SEVERITIES = tuple(Severity)
_TYPES = {one.value: one for one in EscalationType}
_ROWS = """
SELECT
    number, session, run, task, request, type, title, context, suggestion, confidence, digest,
    severity, deadline, raised_at, settled_at, settled_by, reminders, remind_at,
    options || ',' || raw || ',' || packet || ','
        || coalesce(default_answer, 'null') || ',' || coalesce(answer, 'null') AS json
FROM escalations
"""
"""In the order in which they are read."""
_OLDEST_OPEN = """
SELECT min(number) FROM escalations
WHERE task = :task AND CASE substr(request, 1, length(:named)) WHEN :named
    THEN settled_at IS NULL OR EXISTS (
        SELECT 1 FROM signals
        WHERE name = 'escalation:' || number AND consumed_at IS NULL AND name IS NOT :taken)
    ELSE settled_at IS NULL AND type IN (SELECT value FROM json_each(:types)) END
"""
_DUE = "min(coalesce(remind_at, 1e99), coalesce(deadline, 1e99))"
"""As the index `escalations_due` has it."""
# A permission's deadline is a while from when it was asked for; a budget's is the end of its day.
_SET_BACK = """
UPDATE escalations SET
    remind_at = min(remind_at - raised_at + min(raised_at, :now), :now + :longest),
    deadline = iif(type = 'permission', deadline - raised_at + min(raised_at, :now), deadline),
    raised_at = min(raised_at, :now)
WHERE settled_at IS NULL AND (raised_at > :now OR remind_at > :now + :longest)
"""


class SqliteEscalations:
    """`human.escalation.EscalationStore` and `human.reminders.Calendar` on the one SQLite file."""

    def __init__(self, database: Database, clock: Clock, ledger: SqliteLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._events = EventLog(database, clock)

    async def add(self, request: EscalationRequest, remind_at: float | None = None) -> Escalation:
        return await self._database.write(lambda c: self._add(c, request, remind_at), durable=True)

    async def get(self, number: int) -> Escalation | None:
        return await self._database.read(lambda c: _numbered(c, number))

    async def pending(
        self, session: SessionId | None = None, limit: int | None = None
    ) -> list[Escalation]:
        of_session = "" if session is None else " AND session = :session"
        return await self._database.read(
            lambda c: _escalations(
                c.execute(
                    f"{_ROWS} WHERE settled_at IS NULL"
                    f"{of_session} ORDER BY severity DESC, number LIMIT :limit",
                    {"session": session, "limit": -1 if limit is None else limit},
                )
            )
        )

    async def count(self, session: SessionId | None = None) -> int:
        """How many wait."""
        return await self._database.read(
            lambda c: int(
                c.execute(
                    "SELECT count(*) FROM escalations WHERE settled_at IS NULL"
                    " AND (:session IS NULL OR session = :session)",
                    {"session": session},
                ).fetchone()[0]
            )
        )

    async def approvals(self, session: SessionId, kind: str) -> int:
        """How often people approved a call of this kind in the project of `session`."""
        return await self._database.read(
            lambda c: int(
                c.execute(
                    "SELECT count(*) FROM escalations e JOIN sessions s ON s.id = e.session"
                    " WHERE s.project = (SELECT project FROM sessions WHERE id = ?)"
                    " AND e.settled_at IS NOT NULL AND json_extract(e.raw, '$.kind') = ?"
                    " AND json_extract(e.answer, '$.approve') = 1",
                    (session, kind),
                ).fetchone()[0]
            )
        )

    async def holding(self, sessions: Collection[SessionId]) -> dict[SessionId, list[int]]:
        """What Claude asked and these sessions wait for, oldest first."""
        rows = await self._database.rows(
            "SELECT session, number FROM escalations WHERE settled_at IS NULL"
            " AND type IN ('question', 'permission') AND run != ''"
            " AND session IN (SELECT value FROM json_each(?)) ORDER BY number",
            (to_json(list(sessions)),),
        )
        found: dict[SessionId, list[int]] = {}
        for row in rows:
            found.setdefault(row["session"], []).append(row["number"])
        return found

    async def oldest_open(
        self, task: TaskId, types: Iterable[EscalationType], *, named: str, taken: str | None
    ) -> int | None:
        """
        The task's first open request of these types, or whose name begins so; or None.

        With such a name it is open until its answer is taken: `taken` is the signal that the task
        holds.
        """
        values = {"task": task, "types": to_json(list(types)), "named": named, "taken": taken}
        found: int | None = await self._database.read(
            lambda c: c.execute(_OLDEST_OPEN, values).fetchone()[0]
        )
        return found

    async def settle(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation | None:
        return await self._database.write(
            lambda c: self._settle(c, number, answer, by), durable=True
        )

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        return await self._database.read(lambda c: _answered(c, task, digest))

    async def unused(self, task: TaskId) -> list[Escalation]:
        return await self._database.read(
            lambda c: _escalations(
                c.execute(
                    f"{_ROWS} WHERE task = ? AND settled_at IS NOT NULL"
                    " AND used_at IS NULL ORDER BY settled_at",
                    (task,),
                )
            )
        )

    async def use(self, number: int) -> bool:
        return await self._database.write(lambda c: _use(c, number, self._clock.now()))

    async def withdraw(
        self, reason: str, *, session: SessionId, task: TaskId | None, types: Iterable[str]
    ) -> list[int]:
        wanted = to_json(list(types))
        return await self._database.write(
            lambda c: self._withdraw(c, reason, session, task, wanted), durable=True
        )

    # -- what happens when nobody reacts

    async def next_due(self) -> float | None:
        return await self._database.read(
            lambda c: c.execute(
                f"SELECT min({_DUE}) FROM escalations WHERE settled_at IS NULL"  # noqa: S608
                f" AND {_DUE} < 1e98"
            ).fetchone()[0]
        )

    async def due(self) -> list[Escalation]:
        return await self._database.read(
            lambda c: _escalations(
                c.execute(
                    # Without the plus SQLite walks all there ever were, in their order.
                    f"{_ROWS} WHERE settled_at IS NULL AND {_DUE} <= ? ORDER BY +number LIMIT 100",
                    (self._clock.now(),),
                )
            )
        )

    async def remind(self, number: int, next_at: float | None) -> None:
        await self._database.write(lambda c: self._remind(c, number, next_at), durable=True)

    async def set_back(self, now: float, longest: float) -> None:
        """The clock was set back: nobody is reminded later than `longest` seconds from now."""
        await self._database.execute(_SET_BACK, {"now": now, "longest": longest}, durable=True)

    # -- each of these runs inside a transaction, on the database's thread

    def _add(
        self, connection: sqlite3.Connection, request: EscalationRequest, remind_at: float | None
    ) -> Escalation:
        if (known := self._known(connection, request)) is not None:
            return known
        now = self._clock.now()
        if "limit" in request.raw:
            add_asked(connection, request, now)
        row = {
            "session": request.session,
            "run": request.run,
            "task": request.task,
            "request": request.request,
            "type": request.type,
            "title": redacted(request.title),
            "context": redacted(request.context),
            "options": to_json(redacted(list(request.options))),
            "suggestion": redacted(request.suggestion),
            "confidence": request.confidence,
            "raw": to_json(redacted(dict(request.raw))),
            "raised_at": now,
            "severity": request.weight.rank,
            "digest": request.digest,
            "packet": to_json(redacted(dict(request.packet))),
            "default_answer": None if request.default is None else to_json(dict(request.default)),
            "deadline": request.deadline,
            "remind_at": remind_at,
        }
        cursor = insert(connection, "escalations", row)
        escalation = _escalation(_row(connection, cursor.lastrowid or 0))
        self._events.append_in(connection, [_raised(escalation)])
        return escalation

    def _known(
        self, connection: sqlite3.Connection, request: EscalationRequest
    ) -> Escalation | None:
        """The same request: of this run, or waiting since an earlier run of the task."""
        row = connection.execute(
            f"{_ROWS} WHERE run = ? AND request = ?",
            (request.run, request.request),
        ).fetchone()
        if row is None and request.digest:
            row = connection.execute(
                f"{_ROWS} WHERE task = ? AND digest = ? AND type = ? AND settled_at IS NULL",
                (request.task, request.digest, request.type),
            ).fetchone()
        return None if row is None else _escalation(row)

    def _settle(
        self, connection: sqlite3.Connection, number: int, answer: Mapping[str, Any], by: str
    ) -> Escalation | None:
        now = self._clock.now()
        cursor = connection.execute(
            "UPDATE escalations SET settled_at = :now, answer = :answer, settled_by = :by,"
            " used_at = iif(type = 'review' AND NOT :is_approved, :now, NULL)"
            " WHERE number = :number AND settled_at IS NULL",
            {
                "now": now,
                "answer": to_json(dict(answer)),
                "by": by,
                "number": number,
                "is_approved": bool(answer.get("approve")),
            },
        )
        if cursor.rowcount == 0:
            return None
        escalation = _escalation(_row(connection, number))
        self._ledger.signal_in(connection, signal_name(number), answer)
        self._events.append_in(connection, [_settled(escalation), *_answered_by_person(escalation)])
        spare_people(connection, number, now)
        return escalation

    def _withdraw(
        self,
        connection: sqlite3.Connection,
        reason: str,
        session: SessionId,
        task: TaskId | None,
        types: str,
    ) -> list[int]:
        """No signal: nobody waits for it any more."""
        rows = connection.execute(
            "SELECT number FROM escalations WHERE settled_at IS NULL AND session = :session"
            " AND (:task IS NULL OR task = :task)"
            " AND type IN (SELECT value FROM json_each(:types))",
            {"session": session, "task": task, "types": types},
        ).fetchall()
        now = self._clock.now()
        for row in rows:
            connection.execute(
                "UPDATE escalations SET settled_at = ?, used_at = ?, answer = ?, settled_by = ?"
                " WHERE number = ?",
                (now, now, to_json({"text": reason}), WITHDRAWN, row["number"]),
            )
            spare_people(connection, row["number"], now)
            settled = _settled(_escalation(_row(connection, row["number"])))
            self._events.append_in(connection, [settled])
        return [row["number"] for row in rows]

    def _remind(self, connection: sqlite3.Connection, number: int, next_at: float | None) -> None:
        cursor = connection.execute(
            "UPDATE escalations SET reminders = reminders + 1, remind_at = ?"
            " WHERE number = ? AND settled_at IS NULL",
            (next_at, number),
        )
        if cursor.rowcount:
            reminded = _reminded(_escalation(_row(connection, number)))
            self._events.append_in(connection, [reminded])


def _row(connection: sqlite3.Connection, number: int) -> Any:
    return connection.execute(f"{_ROWS} WHERE number = ?", (number,)).fetchone()


def _numbered(connection: sqlite3.Connection, number: int) -> Escalation | None:
    row = _row(connection, number)
    return None if row is None else _escalation(row)


def _answered(connection: sqlite3.Connection, task: TaskId, digest: str) -> Escalation | None:
    row = connection.execute(
        f"{_ROWS} WHERE task = ? AND digest = ? AND settled_at IS NOT NULL"
        " AND used_at IS NULL ORDER BY number DESC LIMIT 1",
        (task, digest),
    ).fetchone()
    return None if row is None else _escalation(row)


def _use(connection: sqlite3.Connection, number: int, now: float) -> bool:
    cursor = connection.execute(
        "UPDATE escalations SET used_at = ? WHERE number = ? AND used_at IS NULL", (now, number)
    )
    return cursor.rowcount == 1


def _raised(escalation: Escalation) -> EscalationRaised:
    request = escalation.request
    return EscalationRaised(
        **_told(escalation),
        run=request.run,
        request=request.request,
        severity=request.weight.value,
    )


def _reminded(escalation: Escalation) -> EscalationReminded:
    return EscalationReminded(
        **_told(escalation), reminders=escalation.reminders, raised_at=escalation.raised_at
    )


def _told(escalation: Escalation) -> dict[str, Any]:
    """What people are told of a request each time."""
    request = escalation.request
    return {
        "session": request.session,
        "task": request.task,
        "number": escalation.number,
        "type": request.type.value,
        "title": request.title,
        "options": [dict(option) for option in request.options],
        "context": request.context,
        "questions": list(request.raw.get("questions", [])),
        "suggestion": request.suggestion,
        "confidence": request.confidence,
    }


def _settled(escalation: Escalation) -> EscalationSettled:
    request, answer = escalation.request, escalation.answer or {}
    word = {"True": "approved", "False": "denied"}.get(str(answer.get("approve")), "")
    text = answer.get("text") or "; ".join(map(str, answer.get("answers", {}).values()))
    return EscalationSettled(
        session=request.session,
        run=request.run,
        task=request.task,
        number=escalation.number,
        request=request.request,
        answer=": ".join(part for part in (word, str(text)) if part),
        decided_by=escalation.settled_by,
    )


def _answered_by_person(escalation: Escalation) -> Iterator[QuestionAnswered]:
    """
    A person's answer to Claude's question or plan, on record with the answer itself: once, whether
    a run is held for it, the session waits as a row, or everything dies before it is told.
    """
    request, answer = escalation.request, escalation.answer or {}
    is_claudes = request.run or "plan" in request.raw
    is_asked = request.type is EscalationType.QUESTION and is_claudes
    if not is_asked or answer.get("expired"):
        return
    answers = answer.get("answers") or {request.title: answer.get("text", "")}
    yield QuestionAnswered(
        session=request.session,
        run=request.run,
        task=request.task,
        request=request.request,
        answers={str(question): str(given) for question, given in answers.items()},
        decided_by=DecidedBy.PERSON.value,
        reason="a person answered",
        confidence=1.0,
    )


def _escalation(row: sqlite3.Row) -> Escalation:
    return _escalations([row])[0]


def _escalations(found: Iterable[sqlite3.Row]) -> list[Escalation]:
    # A list may be thousands long: no column is looked for by its name, and all JSON is read in
    # one go, which was most of what it cost.
    rows = list(found)
    read = json.loads(f"[[{'],['.join([row['json'] for row in rows])}]]") if rows else []
    return [*map(_made, rows, read)]


def _made(row: sqlite3.Row, read: list[Any]) -> Escalation:
    """One of them, and what its JSON says."""
    (
        number, session, run, task, request, type_, title, context, suggestion, confidence, digest,
        severity, deadline, raised_at, settled_at, settled_by, reminders, remind_at, _,
    ) = row  # fmt: skip
    options, raw, packet, default, answer = read
    return Escalation(
        number=number,
        request=EscalationRequest(
            session=SessionId(session),
            run=RunId(run),
            task=TaskId(task),
            request=RequestId(request),
            type=_TYPES[type_],
            title=title,
            context=context,
            options=tuple(options),
            suggestion=suggestion,
            confidence=confidence,
            raw=raw,
            digest=digest,
            severity=_SEVERITIES[severity],
            packet=packet,
            default=default,
            deadline=deadline,
        ),
        raised_at=raised_at,
        settled_at=settled_at,
        answer=answer,
        settled_by=settled_by,
        reminders=reminders,
        remind_at=remind_at,
    )
