"""A budget on one day: whether a person was asked about it, and what they allowed for the day."""

import sqlite3

from perpetualcc.sessions.budget import BudgetLimits, day_of, with_limit
from perpetualcc.store.database import Database


class SqliteBudgetDays:
    """Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def was_asked(self, name: str, now: float) -> bool:
        """Whether a person was asked today, and has not raised it since."""
        row = await self._database.row(
            "SELECT asked FROM budget_days WHERE name = ? AND day = ?", (name, day_of(now))
        )
        return row is not None and bool(row["asked"])

    async def asked(self, name: str, now: float) -> None:
        await self._database.execute(
            "INSERT INTO budget_days (name, day, asked) VALUES (?, ?, 1)"
            " ON CONFLICT (name, day) DO UPDATE SET asked = 1",
            (name, day_of(now)),
            durable=True,
        )

    async def unasked(self, name: str, now: float) -> None:
        await self._database.execute(
            "UPDATE budget_days SET asked = 0 WHERE name = ? AND day = ?",
            (name, day_of(now)),
            durable=True,
        )

    async def raise_for_day(self, name: str, allowed: float, now: float) -> None:
        """Raises: PerpetualError for a number that makes no sense."""
        with_limit(BudgetLimits(), name, allowed)
        await self._database.execute(
            "INSERT INTO budget_days (name, day, allowed) VALUES (?, ?, ?)"
            " ON CONFLICT (name, day) DO UPDATE SET allowed = excluded.allowed, asked = 0",
            (name, day_of(now), allowed),
            durable=True,
        )

    async def forget(self, name: str, now: float) -> None:
        """The budget itself was changed: what was said about today counts no more."""
        await self._database.execute(
            "DELETE FROM budget_days WHERE name = ? AND day = ?", (name, day_of(now)), durable=True
        )


def on_day(connection: sqlite3.Connection, limits: BudgetLimits, now: float) -> BudgetLimits:
    """The limits, with what a person allowed for the day of `now`."""
    for row in connection.execute(
        "SELECT name, allowed FROM budget_days WHERE day = ? AND allowed IS NOT NULL",
        (day_of(now),),
    ):
        limits = with_limit(limits, row["name"], row["allowed"])
    return limits
