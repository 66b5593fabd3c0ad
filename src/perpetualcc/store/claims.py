"""What Claude says is done, as rows."""

import sqlite3

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.ids import TaskId
from perpetualcc.goals.claims import Claim
from perpetualcc.store.database import Database
from perpetualcc.store.text import redacted, storable


class SqliteClaims:
    """`goals.claims.Claims`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, task: TaskId) -> Claim | None:
        return await self._database.read(lambda c: _claim(c, task))

    async def put(self, claim: Claim) -> None:
        await patiently(lambda: self._database.write(lambda c: _put(c, claim), durable=True))

    async def drop(self, task: TaskId) -> None:
        await patiently(
            lambda: self._database.execute(
                "DELETE FROM claims WHERE task = ?", (task,), durable=True
            )
        )


def _claim(connection: sqlite3.Connection, task: TaskId) -> Claim | None:
    row = connection.execute("SELECT * FROM claims WHERE task = ?", (task,)).fetchone()
    if row is None:
        return None
    return Claim(task=task, result=row["result"], failed=row["failed"], report=row["report"])


def _put(connection: sqlite3.Connection, claim: Claim) -> None:
    connection.execute(
        "INSERT INTO claims (task, result, failed, report) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (task) DO UPDATE SET result = excluded.result, failed = excluded.failed,"
        " report = excluded.report",
        (
            claim.task,
            storable(redacted(claim.result)),
            claim.failed,
            storable(redacted(claim.report)),
        ),
    )
