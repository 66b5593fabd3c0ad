"""Runs as rows: written before a process starts, ended by its engine or by the next one."""

from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.domain.sessions import Run
from perpetualcc.store.database import Database


class RunStore:
    """Every Claude Code process there ever was."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, run: Run) -> None:
        """Write the run durably, before its process starts."""
        await self._database.execute(
            "INSERT INTO runs (id, session, task, claude_session, fence, started_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (run.id, run.session, run.task, run.claude_session, run.fence, run.started_at),
            durable=True,
        )

    async def process_started(self, run: RunId, pid: int) -> None:
        """Durable, and before the first prompt is sent."""
        await self._database.execute(
            "UPDATE runs SET pid = ? WHERE id = ?", (pid, run), durable=True
        )

    async def has_begun(self, task: TaskId) -> bool:
        """Whether a process was started in one of the task's runs, or anything was used."""
        started = "SELECT 1 FROM runs WHERE task = ? AND (pid IS NOT NULL OR tokens_in > 0)"
        return await self._database.read(
            lambda c: c.execute(started, (task,)).fetchone() is not None
        )

    async def conversations(self) -> set[str]:
        """All that runs have had: the ids that Claude Code knows them by."""
        rows = await self._database.rows("SELECT DISTINCT claude_session FROM runs")
        return {row[0] for row in rows}

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

    async def count(self, session: SessionId) -> int:
        """How many runs the session had."""
        counted = "SELECT count(*) FROM runs WHERE session = ?"
        return await self._database.read(
            lambda c: int(c.execute(counted, (session,)).fetchone()[0])
        )

    async def leapt(self, seconds: float) -> None:
        """The clock went on without the runs at work: they have worked no longer for it."""
        await self._database.execute(
            "UPDATE runs SET started_at = started_at + ? WHERE ended_at IS NULL", (seconds,)
        )

    async def end_lost(self, now: float, *, halted: bool = False) -> None:
        """
        Runs of an engine that died, or that a person `halted`, ended with the last that is on
        record of their session: since then the machine may have been off.
        """
        await self._database.execute(
            "UPDATE runs SET outcome = ?, ended_at = min(?, max(started_at, coalesce("
            "(SELECT at FROM events WHERE session = runs.session ORDER BY seq DESC LIMIT 1),"
            " 0))) WHERE ended_at IS NULL",
            ("halted" if halted else "lost", now),
            durable=True,
        )
