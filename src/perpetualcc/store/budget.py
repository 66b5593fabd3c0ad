"""The budget as rows. What is left is looked at and reserved in one transaction."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.sessions.budget import (
    BudgetLimits,
    BudgetRequest,
    Grant,
    Refusal,
    Spent,
    day_of,
    decide_grant,
    with_limit,
)
from perpetualcc.store.budget_days import on_day
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert

_WEEK = "seven_day"
_DUST = 1e-6
"""Dollars by which a sum of fractions may be wrong: six times $0.05 is no less than $0.30."""


class SqliteBudget:
    """`sessions.budget.BudgetStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recover(self, now: float) -> None:
        """
        Runs of an engine that died hold nothing any more; what they used stays used. They ended
        with the last that is on record of them: since then the machine may have been off.
        """
        await self._database.execute(
            "UPDATE spending SET ended_at = min(?, max(started_at, coalesce((SELECT at"
            " FROM events WHERE session = spending.session ORDER BY seq DESC LIMIT 1), 0))),"
            " reserved_tokens = 0, reserved_usd = 0 WHERE ended_at IS NULL",
            (now,),
            durable=True,
        )

    async def leapt(self, seconds: float) -> None:
        """The clock went on without the runs at work: they have worked no longer for it."""
        await self._database.execute(
            "UPDATE spending SET started_at = started_at + ? WHERE ended_at IS NULL", (seconds,)
        )

    async def limits(self, now: float) -> BudgetLimits:
        return await self._database.read(lambda c: on_day(c, _limits(c), now))

    async def set_limit(self, name: str, value: float) -> BudgetLimits:
        return await self._database.write(lambda c: _set_limit(c, name, value), durable=True)

    async def reserve(self, request: BudgetRequest, now: float) -> Grant | Refusal:
        return await self._database.write(lambda c: _reserve(c, request, now), durable=True)

    async def spend(self, task: TaskId, tokens: int, usd: float, now: float) -> Grant | Refusal:
        return await patiently(
            lambda: self._database.write(lambda c: _spend(c, task, tokens, usd, now))
        )

    def spend_soon(self, task: TaskId, tokens: int, usd: float, now: float) -> None:
        self._database.write_soon(lambda c: _count(c, task, tokens, usd, now))

    def spend_beside(
        self, session: SessionId, task: TaskId, tokens: int, usd: float, now: float
    ) -> None:
        self._database.write_soon(lambda c: _spend_beside(c, session, task, tokens, usd, now))

    async def close(self, task: TaskId, tokens: int, usd: float, now: float) -> None:
        await self._database.write(lambda c: _close(c, task, tokens, usd, now), durable=True)

    def saw_window(self, use: WindowUse) -> None:
        self._database.write_soon(
            lambda c: c.execute(
                "INSERT INTO usage_windows (window, used, resets_at) VALUES (?, ?, ?)"
                " ON CONFLICT (window) DO UPDATE SET used = excluded.used,"
                " resets_at = excluded.resets_at",
                (use.window, use.used, use.resets_at),
            )
        )

    async def windows(self, now: float) -> Sequence[WindowUse]:
        rows = await self._database.rows(
            "SELECT window, used, resets_at FROM usage_windows WHERE resets_at > ? ORDER BY window",
            (now,),
        )
        return [WindowUse(**row) for row in rows]

    async def spent(self, now: float) -> Spent:
        return await self._database.read(lambda c: _spent(c, None, now))

    async def of_sessions(
        self, sessions: Collection[SessionId]
    ) -> Mapping[SessionId, tuple[int, float]]:
        """Fresh tokens and dollars of all their runs; those that never ran are left out."""
        rows = await self._database.rows(
            "SELECT session, sum(tokens) AS tokens, sum(usd) AS usd FROM spending"
            " WHERE session IN (SELECT value FROM json_each(?)) GROUP BY session",
            (json.dumps(list(sessions)),),
        )
        return {SessionId(row["session"]): (row["tokens"], row["usd"]) for row in rows}

    async def week_resets_at(self) -> float | None:
        row = await self._database.row(
            "SELECT resets_at FROM usage_windows WHERE window = ?", (_WEEK,)
        )
        return None if row is None else row["resets_at"]


def _limits(connection: sqlite3.Connection) -> BudgetLimits:
    known = {one.name for one in fields(BudgetLimits)}
    limits = BudgetLimits()
    for row in connection.execute("SELECT name, value FROM budget_limits"):
        if row["name"] in known:
            limits = with_limit(limits, row["name"], row["value"])
    return limits


def _set_limit(connection: sqlite3.Connection, name: str, value: float) -> BudgetLimits:
    changed = with_limit(_limits(connection), name, value)
    connection.execute(
        "INSERT INTO budget_limits (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
    return changed


def _reserve(connection: sqlite3.Connection, request: BudgetRequest, now: float) -> Grant | Refusal:
    connection.execute(
        "UPDATE spending SET ended_at = ?, reserved_tokens = 0, reserved_usd = 0"
        " WHERE task = ? AND ended_at IS NULL",
        (now, request.task),
    )
    limits = on_day(connection, _limits(connection), now)
    granted = decide_grant(limits, _spent(connection, request.task, now), request)
    if isinstance(granted, Grant):
        row = {
            "session": request.session,
            "task": request.task,
            "unattended": request.is_unattended,
            "resume_tokens": request.resume_tokens,
            "day": day_of(now),
            "started_at": now,
            "reserved_tokens": granted.tokens or 0,
            "reserved_usd": granted.usd or 0.0,
        }
        insert(connection, "spending", row)
    return granted


def _close(
    connection: sqlite3.Connection, task: TaskId, tokens: int, usd: float, now: float
) -> None:
    _turn_day(connection, task, now)
    connection.execute(
        "UPDATE spending SET ended_at = ?, reserved_tokens = 0, reserved_usd = 0,"
        # A run that was killed never told its total: what was counted on the way stands.
        " tokens = CASE WHEN ? > 0 THEN max(? - earlier_tokens, 0) ELSE tokens END,"
        " usd = CASE WHEN ? > 0 THEN max(? - earlier_usd, 0) ELSE usd END"
        " WHERE task = ? AND ended_at IS NULL",
        (now, tokens, tokens, usd, usd, task),
    )


def _turn_day(connection: sqlite3.Connection, task: TaskId, now: float) -> None:
    """A run goes on past midnight: what it used so far stays with the day that is over."""
    row = connection.execute(
        "SELECT number FROM spending WHERE task = ? AND ended_at IS NULL AND day <> ?",
        (task, day_of(now)),
    ).fetchone()
    if row is None:
        return
    kept = "session, task, unattended, resume_tokens, day, started_at, tokens, usd"
    connection.execute(
        f"INSERT INTO spending ({kept}, ended_at)"  # noqa: S608
        f" SELECT {kept}, ? FROM spending WHERE number = ?",
        (now, row["number"]),
    )
    connection.execute(
        "UPDATE spending SET day = ?, started_at = ?, tokens = 0, usd = 0,"
        " earlier_tokens = earlier_tokens + tokens, earlier_usd = earlier_usd + usd,"
        # Whatever it uses next, it asks the new day for more.
        " reserved_tokens = min(reserved_tokens, 1), reserved_usd = min(reserved_usd, 1e-9)"
        " WHERE number = ?",
        (day_of(now), now, row["number"]),
    )


def _count(
    connection: sqlite3.Connection, task: TaskId, tokens: int, usd: float, now: float
) -> None:
    _turn_day(connection, task, now)
    connection.execute(
        "UPDATE spending SET tokens = tokens + ?, usd = usd + ?"
        " WHERE task = ? AND ended_at IS NULL",
        (tokens, usd, task),
    )


def _spend_beside(
    connection: sqlite3.Connection,
    session: SessionId,
    task: TaskId,
    tokens: int,
    usd: float,
    now: float,
) -> None:
    connection.execute(
        "INSERT INTO spending (session, task, unattended, resume_tokens, day, started_at,"
        " ended_at, tokens, usd) VALUES (?, ?, coalesce((SELECT unattended FROM spending"
        " WHERE task = ? ORDER BY number DESC LIMIT 1), 0), 0, ?, ?, ?, ?, ?)",
        (session, task, task, day_of(now), now, now, tokens, usd),
    )
    # It comes off what the run at work reserved, which else would use the same once more.
    connection.execute(
        "UPDATE spending SET"
        " reserved_tokens = min(reserved_tokens, max(reserved_tokens - ?, 1)),"
        " reserved_usd = min(reserved_usd, max(reserved_usd - ?, 1e-9))"
        " WHERE task = ? AND ended_at IS NULL",
        (tokens, usd, task),
    )


def _spend(
    connection: sqlite3.Connection, task: TaskId, tokens: int, usd: float, now: float
) -> Grant | Refusal:
    _count(connection, task, tokens, usd, now)
    row = connection.execute(
        "SELECT * FROM spending WHERE task = ? AND ended_at IS NULL", (task,)
    ).fetchone()
    if row is None:
        return Grant()
    has_room = row["tokens"] < (row["reserved_tokens"] or float("inf")) and row["usd"] + _DUST < (
        row["reserved_usd"] or float("inf")
    )
    if has_room:
        return Grant()
    request = BudgetRequest(
        session=row["session"],
        task=task,
        is_unattended=bool(row["unattended"]),
        resume_tokens=row["resume_tokens"],
    )
    limits = on_day(connection, _limits(connection), now)
    more = decide_grant(limits, _spent(connection, task, now), request)
    if isinstance(more, Grant):
        connection.execute(
            "UPDATE spending SET reserved_tokens = ?, reserved_usd = ? WHERE number = ?",
            (
                row["tokens"] + more.tokens if more.tokens else 0,
                row["usd"] + more.usd if more.usd else 0.0,
                row["number"],
            ),
        )
    return more


def _spent(connection: sqlite3.Connection, task: TaskId | None, now: float) -> Spent:
    day = connection.execute(
        "SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(usd), 0.0) AS usd,"
        " coalesce(sum(tokens * unattended), 0) AS unattended FROM spending WHERE day = ?",
        (day_of(now),),
    ).fetchone()
    held = connection.execute(
        "SELECT coalesce(sum(max(reserved_tokens - tokens, 0)), 0) AS tokens,"
        " coalesce(sum(max(reserved_tokens - tokens, 0) * unattended), 0) AS unattended,"
        " coalesce(sum(max(reserved_usd - usd, 0.0)), 0.0) AS usd"
        " FROM spending WHERE ended_at IS NULL AND task IS NOT ?",
        (task,),
    ).fetchone()
    own = connection.execute(
        "SELECT coalesce(sum(tokens), 0) AS tokens,"
        " coalesce(sum(max(coalesce(ended_at, ?) - started_at, 0.0)), 0.0) AS seconds"
        " FROM spending WHERE task = ?",
        (now, task),
    ).fetchone()
    run = connection.execute(
        "SELECT coalesce(sum(tokens + earlier_tokens), 0) AS tokens,"
        " coalesce(sum(usd + earlier_usd), 0.0) AS usd"
        " FROM spending WHERE task = ? AND ended_at IS NULL",
        (task,),
    ).fetchone()
    week = connection.execute(
        "SELECT used FROM usage_windows WHERE window = ? AND coalesce(resets_at, 0) > ?",
        (_WEEK, now),
    ).fetchone()
    return Spent(
        day_tokens=day["tokens"],
        day_usd=day["usd"],
        unattended_tokens=day["unattended"],
        task_tokens=own["tokens"],
        task_seconds=own["seconds"],
        run_tokens=run["tokens"],
        run_usd=run["usd"],
        held_tokens=held["tokens"],
        held_unattended=held["unattended"],
        held_usd=held["usd"],
        week_used=week["used"] if week else 0.0,
    )
