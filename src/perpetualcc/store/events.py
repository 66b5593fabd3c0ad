"""
The event log: append-only, in one order, redacted before it is written.

A session's status and usage are projections of it, updated in the same transaction.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.decisions import authority_on_record
from perpetualcc.domain.events import (
    EVENT_TYPES,
    Event,
    RecordedEvent,
    SessionStatusChanged,
    ToolDecided,
    UsageReported,
)
from perpetualcc.domain.ids import SessionId
from perpetualcc.store.database import Database
from perpetualcc.store.text import redacted, to_json

log = logging.getLogger(__name__)

_PAGE = 500
"""Events that a follower reads at a time."""


class EventLog:
    """What happened, in order. Readers see committed events only; numbers never come again."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def append(self, events: Iterable[Event], *, durable: bool = False) -> int:
        """Write the events in one transaction. Returns the last one's number, 0 without any."""
        batch = tuple(events)
        return await self._database.write(lambda c: self.append_in(c, batch), durable=durable)

    def append_soon(self, events: Iterable[Event]) -> None:
        """The same without waiting: on file before whatever is written after it."""
        batch = tuple(events)
        self._database.write_soon(lambda c: self.append_in(c, batch))

    def append_in(self, connection: sqlite3.Connection, events: Iterable[Event]) -> int:
        """The same inside another transaction, on the database's thread."""
        last = 0
        now = self._clock.now()
        for event in events:
            data = redacted(event.data())
            cursor = connection.execute(
                "INSERT INTO events (at, kind, session, run, task, data) VALUES (?, ?, ?, ?, ?, ?)",
                (now, event.kind, event.session, event.run, event.task, to_json(data)),
            )
            last = cursor.lastrowid or last
            self._database.touch(event.kind)
            _project(connection, event, data, now)
        return last

    async def tail(
        self,
        session: SessionId | None,
        count: int,
        *,
        kinds: Collection[str] | None = None,
        levels: Collection[str] | None = None,
        before: int | None = None,
    ) -> list[RecordedEvent]:
        """
        The last `count` events, oldest first; of every session when `session` is None. Kinds of a
        newer version are left out.

        `before`: only those with a lower number, to read on towards the beginning.
        """
        wanted = _wanted(kinds, levels)
        rows = await self._database.read(
            lambda c: _rows(c, wanted, 0, session, count, newest_first=True, before=before)
        )
        return [recorded for row in reversed(rows) if (recorded := _recorded(row))]

    async def last(self) -> int:
        """The number of the newest event, 0 when there is none."""
        return await self._database.read(
            lambda c: int(c.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])
        )

    async def follow(
        self,
        since: int = 0,
        *,
        session: SessionId | None = None,
        kinds: Collection[str] | None = None,
        breath: timedelta = timedelta(milliseconds=20),
    ) -> AsyncIterator[RecordedEvent]:
        """
        The past after `since` and then the present, without a gap or a double.

        `breath`: how long after a commit is looked again, so that a crowd of commits costs one
        look. Ends when the database closes.
        """
        cursor, wanted = since, _wanted(kinds, None)
        while not self._database.is_closed:
            # Taken before the read: a commit that the read misses wakes us.
            committed = self._database.next_commit(wanted)
            rows, last = await self._database.read(
                partial(_rows_and_last, kinds=wanted, since=cursor, session=session, limit=_PAGE)
            )
            for row in rows:
                cursor = row["seq"]
                if recorded := _recorded(row):
                    yield recorded
            if len(rows) < _PAGE:
                cursor = last
                await committed.wait()
                await asyncio.sleep(breath.total_seconds())


def _project(
    connection: sqlite3.Connection, event: Event, data: dict[str, Any], now: float
) -> None:
    match event:
        case SessionStatusChanged():
            connection.execute(
                "UPDATE sessions SET status = ?, detail = ?, resumes_at = ?, updated_at = ?"
                " WHERE id = ?",
                (data["after"], data["detail"], data["resumes_at"], now, event.session),
            )
        case UsageReported():
            connection.execute(
                "UPDATE sessions SET tokens = ?, context_window = ?, updated_at = ? WHERE id = ?",
                (data["context_tokens"], data["context_window"], now, event.session),
            )
        case _:
            pass


def _wanted(kinds: Collection[str] | None, levels: Collection[str] | None) -> list[str]:
    """The kinds this version knows and the reader asked for."""
    return [
        kind
        for kind, event_type in EVENT_TYPES.items()
        if (kinds is None or kind in kinds) and (levels is None or event_type.level in levels)
    ]


def _rows(
    connection: sqlite3.Connection,
    kinds: Sequence[str],
    since: int,
    session: SessionId | None,
    limit: int,
    *,
    newest_first: bool = False,
    before: int | None = None,
) -> list[sqlite3.Row]:
    of_session = "" if session is None else " AND session = :session"
    of_session += "" if before is None else " AND seq < :before"
    return connection.execute(
        # The unary plus keeps SQLite on the index by number, which also gives the order.
        f"SELECT * FROM events WHERE seq > :since{of_session}"  # noqa: S608  # constants only
        " AND +kind IN (SELECT value FROM json_each(:kinds))"
        f" ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT :limit",
        {
            "since": since,
            "before": before,
            "session": session,
            "kinds": to_json(kinds),
            "limit": limit,
        },
    ).fetchall()


def _rows_and_last(
    connection: sqlite3.Connection,
    kinds: Sequence[str],
    since: int,
    session: SessionId | None,
    limit: int,
) -> tuple[list[sqlite3.Row], int]:
    """The rows, and the number of the log's newest event at the same moment."""
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
    return _rows(connection, kinds, since, session, limit), max(last, since)


def _recorded(row: sqlite3.Row) -> RecordedEvent | None:
    """None for an event whose fields this version does not understand."""
    ids = {"session": row["session"], "run": row["run"], "task": row["task"]}
    data = json.loads(row["data"])
    try:
        if row["kind"] == ToolDecided.__name__:
            data["decided_by"] = authority_on_record(data["decided_by"], data["reason"])
        event = EVENT_TYPES[row["kind"]].from_data(data, **ids)
    except (KeyError, TypeError):
        log.warning("event %s of kind %s is of another version", row["seq"], row["kind"])
        return None
    return RecordedEvent(seq=row["seq"], at=row["at"], event=event)
