"""Which work goes on by itself, without a person, and when."""

import sqlite3
from dataclasses import dataclass

from perpetualcc.domain.tasks import Lane
from perpetualcc.store.database import Database
from perpetualcc.store.tasks import MAY_START
from perpetualcc.store.text import to_json

# Who waits for a person has a due time, too: when the question is settled without one.
BY_ITSELF = f"""
    {MAY_START} AND coalesce(t.signal, '') NOT LIKE 'escalation:%'
"""
LANES = {"lanes": to_json(list(Lane))}

# What comes every day would keep every machine awake for ever.
_NEXT = f"""
    SELECT min(t.due) FROM tasks t WHERE {BY_ITSELF}
    AND (:repeating OR t.started OR json_extract(t.payload, '$.every') IS NULL)
"""  # noqa: S608  # constants only


@dataclass(frozen=True, slots=True)
class SqliteWorkAhead:
    """Looks at the ledger's tasks."""

    database: Database

    async def next_due(self, *, repeating: bool) -> float | None:
        """
        When something next goes on by itself: after a limit, a back-off, or because it was asked
        for then. UTC epoch seconds; None: nothing does.

        `repeating`: work that repeats counts, too, and not only once it has begun.
        """
        return await self.database.read(lambda c: _next(c, repeating=repeating))


def _next(connection: sqlite3.Connection, *, repeating: bool) -> float | None:
    due: float | None = connection.execute(_NEXT, LANES | {"repeating": repeating}).fetchone()[0]
    return due
