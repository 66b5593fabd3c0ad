"""Facts in SQLite."""

import sqlite3
from collections.abc import Sequence

from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.secrets import redact
from perpetualcc.memory.semantic import Fact, FactCategory
from perpetualcc.store.database import Database

# Put into statements below; nothing that comes from outside is.
_RANK = "CASE provenance WHEN 'user' THEN 0 WHEN 'repository' THEN 1 WHEN 'tool' THEN 2 ELSE 3 END"
_NEW_RANK = _RANK.replace("CASE provenance", "CASE excluded.provenance")


class SqliteFacts:
    """`memory.semantic.FactTable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, fact: Fact) -> int:
        values = (
            fact.project, str(fact.category), redact(fact.fact), redact(fact.source),
            str(fact.provenance), fact.created_at,
        )  # fmt: skip

        def insert(connection: sqlite3.Connection) -> int:
            connection.execute(
                "INSERT INTO facts (project_path, category, fact, source, provenance, created_at)"  # noqa: S608
                " VALUES (?,?,?,?,?,?) ON CONFLICT (project_path, category, fact) DO UPDATE SET"
                " source = excluded.source, provenance = excluded.provenance"
                f" WHERE {_NEW_RANK} < {_RANK.replace('CASE prov', 'CASE facts.prov')}",
                values,
            )
            row = connection.execute(
                "SELECT id FROM facts WHERE project_path = ? AND category = ? AND fact = ?",
                values[:3],
            ).fetchone()
            return int(row[0])

        return await self._database.write(insert)

    async def of_project(self, project: str, category: FactCategory | None) -> list[Fact]:
        def look(connection: sqlite3.Connection) -> list[Fact]:
            rows = connection.execute(
                "SELECT id, project_path, category, fact, source, provenance, created_at,"  # noqa: S608
                " last_useful FROM facts WHERE project_path = ? AND (? IS NULL OR category = ?)"
                f" ORDER BY {_RANK}, created_at DESC",
                (project, category and str(category), category and str(category)),
            )
            return [
                Fact(
                    id=row[0],
                    project=row[1],
                    category=FactCategory(row[2]),
                    fact=row[3],
                    source=row[4],
                    provenance=Provenance(row[5]),
                    created_at=row[6],
                    last_useful=row[7],
                )
                for row in rows
            ]

        return await self._database.read(look)

    async def mark_useful(self, numbers: Sequence[int], at: float) -> None:
        rows = [(at, number) for number in numbers]
        await self._database.write(
            lambda c: c.executemany("UPDATE facts SET last_useful = ? WHERE id = ?", rows)
        )

    async def forget(self, provenance: Provenance, before: float) -> int:
        old = "provenance = ? AND created_at < ? AND coalesce(last_useful, 0) < ?"
        values = (str(provenance), before, before)
        delete = f"DELETE FROM facts WHERE {old}"  # noqa: S608  # only our own constants
        return await self._database.write(lambda c: c.execute(delete, values).rowcount)

    async def remove(self, number: int) -> str:
        delete = "DELETE FROM facts WHERE id = ? RETURNING fact"
        row = await self._database.write(lambda c: c.execute(delete, (number,)).fetchone())
        return str(row["fact"]) if row else ""
