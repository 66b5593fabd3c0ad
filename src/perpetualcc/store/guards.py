"""Trust records and a person's rules, as rows."""

import sqlite3
from dataclasses import replace
from pathlib import Path

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert
from perpetualcc.store.text import storable


class TrustStore:
    """Which projects a person trusts, and in which state they were seen."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[Path, str | None] = {}
        """Read once: this process is the only writer."""

    async def recorded(self, project: Path) -> str | None:
        """The hash that was trusted."""
        if project not in self._known:
            self._known[project] = await self._read(project)
        return self._known[project]

    async def _read(self, project: Path) -> str | None:
        row = await self._database.row(
            "SELECT hash FROM trust WHERE project = ?", (storable(str(project)),)
        )
        return None if row is None else str(row["hash"])

    async def trust(self, project: Path, content_hash: str) -> None:
        await self._database.execute(
            "INSERT INTO trust (project, hash, trusted_at) VALUES (?, ?, ?)"
            " ON CONFLICT (project) DO UPDATE"
            " SET hash = excluded.hash, trusted_at = excluded.trusted_at",
            (storable(str(project)), content_hash, self._clock.now()),
            durable=True,
        )
        self._known.clear()

    async def forget(self, project: Path) -> bool:
        """False: it was not trusted."""
        found = await self._database.execute(
            "DELETE FROM trust WHERE project = ?", (storable(str(project)),), durable=True
        )
        self._known.clear()
        return found.rowcount > 0


class RuleStore:
    """A person's rules, in the order they were made."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: tuple[Rule, ...] | None = None
        """Read once: this process is the only writer."""

    async def all(self) -> tuple[Rule, ...]:
        if self._known is None:
            self._known = await self._database.read(all_rules)
        return self._known

    async def add(self, rule: Rule) -> Rule:
        """The rule that holds now: this one, or what said the same before: one is removed once."""
        for known in await self.all():
            if replace(known, id=rule.id, note=rule.note) == rule:
                return known
        row = {
            "id": rule.id,
            "effect": rule.effect,
            "subject": rule.subject,
            "pattern": storable(rule.pattern),
            "includes_high": rule.includes_high,
            "project": storable(rule.project),
            "note": storable(rule.note),
            "made_at": self._clock.now(),
        }
        await self._database.write(lambda c: insert(c, "rules", row), durable=True)
        self._known = None
        return rule

    async def remove(self, rule: str) -> None:
        """Raises PerpetualError when there is no such rule."""
        removed = await self._database.write(
            lambda c: c.execute("DELETE FROM rules WHERE id = ?", (rule,)).rowcount, durable=True
        )
        self._known = None
        if not removed:
            raise PerpetualError(
                f"No rule is called {rule!r}", hint="See them with: pcc rules list"
            )


def all_rules(connection: sqlite3.Connection) -> tuple[Rule, ...]:
    """In the order they were made."""
    rows = connection.execute("SELECT * FROM rules ORDER BY position")
    return tuple(_rule(row) for row in rows)


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
