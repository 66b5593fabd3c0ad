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
    AND (t.started OR json_extract(t.payload, '$.every') IS NULL)
"""  # noqa: S608  # constants only


@dataclass(frozen=True, slots=True)
class SqliteWorkAhead:
    """Looks at the ledger's tasks."""

    database: Database

    async def next_due(self) -> float | None:
        """
        When something next goes on by itself: after a limit, a back-off, or because it was asked
        for then. Work that repeats counts once it has begun. UTC epoch seconds; None: nothing does.
        """
        return await self.database.read(_next)


def _next(connection: sqlite3.Connection) -> float | None:
    due: float | None = connection.execute(_NEXT, LANES).fetchone()[0]
    return due
