"""Limits as rows: who waits for which window, and what the account is known to have used up."""

import sqlite3
from typing import Any

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.escalations import EscalationRequest
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.sessions.limit_waits import SIGNAL, WAITS_WITH_OTHERS, LimitWait
from perpetualcc.sessions.resume_policy import PATIENCE
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert
from perpetualcc.store.text import to_json

_OPENED = """
UPDATE limit_waits SET resets_at = min(resets_at, :now), due = min(due, :due)
WHERE window = :window AND over_at IS NULL AND at <= :since
"""
_WOKEN = """
UPDATE tasks SET due = :due, updated_at = :now
WHERE state = 'waiting' AND due > :due AND substr(signal, 1, length(:limit)) = :limit
  AND (result = :with_others AND updated_at <= :since
       OR id IN (SELECT task FROM limit_waits
                 WHERE window = :window AND over_at IS NULL AND at <= :since))
RETURNING group_name
"""
_SHOWN = """
UPDATE sessions SET resumes_at = min(resumes_at, :due)
WHERE id IN (SELECT value FROM json_each(:woken))
"""


class SqliteLimitWaits:
    """`sessions.limit_waits.LimitWaits`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, wait: LimitWait) -> None:
        await patiently(lambda: self._database.write(lambda c: _add(c, wait), durable=True))

    async def open_of(self, task: TaskId) -> "list[LimitWait]":
        return await self._kept("task = ?", task)

    async def ahead(self, now: float) -> "list[LimitWait]":
        return await self._kept("max(due, coalesce(resets_at, 0)) > ?", now)

    async def _kept(self, which: str, value: TaskId | float) -> list[LimitWait]:
        query = f"SELECT * FROM limit_waits WHERE over_at IS NULL AND {which} ORDER BY number"  # noqa: S608  # ours
        return await self._database.read(
            lambda c: [_wait(row) for row in c.execute(query, (value,))]
        )

    async def over(self, task: TaskId, now: float) -> None:
        await patiently(
            lambda: self._database.execute(
                "UPDATE limit_waits SET over_at = ? WHERE task = ? AND over_at IS NULL", (now, task)
            )
        )

    async def set_back(self, now: float) -> None:
        await self._database.write(lambda c: _set_back(c, now), durable=True)

    async def window_open(
        self, window: LimitWindow, now: float, *, since: float, due: float
    ) -> None:
        values = {"window": window, "now": now, "since": since, "due": due}
        values |= {"limit": SIGNAL, "with_others": WAITS_WITH_OTHERS}
        await self._database.write(lambda c: _open(c, values))


def _open(connection: sqlite3.Connection, values: dict[str, object]) -> None:
    connection.execute(_OPENED, values)
    woken = connection.execute(_WOKEN, values).fetchall()
    groups = {"woken": to_json([row["group_name"] for row in woken])}
    connection.execute(_SHOWN, values | groups)


def add_asked(connection: sqlite3.Connection, asked: EscalationRequest, now: float) -> None:
    """The wait that a person is asked about, in the question's own transaction."""
    limit = asked.raw["limit"]
    due = asked.raw["resumes_at"]
    wait = LimitWait(session=asked.session, task=asked.task, at=now, limit=_info(limit), due=due)
    _add(connection, wait)


def _add(connection: sqlite3.Connection, wait: LimitWait) -> None:
    row = {
        "at": wait.at,
        "session": wait.session,
        "task": wait.task,
        "window": wait.limit.window,
        "model": wait.limit.model,
        "resets_at": wait.limit.resets_at,
        "due": wait.due,
        "fallback": wait.fallback,
    }
    insert(connection, "limit_waits", row)


def _set_back(connection: sqlite3.Connection, now: float) -> None:
    connection.execute(
        "UPDATE limit_waits SET due = due - at + :now, at = :now WHERE over_at IS NULL"
        " AND at > :now AND coalesce(resets_at, 0) <= at AND due - at <= :longest",
        {"now": now, "longest": PATIENCE[-1].total_seconds()},
    )
    connection.execute(
        "UPDATE tasks SET due = :now, updated_at = :now WHERE state = 'waiting'"
        " AND updated_at > :now AND due > :now AND substr(signal, 1, length(:limit)) = :limit",
        {"now": now, "limit": SIGNAL},
    )


def _wait(row: sqlite3.Row) -> LimitWait:
    return LimitWait(
        session=SessionId(row["session"]),
        task=TaskId(row["task"]),
        at=row["at"],
        limit=_info(row),
        due=row["due"],
        fallback=row["fallback"],
    )


def _info(row: sqlite3.Row | dict[str, Any]) -> RateLimitInfo:
    return RateLimitInfo(
        window=LimitWindow(row["window"]), resets_at=row["resets_at"], model=row["model"]
    )
