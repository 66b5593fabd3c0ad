"""The journal of decisions. The database itself refuses to edit or delete one."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.decisions import RULED, DecidedBy, Decision, Verdict, authority_on_record
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.tools import Risk
from perpetualcc.store.database import Database
from perpetualcc.store.rows import insert
from perpetualcc.store.text import redacted, shortened, to_json

_MOST_OF_A_TEXT = 4_000
"""Characters of a call's text that are kept: what a file came to is in the project."""
_BY = f"iif(decided_by = 'person' AND instr(reason, '; {RULED}'), 'rule', decided_by)"
"""`authority_on_record`, in SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDecision:
    """A decision with what it was about."""

    id: int
    """Grows with each decision of the whole journal."""
    at: float
    session: SessionId
    tool: str
    summary: str
    input: Mapping[str, Any]
    """Redacted, its long texts cut."""
    digest: str
    """SHA-256 of the input as it was, keys sorted: tells two calls apart, reveals neither."""
    decision: Decision


_MOST_TODO = 500
_TODO = """
SELECT tool, input FROM decisions
WHERE session = :session AND tool IN ('TodoWrite', 'TaskCreate', 'TaskUpdate')
  AND verdict = 'allow' AND run IN (
    SELECT id FROM runs WHERE session = :session AND claude_session =
      (SELECT claude_session FROM runs WHERE session = :session ORDER BY position DESC LIMIT 1))
ORDER BY id DESC LIMIT :most
"""
"""As the index `decisions_todo` has it: a session that made no list is not read through."""


class DecisionJournal:
    """Append-only. Changing one's mind is a second record."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def writing(
        self,
        decision: Decision,
        *,
        session: SessionId,
        tool: str,
        summary: str = "",
        tool_input: Mapping[str, Any] | None = None,
    ) -> Callable[[sqlite3.Connection], int]:
        """
        Work for the database that puts it on file, before anything acts on it; gives its number.

        Inside the caller's transaction, so that what tells of it is written with it or not at all.
        """
        at = self._clock.now()
        # Made where it is written: to redact a long input takes time, and the loop has none.
        return lambda connection: (
            insert(
                connection,
                "decisions",
                {
                    "at": at,
                    "session": session,
                    "run": decision.run,
                    "request": decision.request,
                    **redacted(
                        {
                            "tool": tool,
                            "summary": summary,
                            "reason": decision.reason,
                            "message": decision.message,
                        }
                    ),
                    "input": to_json(shortened(redacted(tool_input or {}), _MOST_OF_A_TEXT)),
                    "input_digest": digest(tool_input or {}),
                    "verdict": decision.verdict,
                    "risk": decision.risk,
                    "confidence": decision.confidence,
                    "decided_by": decision.decided_by,
                },
            ).lastrowid
            or 0
        )

    async def read(
        self,
        *,
        session: SessionId | None = None,
        task: TaskId | None = None,
        request: RequestId | None = None,
        risk: Risk | None = None,
        verdict: Verdict | None = None,
        decided_by: DecidedBy | None = None,
        since: float | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[RecordedDecision]:
        """Newest first. `since` is UTC epoch seconds, inclusive; `before` a decision's number."""
        wanted = {
            "session": session,
            "request": request,
            "risk": risk,
            "verdict": verdict,
            "decided_by": decided_by,
        }
        equal = {column: value for column, value in wanted.items() if value is not None}
        computed = {"decided_by": _BY}
        conditions = [f"{computed.get(column, column)} = :{column}" for column in equal]
        if since is not None:
            conditions.append("at >= :since")
        if before is not None:
            conditions.append("id < :before")
        if task is not None:
            conditions.append("run IN (SELECT id FROM runs WHERE task = :task)")
        sql = (
            f"SELECT * FROM decisions WHERE {' AND '.join(conditions) or '1'}"  # noqa: S608
            " ORDER BY id DESC LIMIT :limit"  # column names are ours, values are bound
        )
        rows = await self._database.rows(
            sql, {**equal, "since": since, "before": before, "task": task, "limit": limit}
        )
        return [_recorded(row) for row in rows]

    async def is_new(self, request: RequestId, run: RunId, task: TaskId) -> bool:
        """Whether this call of the run was made in no earlier run of the task."""
        row = await self._database.row(
            "SELECT NOT EXISTS (SELECT 1 FROM decisions AS earlier"
            "  WHERE earlier.session = this.session AND earlier.tool = this.tool"
            "  AND earlier.input_digest = this.input_digest AND earlier.run IN"
            "   (SELECT id FROM runs WHERE task = :task AND id <> :run)) AS is_new"
            " FROM decisions AS this WHERE this.request = :request AND this.run = :run",
            {"request": request, "run": run, "task": task},
        )
        return bool(row and row["is_new"])

    async def todo_calls(self, session: SessionId) -> list[tuple[str, Mapping[str, Any]]]:
        """The calls that keep Claude's own list in its newest conversation, oldest first."""
        rows = await self._database.rows(_TODO, {"session": session, "most": _MOST_TODO})
        return [(row["tool"], json.loads(row["input"])) for row in reversed(rows)]

    async def refused(self, sessions: Collection[SessionId]) -> Mapping[SessionId, int]:
        """How many calls of each were refused; left out is who had none."""
        rows = await self._database.rows(
            "SELECT session, count(*) AS number FROM decisions WHERE verdict = 'deny'"
            " AND session IN (SELECT value FROM json_each(?)) GROUP BY session",
            (to_json(list(sessions)),),
        )
        return {SessionId(row["session"]): row["number"] for row in rows}

    async def counts(self, session: SessionId) -> Mapping[str, int]:
        """How many calls were allowed and refused, and by whom: `allow/policy` → 45."""
        rows = await self._database.rows(
            f"SELECT verdict, {_BY} AS by, count(*) AS number FROM decisions"  # noqa: S608
            " WHERE session = ? GROUP BY verdict, by",
            (session,),
        )
        return {f"{row['verdict']}/{row['by']}": row["number"] for row in rows}


def digest(tool_input: Mapping[str, Any]) -> str:
    """The same for the same call, whatever the order of its keys."""
    canonical = json.dumps(tool_input, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _recorded(row: sqlite3.Row) -> RecordedDecision:
    return RecordedDecision(
        id=row["id"],
        at=row["at"],
        session=SessionId(row["session"]),
        tool=row["tool"],
        summary=row["summary"],
        input=json.loads(row["input"]),
        digest=row["input_digest"],
        decision=Decision(
            request=RequestId(row["request"]),
            run=RunId(row["run"]),
            verdict=Verdict(row["verdict"]),
            risk=Risk(row["risk"]),
            confidence=row["confidence"],
            reason=row["reason"],
            decided_by=DecidedBy(authority_on_record(row["decided_by"], row["reason"])),
            message=row["message"],
        ),
    )
