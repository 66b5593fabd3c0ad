"""Snapshots of projects, as rows: the files themselves are in the projects' repositories."""

import json
import sqlite3
from collections.abc import Sequence

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert
from perpetualcc.store.text import redacted, storable, to_json

_TOLD = 200
"""Files that were left out and are named."""
_MADE_ANEW = """
ON CONFLICT (session, name) DO UPDATE SET
    at = excluded.at, top = excluded.top, prefix = excluded.prefix,
    commit_id = excluded.commit_id, head = excluded.head, branch = excluded.branch,
    left_out = excluded.left_out, trouble = excluded.trouble, is_kept = excluded.is_kept
"""
# One that something was put back with stays as long as its session goes on.
_PAST = """
SELECT snapshots.* FROM snapshots
LEFT JOIN tasks ON tasks.id = snapshots.task
LEFT JOIN sessions ON sessions.id = snapshots.session
WHERE CASE
    WHEN snapshots.task IS NULL
        THEN snapshots.at < :before
            AND sessions.status IN ('COMPLETED', 'STOPPED') AND sessions.updated_at < :before
    WHEN tasks.id IS NULL THEN 1
    ELSE tasks.state IN ('done', 'cancelled', 'missed') AND tasks.updated_at < :before
END
ORDER BY snapshots.position LIMIT 1000
"""


class SqliteSnapshots:
    """`sessions.snapshots.record.Snapshots`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, session: SessionId, name: str) -> Snapshot | None:
        query = "SELECT * FROM snapshots WHERE session = ? AND name = ?"
        row = await self._database.row(query, (session, name))
        return None if row is None else _snapshot(row)

    async def put(self, snapshot: Snapshot) -> None:
        row = _row(snapshot)
        await patiently(
            lambda: self._database.write(
                lambda c: insert(c, "snapshots", row, _MADE_ANEW), durable=True
            )
        )

    async def of_session(self, session: SessionId) -> Sequence[Snapshot]:
        query = "SELECT * FROM snapshots WHERE session = ? ORDER BY position"
        rows = await self._database.rows(query, (session,))
        return [_snapshot(row) for row in rows]

    async def old(self, before: float) -> Sequence[Snapshot]:
        rows = await self._database.rows(_PAST, {"before": before})
        return [_snapshot(row) for row in rows]

    async def drop(self, snapshot: Snapshot) -> None:
        query = "DELETE FROM snapshots WHERE session = ? AND name = ?"
        names = (snapshot.session, snapshot.name)
        await self._database.execute(query, names)


def _row(snapshot: Snapshot) -> dict[str, object]:
    told = snapshot.left_out[:_TOLD]
    return {
        "session": snapshot.session,
        "name": snapshot.name,
        "task": snapshot.task,
        "at": snapshot.at,
        "top": storable(snapshot.top),
        "prefix": storable(snapshot.prefix),
        "commit_id": snapshot.commit,
        "head": snapshot.head,
        "branch": storable(snapshot.branch),
        "left_out": to_json([storable(one) for one in told]),
        "trouble": storable(redacted(snapshot.trouble)),
        "is_kept": snapshot.is_kept,
    }


def _snapshot(row: sqlite3.Row) -> Snapshot:
    return Snapshot(
        session=SessionId(row["session"]),
        name=row["name"],
        task=None if row["task"] is None else TaskId(row["task"]),
        at=row["at"],
        top=row["top"],
        prefix=row["prefix"],
        commit=row["commit_id"],
        head=row["head"],
        branch=row["branch"],
        left_out=tuple(json.loads(row["left_out"])),
        trouble=row["trouble"],
        is_kept=bool(row["is_kept"]),
    )
