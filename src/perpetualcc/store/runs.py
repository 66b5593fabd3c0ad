"""Runs as rows: written before a process starts, so that whatever dies, its orphan is known."""

import sqlite3
from dataclasses import dataclass

from perpetualcc.domain.ids import ClaudeSessionId, RunId, SessionId, TaskId
from perpetualcc.domain.sessions import Run
from perpetualcc.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedProcess:
    """The process of a run that has not ended: an orphan, when its engine is gone."""

    run: Run
    pid: int
    process_start: str
    """As the system tells it, to tell the process from a later one with its number."""


class RunStore:
    """Every Claude Code process there ever was."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, run: Run) -> None:
        """Write the run durably, before its process starts."""
        await self._database.write(
            lambda c: c.execute(
                "INSERT INTO runs (id, session, task, claude_session, fence, started_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (run.id, run.session, run.task, run.claude_session, run.fence, run.started_at),
            ),
            durable=True,
        )

    async def set_process(self, run: RunId, pid: int, process_start: str) -> None:
        """Durable, and before the first prompt is sent."""
        await self._database.write(
            lambda c: c.execute(
                "UPDATE runs SET pid = ?, process_start = ? WHERE id = ?", (pid, process_start, run)
            ),
            durable=True,
        )

    async def end(
        self,
        run: RunId,
        *,
        ended_at: float,
        outcome: str,
        tokens_in: int = 0,
        tokens_out: int = 0,
        cost_usd: float = 0.0,
        turns: int = 0,
    ) -> bool:
        """Write what it came to. False when it had ended before: the first word stands."""
        return await self._database.write(
            lambda c: (
                c.execute(
                    "UPDATE runs SET ended_at = ?, outcome = ?, tokens_in = ?, tokens_out = ?,"
                    " cost_usd = ?, turns = ? WHERE id = ? AND ended_at IS NULL",
                    (ended_at, outcome, tokens_in, tokens_out, cost_usd, turns, run),
                ).rowcount
                == 1
            )
        )

    async def list(self, session: SessionId, limit: int | None = None) -> "list[Run]":
        """The session's runs, newest first."""
        return await self._database.read(
            lambda c: [
                _run(row)
                for row in c.execute(
                    "SELECT * FROM runs WHERE session = ? ORDER BY position DESC LIMIT ?",
                    (session, -1 if limit is None else limit),
                )
            ]
        )

    async def unfinished(self) -> "tuple[Run, ...]":
        """Runs that no engine ended: what recovery looks at, oldest first."""
        return await self._database.read(
            lambda c: tuple(
                _run(row)
                for row in c.execute("SELECT * FROM runs WHERE ended_at IS NULL ORDER BY position")
            )
        )

    async def processes(self) -> tuple[StartedProcess, ...]:
        """The processes of the unfinished runs."""
        return await self._database.read(
            lambda c: tuple(
                StartedProcess(run=_run(row), pid=row["pid"], process_start=row["process_start"])
                for row in c.execute(
                    "SELECT * FROM runs WHERE ended_at IS NULL AND pid IS NOT NULL"
                    " ORDER BY position"
                )
            )
        )

    async def is_current(self, run: RunId, fence: int) -> bool:
        """Whether this run is its task's last, has not ended, and holds the task's fence."""
        return await self._database.read(lambda c: _is_current(c, run, fence))


def _is_current(connection: sqlite3.Connection, run: RunId, fence: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM runs r LEFT JOIN tasks t ON t.id = r.task"
        " WHERE r.id = ? AND r.fence = ? AND r.ended_at IS NULL"
        " AND coalesce(t.fence, r.fence) = r.fence"
        " AND r.position = (SELECT max(l.position) FROM runs l WHERE l.task = r.task)",
        (run, fence),
    ).fetchone()
    return found is not None


def _run(row: sqlite3.Row) -> Run:
    return Run(
        id=RunId(row["id"]),
        session=SessionId(row["session"]),
        task=TaskId(row["task"]),
        claude_session=ClaudeSessionId(row["claude_session"]),
        fence=row["fence"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        pid=row["pid"],
        outcome=row["outcome"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        cost_usd=row["cost_usd"],
        turns=row["turns"],
    )
