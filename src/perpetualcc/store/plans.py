"""The plans of goals, as rows."""

import json
import sqlite3

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.ids import TaskId
from perpetualcc.goals.plans import Part, Plan
from perpetualcc.store.database import Database
from perpetualcc.store.text import redacted, to_json


class SqlitePlans:
    """`goals.plans.Plans`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, goal: TaskId) -> Plan | None:
        return await self._database.read(lambda c: _plan(c, goal))

    async def put(self, goal: TaskId, plan: Plan) -> None:
        row = (goal, to_json(redacted(plan.data())), plan.is_agreed)
        await patiently(
            lambda: self._database.execute(
                "INSERT INTO plans (goal, parts, agreed) VALUES (?, ?, ?) ON CONFLICT (goal)"
                " DO UPDATE SET parts = excluded.parts, agreed = excluded.agreed",
                row,
                durable=True,
            )
        )

    async def drop(self, goal: TaskId) -> None:
        await patiently(
            lambda: self._database.execute(
                "DELETE FROM plans WHERE goal = ?", (goal,), durable=True
            )
        )


def _plan(connection: sqlite3.Connection, goal: TaskId) -> Plan | None:
    row = connection.execute("SELECT * FROM plans WHERE goal = ?", (goal,)).fetchone()
    if row is None:
        return None
    parts = (
        Part(
            title=one["title"],
            prompt=one["prompt"],
            after=tuple(one["after"]),
            checks=tuple(one["checks"]),
        )
        for one in json.loads(row["parts"])
    )
    return Plan(parts=tuple(parts), is_agreed=bool(row["agreed"]))
