"""How often in a row the runs of a task were ended for the memory that they held."""

import sqlite3
from datetime import timedelta

from perpetualcc.domain.events import MemoryOutgrown
from perpetualcc.domain.ids import TaskId
from perpetualcc.store.database import Database

_SOON = timedelta(minutes=30).total_seconds()
"""A run that worked for longer grew slowly, and a fresh process is all that it takes."""
_LOOKED_AT = 10

_RUNS = """
SELECT r.ended_at - r.started_at AS seconds,
    (SELECT json_extract(e.data, '$.text') FROM events e
     WHERE e.session = r.session AND e.run = r.id AND +e.kind = ?) AS text
FROM runs r WHERE r.task = ? ORDER BY r.position DESC LIMIT ?
"""


class SqliteRunMemory:
    """Reads runs and events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def in_a_row(self, task: TaskId) -> int:
        """The newest runs that were all ended for it, each within half an hour of its start."""
        times = 0
        for row in await self._runs(task, _LOOKED_AT):
            if row["text"] is None:
                break
            times += 1
            if (row["seconds"] or 0) >= _SOON:
                break
        return times

    async def last(self, task: TaskId) -> str:
        """Why the task's newest run was ended, where that was it; else empty."""
        return next((row["text"] or "" for row in await self._runs(task, 1)), "")

    async def _runs(self, task: TaskId, most: int) -> list[sqlite3.Row]:
        kind = MemoryOutgrown.__name__
        return await self._database.rows(_RUNS, (kind, task, most))
