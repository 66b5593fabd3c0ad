"""Trust records and a person's rules, as rows."""

import sqlite3
from pathlib import Path

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.store.database import Database
from perpetualcc.store.text import storable


class TrustStore:
    """Which projects a person trusts, and in which state they were seen."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def recorded(self, project: Path) -> str | None:
        """The hash that was trusted."""
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT hash FROM trust WHERE project = ?", (storable(str(project)),)
            ).fetchone()
        )
        return None if row is None else str(row["hash"])

    async def trust(self, project: Path, content_hash: str) -> None:
        await self._database.write(
            lambda c: c.execute(
                "INSERT INTO trust (project, hash, trusted_at) VALUES (?, ?, ?)"
                " ON CONFLICT (project) DO UPDATE"
                " SET hash = excluded.hash, trusted_at = excluded.trusted_at",
                (storable(str(project)), content_hash, self._clock.now()),
            ),
            durable=True,
        )

    async def forget(self, project: Path) -> bool:
        """False: it was not trusted."""
        return await self._database.write(
            lambda c: (
                c.execute("DELETE FROM trust WHERE project = ?", (storable(str(project)),)).rowcount
                > 0
            ),
            durable=True,
        )


class RuleStore:
    """A person's rules, in the order they were made."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> tuple[Rule, ...]:
        return await self._database.read(
            lambda c: tuple(
                _rule(row) for row in c.execute("SELECT * FROM rules ORDER BY position")
            )
        )

    async def add(self, rule: Rule) -> None:
        await self._database.write(
            lambda c: c.execute(
                "INSERT INTO rules (id, effect, subject, pattern, includes_high, project, note,"
                " made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    rule.id,
                    rule.effect,
                    rule.subject,
                    storable(rule.pattern),
                    rule.includes_high,
                    storable(rule.project),
                    storable(rule.note),
                    self._clock.now(),
                ),
            ),
            durable=True,
        )

    async def remove(self, rule: str) -> None:
        """Raises PerpetualError when there is no such rule."""
        removed = await self._database.write(
            lambda c: c.execute("DELETE FROM rules WHERE id = ?", (rule,)).rowcount, durable=True
        )
        if not removed:
            raise PerpetualError(
                f"No rule is called {rule!r}", hint="See them with: pcc rules list"
            )


def _rule(row: sqlite3.Row) -> Rule:
    return Rule(
        id=row["id"],
        effect=RuleEffect(row["effect"]),
        subject=RuleSubject(row["subject"]),
        pattern=row["pattern"],
        includes_high=bool(row["includes_high"]),
        project=row["project"],
        note=row["note"],
    )
