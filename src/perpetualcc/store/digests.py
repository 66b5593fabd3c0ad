"""Which days have had their digest, written together with its messages."""

import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta

from perpetualcc.human.notifications.outbox import NewNotice
from perpetualcc.store.database import Database
from perpetualcc.store.outbox import SqliteOutbox

_TOLD_UNTIL = """
SELECT coalesce(
    (SELECT max(at) FROM digests d WHERE at < :now AND NOT EXISTS (
        SELECT 1 FROM notifications
        WHERE cause = 'digest:' || d.day AND channel = :channel AND state <> 'sent')),
    (SELECT min(at) FROM digests WHERE at < :now) - :first)
"""


class SqliteDigests:
    """Each method is one durable transaction."""

    def __init__(self, database: Database, outbox: SqliteOutbox) -> None:
        self._database = database
        self._outbox = outbox

    async def is_done(self, day: date) -> bool:
        found = "SELECT 1 FROM digests WHERE day = ?"
        return await self._database.read(
            lambda c: c.execute(found, (day.isoformat(),)).fetchone() is not None
        )

    async def told_until(self, now: float, channel: str, first: timedelta) -> float | None:
        """
        UTC epoch seconds of the one before that has left through the channel, or had nothing to
        tell there; not of one that a false clock sent ahead of time. Where none has left yet, what
        the `first` one told of begins so long before it. None: there was none.
        """
        values = {"now": now, "channel": channel, "first": first.total_seconds()}
        return await self._database.read(lambda c: c.execute(_TOLD_UNTIL, values).fetchone()[0])

    async def finish(self, day: date, at: float, notices: Sequence[NewNotice]) -> bool:
        """The day has had its digest. False: it had one before, and nothing was put."""

        def finish(connection: sqlite3.Connection) -> bool:
            insert = "INSERT INTO digests (day, at) VALUES (?, ?) ON CONFLICT DO NOTHING"
            is_first = connection.execute(insert, (day.isoformat(), at)).rowcount == 1
            if is_first:
                self._outbox.put_in(connection, notices)
            return is_first

        return await self._database.write(finish, durable=True)

    async def still_since(self) -> float | None:
        """When the last run ended; None while one is at work, or there never was one."""
        look = "SELECT iif(count(*) > count(ended_at), NULL, max(ended_at)) FROM runs"
        return await self._database.read(lambda c: c.execute(look).fetchone()[0])
