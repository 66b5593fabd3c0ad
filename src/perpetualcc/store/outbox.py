"""Notifications as rows, and the place in the event log up to which people have been told."""

import sqlite3
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import timedelta
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.events import RecordedEvent
from perpetualcc.domain.ids import SessionId
from perpetualcc.human.notifications.message import in_one
from perpetualcc.human.notifications.outbox import (
    GATHERED,
    NEWEST_ONLY,
    Kind,
    NewNotice,
    Notice,
    NoticeState,
)
from perpetualcc.human.notifications.times import LONGEST_QUIET
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.notices import notice_of
from perpetualcc.store.text import redacted, to_json

_BREATH = timedelta(milliseconds=100)
"""What is committed in one go is read in one go."""
_INSERT = """
INSERT INTO notifications (cause, channel, kind, session, escalation, title, body,
    state, created_at, due)
VALUES (:cause, :channel, :kind, :session, :escalation, :title, :body, 'queued', :now, :due)
ON CONFLICT (cause, channel) DO NOTHING
"""
_MOOT = """
UPDATE notifications SET problem = :why, due = iif(state = 'sending', due, NULL),
    ended_at = iif(state = 'sending', NULL, :now), state = iif(state = 'sending', state, 'moot')
WHERE due IS NOT NULL
"""
"""
What is being sent may still arrive; its problem says that it is not tried again. Only what is
queued or being sent has a due time: by it, it is found among all that was ever sent.
"""
_REPLACED = "channel = :channel AND cause <> :cause AND escalation = :escalation"
_OLDER = "channel = :channel AND cause <> :cause AND kind = :kind"
_STANDING = f"kind = '{Kind.STANDSTILL}'"
_OUTDATED = "kind = 'limit' AND session = :session"
_SETTLED = "escalation = :number"
_IS_MOOT = "state = 'sending' AND problem <> ''"
_AGAIN = f"""
    state = iif({_IS_MOOT}, 'moot', 'queued'), due = iif({_IS_MOOT}, NULL, :due),
    ended_at = iif({_IS_MOOT}, :now, NULL), problem = iif({_IS_MOOT}, problem, :problem)
"""
_SET_BACK = """
UPDATE notifications SET
    due = :now, created_at = min(created_at, :now), started_at = min(started_at, :now)
WHERE due IS NOT NULL
  AND (created_at > :now OR started_at > :now OR due > :now + :longest)
"""


_BEGIN = """
UPDATE notifications SET state = 'sending', attempts = attempts + 1, started_at = :now,
    due = :due, problem = ''
WHERE id = :id AND state = 'queued' RETURNING *
"""
_GATHER = """
UPDATE notifications SET state = 'moot', due = NULL, ended_at = :now, problem = 'told with #' || :id
WHERE due IS NOT NULL AND state = 'queued' AND channel = :channel AND kind = :kind RETURNING *
"""


class SqliteNews:
    """`human.attendant.News` on the event log."""

    def __init__(self, database: Database, events: EventLog) -> None:
        self._database = database
        self._events = events

    async def follow(self, kinds: Collection[str]) -> AsyncIterator[RecordedEvent]:
        place = await self._database.read(
            lambda c: int(c.execute("SELECT seq FROM people_cursor").fetchone()[0])
        )
        async for recorded in self._events.follow(place, kinds=kinds, breath=_BREATH):
            yield recorded

    async def is_ahead(self, kinds: Collection[str]) -> bool:
        return await self._database.read(
            lambda c: bool(
                c.execute(
                    "SELECT EXISTS(SELECT 1 FROM events WHERE seq > (SELECT seq FROM people_cursor)"
                    " AND +kind IN (SELECT value FROM json_each(?)))",
                    (to_json(sorted(kinds)),),
                ).fetchone()[0]
            )
        )


class SqliteOutbox:
    """`human.notifications.outbox.Outbox` on the one SQLite file."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put(
        self,
        notices: Sequence[NewNotice],
        *,
        seen: int | None = None,
        goes_on: SessionId | None = None,
        works: bool = False,
    ) -> None:
        def put(connection: sqlite3.Connection) -> None:
            now = self._clock.now()
            if goes_on is not None:
                over = {"session": goes_on, "why": "the limit was over before it left"}
                connection.execute(f"{_MOOT} AND {_OUTDATED}", {**over, "now": now})
            if works:
                over = {"why": "work went on before it left"}
                connection.execute(f"{_MOOT} AND {_STANDING}", {**over, "now": now})
            self.put_in(connection, notices)
            if seen is not None:
                connection.execute("UPDATE people_cursor SET seq = max(seq, ?)", (seen,))

        await self._database.write(put, durable=bool(notices))

    async def due(self) -> list[Notice]:
        now = self._clock.now()
        return await self._database.read(
            lambda c: [
                notice_of(row)
                for row in c.execute(
                    # Its receipt may come any moment, so what is being sent is always due. The
                    # plus keeps SQLite from walking all that was ever sent, in its order.
                    "SELECT * FROM notifications WHERE due IS NOT NULL"
                    " AND (due <= ? OR state = 'sending') ORDER BY +id LIMIT 50",
                    (now,),
                )
            ]
        )

    async def next_due(self) -> float | None:
        return await self._database.read(
            lambda c: c.execute(
                "SELECT min(due) FROM notifications WHERE due IS NOT NULL"
            ).fetchone()[0]
        )

    async def begin(self, notice: int, *, look_again: float) -> Notice | None:
        return await self._database.write(
            lambda c: self._begin(c, {"id": notice, "due": look_again}), durable=True
        )

    async def postpone(self, notice: int, due: float, problem: str = "") -> None:
        await self._change(notice, _AGAIN, due=due, problem=problem)

    async def end(self, notice: int, state: NoticeState, problem: str = "") -> None:
        await self._change(
            notice,
            "state = :state, due = NULL, ended_at = :now, problem = :problem",
            state=state.value,
            problem=problem,
        )

    async def set_back(self, now: float) -> None:
        """The clock was set back: what waits for its next try is tried now."""
        values = {"now": now, "longest": LONGEST_QUIET.total_seconds()}
        await self._database.execute(_SET_BACK, values)

    async def list(self, limit: int) -> list[Notice]:
        """Newest first."""
        return await self._database.read(
            lambda c: [
                notice_of(row)
                for row in c.execute(
                    "SELECT * FROM notifications ORDER BY id DESC LIMIT ?", (limit,)
                )
            ]
        )

    async def _change(self, notice: int, assignments: str, **values: object) -> None:
        values |= {"now": self._clock.now(), "problem": redacted(str(values["problem"]))}
        await self._database.execute(
            f"UPDATE notifications SET {assignments} WHERE id = :id"  # noqa: S608  # ours
            " AND due IS NOT NULL",
            {**values, "id": notice},
            durable=True,
        )

    def _begin(self, connection: sqlite3.Connection, given: dict[str, Any]) -> Notice | None:
        row = connection.execute(_BEGIN, {**given, "now": self._clock.now()}).fetchone()
        if row is None or Kind(row["kind"]) not in GATHERED:
            return row and notice_of(row)
        others = connection.execute(_GATHER, {**dict(row), "now": self._clock.now()}).fetchall()
        if not others:
            return notice_of(row)
        title, body = in_one([notice_of(one).what for one in (row, *others)])
        told = "UPDATE notifications SET title = ?, body = ? WHERE id = ? RETURNING *"
        return notice_of(connection.execute(told, (title, body, row["id"])).fetchone())

    def put_in(self, connection: sqlite3.Connection, notices: Sequence[NewNotice]) -> None:
        """`put`, in a transaction that is open."""
        now = self._clock.now()
        for one in notices:
            row = {
                "cause": one.cause,
                "channel": one.channel,
                "kind": one.kind,
                "session": one.session,
                "escalation": one.escalation,
                "title": redacted(one.title),
                "body": redacted(one.body),
                "now": now,
                "due": now + GATHERED.get(one.kind, timedelta()).total_seconds(),
            }
            if connection.execute(_INSERT, row).rowcount:
                earlier = _OLDER if one.kind in NEWEST_ONLY else _REPLACED
                later = {**row, "why": "a later message says it"}
                connection.execute(f"{_MOOT} AND {earlier}", later)


def spare_people(connection: sqlite3.Connection, number: int, now: float) -> None:
    """What has not left yet about a request that is settled need not leave any more."""
    settled = {"number": number, "why": "it was settled before it left", "now": now}
    connection.execute(f"{_MOOT} AND {_SETTLED}", settled)
