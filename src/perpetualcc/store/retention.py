"""
What is old and done with leaves the database: events, receipts of notifications, used signals, and
of work that repeats all times but the newest.

What a person decided or was asked stays, and so does everything that somebody may still wait for,
or has not read. A few thousand rows a transaction: nobody waits long for the database meanwhile.
"""

import logging
import sqlite3
from datetime import timedelta

from perpetualcc.domain.clock import Clock
from perpetualcc.store.database import Database

log = logging.getLogger(__name__)

_BATCH = 2_000

# The newest hundred times of each session stay, and what something else came after.
_TIMES = """
SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY group_name ORDER BY position DESC) AS age
    FROM tasks WHERE state IN ('done', 'missed') AND json_extract(payload, '$.every') IS NOT NULL)
WHERE age > 100
  AND id NOT IN (SELECT task FROM task_after UNION SELECT after FROM task_after)
LIMIT :batch
"""
# Never what people have not been told of yet, what was answered, nor, of a session that may go on,
# its newest event and those of a task that may go on or ended lately.
_EVENTS = """
SELECT seq FROM events
WHERE at < :before
  AND kind <> 'QuestionAnswered'
  AND seq <= (SELECT seq FROM people_cursor)
  AND (session IS NULL
    OR session NOT IN (
      SELECT id FROM sessions
      WHERE status NOT IN ('COMPLETED', 'STOPPED') OR updated_at >= :before)
    OR (seq < (SELECT max(seq) FROM events AS later WHERE later.session = events.session)
      AND NOT EXISTS (
        SELECT 1 FROM tasks
        WHERE id = events.task
          AND (state NOT IN ('done', 'cancelled', 'missed') OR updated_at >= :before))))
LIMIT :batch
"""
_NOTIFICATIONS = "SELECT id FROM notifications WHERE ended_at < :before LIMIT :batch"
_DIGESTS = "SELECT day FROM digests WHERE at < :before LIMIT :batch"
# A signal stays won as long as a task could ask for it.
_SIGNALS = """
SELECT name FROM signals
WHERE coalesce(consumed_at, sent_at) < :before
  AND NOT EXISTS (
      SELECT 1 FROM tasks
      WHERE (tasks.id = holder OR signal = signals.name)
        AND state IN ('queued', 'running', 'waiting'))
LIMIT :batch
"""
_OUTAGES = "SELECT number FROM outages WHERE ended < :before LIMIT :batch"
_OLD = {
    "tasks": (_TIMES, "DELETE FROM tasks WHERE id = ?"),
    "events": (_EVENTS, "DELETE FROM events WHERE seq = ?"),
    "notifications": (_NOTIFICATIONS, "DELETE FROM notifications WHERE id = ?"),
    "outages": (_OUTAGES, "DELETE FROM outages WHERE number = ?"),
    "digests": (_DIGESTS, "DELETE FROM digests WHERE day = ?"),
    "signals": (_SIGNALS, "DELETE FROM signals WHERE name = ?"),
}


class Retention:
    """Removes what ended longer than `keep` ago; nothing when `keep` is zero."""

    def __init__(self, database: Database, clock: Clock, *, keep: timedelta) -> None:
        self._database = database
        self._clock = clock
        self._keep = keep

    async def forget_old(self) -> dict[str, int]:
        """How many rows went, by table."""
        if not self._keep:
            return {}
        before = self._clock.now() - self._keep.total_seconds()
        gone = {}
        for table, (old, delete) in _OLD.items():
            gone[table] = await self._forget(old, delete, before)
        if any(gone.values()):
            log.info("removed what is older than %s: %s", self._keep, gone)
        return gone

    async def _forget(self, old: str, delete: str, before: float) -> int:
        total = 0
        while True:
            count = await self._database.write(lambda c: _forget_some(c, old, delete, before))
            total += count
            if count < _BATCH:
                return total


def _forget_some(connection: sqlite3.Connection, old: str, delete: str, before: float) -> int:
    rows = connection.execute(old, {"before": before, "batch": _BATCH}).fetchall()
    connection.executemany(delete, [tuple(row) for row in rows])
    return len(rows)
