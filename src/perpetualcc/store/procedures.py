"""Procedures in SQLite."""

import sqlite3
import time

from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.secrets import redact
from perpetualcc.memory.procedural import Procedure
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert
from perpetualcc.store.text import storable

_COLUMNS = (
    "id, event_type, trigger_pattern, action, confidence, success_count, failure_count,"
    " provenance, project"
)
_SAID_AGAIN = (
    "ON CONFLICT (event_type, project, trigger_pattern) DO UPDATE SET action = excluded.action,"
    " updated_at = excluded.updated_at RETURNING id"
)


class SqliteProcedures:
    """`memory.procedural.ProcedureTable`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str, int], list[Procedure]] = {}
        """What was read since the last change: asked for at each call that a rule leaves open."""

    async def add(self, procedure: Procedure) -> int:
        now = time.time()
        row = {
            "project": storable(procedure.project),
            "event_type": procedure.event_type,
            "trigger_pattern": redact(storable(procedure.trigger_pattern)),
            "action": redact(storable(procedure.action)),
            "confidence": procedure.confidence,
            "provenance": str(procedure.provenance),
            "created_at": now,
            "updated_at": now,
        }
        number = await self._database.write(
            lambda c: int(insert(c, "procedures", row, _SAID_AGAIN).fetchone()[0])
        )
        self._known = {}
        return number

    async def of_type(self, event_type: str, project: str, limit: int) -> list[Procedure]:
        key = (event_type, storable(project), limit)
        if key not in self._known:
            known = self._known  # a change meanwhile leaves a new one behind
            known[key] = await self._select(
                "WHERE event_type = ? AND project IN ('', ?) ORDER BY confidence DESC, id LIMIT ?",
                key,
            )
            return known[key]
        return self._known[key]

    async def by_trigger(self, trigger: str) -> list[Procedure]:
        return await self._select("WHERE trigger_pattern = ?", (trigger,))

    async def settle(self, number: int, change: float, low: float, high: float) -> None:
        counted = "success_count" if change > 0 else "failure_count"
        await self._database.execute(
            # Rounded, or twenty successes would not add up to one.
            "UPDATE procedures SET confidence = round(min(?, max(?, confidence + ?)), 4),"  # noqa: S608  # constants
            f" {counted} = {counted} + 1, updated_at = ? WHERE id = ?",
            (high, low, change, time.time(), number),
        )
        self._known = {}

    async def _select(self, where: str, values: tuple[object, ...]) -> list[Procedure]:
        def look(connection: sqlite3.Connection) -> list[Procedure]:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM procedures {where}", values)  # noqa: S608  # only our own constants
            return [
                Procedure(
                    id=row[0],
                    event_type=row[1],
                    trigger_pattern=row[2],
                    action=row[3],
                    confidence=row[4],
                    success_count=row[5],
                    failure_count=row[6],
                    provenance=Provenance(row[7]),
                    project=row[8],
                )
                for row in rows
            ]

        return await self._database.read(look)
