"""What happened since a time, read from the log, the decisions and the spending."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.session_status import TAKEN_OVER
from perpetualcc.domain.tools import WRITERS
from perpetualcc.sessions.progress import written_files
from perpetualcc.sessions.report import (
    Act,
    DealtWith,
    EndedTask,
    GivenAnswer,
    Heard,
    RefusedCall,
    SaidWord,
    SessionReport,
)
from perpetualcc.store.database import Database
from perpetualcc.store.text import to_json

_TELLING = (
    "TaskSettled", "QuestionAnswered", "LimitReached", "BudgetUsedUp", "CheckEnded",
    "HandoverDone", "ProblemNoticed",
)  # fmt: skip
_ENDS = frozenset({"done", "failed", "parked", "cancelled", "missed"})
_OVER = frozenset({"done", "cancelled", "missed"})
_MOST_EVENTS = 5_000
"""Of a session: the newest."""
_MOST_REFUSALS = 200
_MOST_SESSIONS = 500

Row = dict[str, Any]


class SqliteReports:
    """`sessions.report.Reports`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(
        self, since: float, now: float, session: SessionId | None = None
    ) -> Sequence[SessionReport]:
        return await self._database.read(lambda c: list(_reports(c, since, now, session)))


def _reports(
    connection: sqlite3.Connection, since: float, now: float, session: SessionId | None
) -> Iterator[SessionReport]:
    event = _first(connection, "events", "seq", since)
    decision = _first(connection, "decisions", "id", since)
    sessions = connection.execute(
        "SELECT s.id, p.path FROM sessions s JOIN projects p ON p.id = s.project"
        " WHERE (:session IS NULL OR s.id = :session) AND EXISTS"
        " (SELECT 1 FROM events e WHERE e.session = s.id AND e.seq >= :event)"
        " ORDER BY s.position DESC LIMIT :most",
        {"session": session, "event": event, "most": _MOST_SESSIONS},
    ).fetchall()
    spent = _spent(connection, since, now)
    for row in reversed(sessions):
        name = SessionId(row["id"])
        yield SessionReport(
            session=name,
            **_told(connection, name, event),
            **_decided(connection, name, decision, event, Path(row["path"])),
            **spent.get(name, {}),
            restarts=_restarts(connection, name, event),
            runs=_runs(connection, name, since, now),
            words=_words(connection, name, since),
            dealt_with=_dealt_with(connection, name, event),
            snapshots=_snapshots(connection, name),
        )


def _words(connection: sqlite3.Connection, session: SessionId, since: float) -> list[SaidWord]:
    rows = connection.execute(
        "SELECT w.text, w.said_at, w.state, t.state IN (SELECT value FROM json_each(?)) AS is_over"
        " FROM words w JOIN tasks t ON t.id = w.task WHERE w.session = ?"
        " AND (w.said_at >= ? OR w.state <> 'used' AND NOT is_over) ORDER BY w.number",
        (to_json(sorted(_OVER)), session, since),
    )
    return [SaidWord(text=row["text"], at=row["said_at"], heard=_heard(row)) for row in rows]


def _heard(row: sqlite3.Row) -> Heard:
    if row["state"] == "used":
        return Heard.HEARD
    if row["is_over"]:
        return Heard.NEVER
    return Heard.GIVEN if row["state"] == "given" else Heard.WAITING


def _snapshots(connection: sqlite3.Connection, session: SessionId) -> int:
    counted = "SELECT count(*) FROM snapshots WHERE session = ? AND commit_id <> ''"
    return int(connection.execute(counted, (session,)).fetchone()[0])


def _first(connection: sqlite3.Connection, table: str, key: str, since: float) -> int:
    """
    The number of the first row from that time on. Rows are in the order of time, but for a clock
    that was set back; a table of millions is not read for it.
    """
    # Asked for one by one: SQLite reads the whole table for both at once.
    low, high = (
        connection.execute(f"SELECT {end}({key}) FROM {table}").fetchone()[0] or 0  # noqa: S608
        for end in ("min", "max")
    )
    high += 1
    while low < high:
        middle = (low + high) // 2
        row = connection.execute(
            f"SELECT {key} AS number, at FROM {table} WHERE {key} >= ? ORDER BY {key} LIMIT 1",  # noqa: S608
            (middle,),
        ).fetchone()
        if row is None or row["at"] >= since:
            high = middle
        else:
            low = row["number"] + 1
    return low


def _told(connection: sqlite3.Connection, session: SessionId, first: int) -> Row:
    rows = connection.execute(
        "SELECT at, kind, task, data FROM events WHERE session = ? AND seq >= ?"
        " AND +kind IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?",
        (session, first, to_json(_TELLING), _MOST_EVENTS),
    ).fetchall()
    tasks: dict[str, EndedTask] = {}
    answers, limits, budgets, proofs, problems, checks, handovers = [], [], {}, {}, {}, 0, 0
    for row in reversed(rows):
        data = json.loads(row["data"])
        match row["kind"]:
            case "TaskSettled" if data.get("state") in _ENDS and row["task"]:
                ended = _ended(connection, row["task"], data, row["at"])
                for one in (ended, *_left_out(connection, row["task"], row["at"])):
                    tasks.pop(one.id, None)  # what was tried again ended last as it did
                    tasks[one.id] = one
            case "QuestionAnswered":
                answers += _answers(data, row["at"])
            case "LimitReached":
                limits.append(str(data.get("window", "")))
            case "BudgetUsedUp":
                budgets[str(data.get("name", ""))] = True
            case "CheckEnded":
                checks += bool(data.get("trouble"))
                proofs[str(data.get("command", ""))] = str(data.get("trouble", ""))
            case "HandoverDone":
                handovers += 1
            case "ProblemNoticed":
                problems[str(data.get("text", ""))] = True
    return {
        "tasks": list(tasks.values()),
        "answers": answers,
        "limits": limits,
        "budgets": list(budgets),
        "checks": checks,
        "proofs": proofs,
        "handovers": handovers,
        "problems": list(problems),
    }


def _answers(data: Row, at: float) -> list[GivenAnswer]:
    by, because = data.get("decided_by", ""), data.get("reason", "")
    return [
        GivenAnswer(question=question, answer=str(answer), by=by, because=because, at=at)
        for question, answer in data.get("answers", {}).items()
    ]


_ACTS = {
    "MergeBegan": Act.MERGE,
    "MergeDone": Act.MERGE,
    "PushBegan": Act.PUSH,
    "PushDone": Act.PUSH,
    "DiscardBegan": Act.DISCARD,
    "DiscardDone": Act.DISCARD,
}


def _dealt_with(
    connection: sqlite3.Connection, session: SessionId, first: int
) -> Sequence[DealtWith]:
    """How far each act has come that a person began last."""
    rows = connection.execute(
        "SELECT at, kind, data FROM events WHERE session = ? AND seq >= ?"
        " AND +kind IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (session, first, to_json(list(_ACTS))),
    )
    found: dict[Act, DealtWith] = {}
    for row in rows:
        act, data = _ACTS[row["kind"]], json.loads(row["data"])
        found.pop(act, None)  # in the order of the newest
        found[act] = DealtWith(
            act=act,
            branch=data["branch"],
            to=data.get("into") or data.get("remote") or data["kept"],
            files=data.get("files", 0),
            by=data["by"],
            at=row["at"],
            is_done=row["kind"].endswith("Done"),
        )
    return list(found.values())


def _ended(connection: sqlite3.Connection, task: str, data: Row, at: float) -> EndedTask:
    row = connection.execute("SELECT prompt FROM tasks WHERE id = ?", (task,)).fetchone()
    return EndedTask(
        id=TaskId(task),
        prompt=row["prompt"] if row else "",
        state=data["state"],
        result=data.get("result", ""),
        at=at,
    )


def _left_out(connection: sqlite3.Connection, task: str, at: float) -> list[EndedTask]:
    """What comes after a task that was given up. Nothing else tells of it."""
    rows = connection.execute(
        "SELECT id, prompt, result FROM tasks WHERE blocked_by = ? AND state = 'parked'"
        " AND json_extract(packet, '$.state') = 'cancelled' ORDER BY position",
        (task,),
    )
    return [
        EndedTask(
            id=TaskId(row["id"]),
            prompt=row["prompt"],
            state="cancelled",
            result=row["result"],
            at=at,
        )
        for row in rows
    ]


def _decided(
    connection: sqlite3.Connection, session: SessionId, first: int, event: int, project: Path
) -> Row:
    """Decisions from the number `first` on; what came of the calls, from the event `event` on."""
    (allowed,) = connection.execute(
        "SELECT count(*) FROM decisions WHERE session = ? AND id >= ? AND verdict = 'allow'",
        (session, first),
    ).fetchone()
    refused = connection.execute(
        "SELECT tool, summary, risk, reason, decided_by, count(*) AS times, max(id) AS last"
        " FROM decisions WHERE session = ? AND id >= ? AND verdict = 'deny'"
        " GROUP BY tool, summary, risk, reason, decided_by ORDER BY last DESC LIMIT ?",
        (session, first, _MOST_REFUSALS),
    ).fetchall()
    written = connection.execute(
        "SELECT tool, json_extract(input, '$.file_path') AS file,"
        " json_extract(input, '$.notebook_path') AS notebook FROM decisions"
        " WHERE session = ? AND id >= ? AND verdict = 'allow'"
        " AND tool IN (SELECT value FROM json_each(?)) AND request IN"
        " (SELECT json_extract(data, '$.request') FROM events WHERE session = ? AND seq >= ?"
        "  AND kind = 'ToolFinished' AND NOT json_extract(data, '$.is_error')) ORDER BY id",
        (session, first, to_json(sorted(WRITERS)), session, event),
    ).fetchall()
    calls = [
        (row["tool"], {"file_path": row["file"], "notebook_path": row["notebook"]})
        for row in written
    ]
    return {
        "allowed": allowed,
        "refused": [
            RefusedCall(
                tool=row["tool"],
                summary=row["summary"],
                risk=row["risk"],
                reason=row["reason"],
                by=row["decided_by"],
                times=row["times"],
            )
            for row in reversed(refused)
        ],
        "files": written_files(calls, project),
    }


def _restarts(connection: sqlite3.Connection, session: SessionId, first: int) -> int:
    found: int = connection.execute(
        "SELECT count(*) FROM events WHERE session = ? AND seq >= ?"
        " AND +kind = 'SessionStatusChanged' AND json_extract(data, '$.detail') = ?",
        (session, first, TAKEN_OVER),
    ).fetchone()[0]
    return found


def _runs(connection: sqlite3.Connection, session: SessionId, since: float, now: float) -> int:
    """Claude Code processes that worked in that time; a task may be looked at without one."""
    found: int = connection.execute(
        "SELECT count(*) FROM runs WHERE session = ? AND coalesce(ended_at, ?) >= ?",
        (session, now, since),
    ).fetchone()[0]
    return found


def _spent(connection: sqlite3.Connection, since: float, now: float) -> dict[str, Row]:
    """Of the runs that worked in that time; one that began before counts as a whole."""
    rows = connection.execute(
        "SELECT session, sum(tokens) AS tokens, sum(usd) AS usd FROM spending"
        " WHERE coalesce(ended_at, ?) >= ? GROUP BY session",
        (now, since),
    )
    return {row["session"]: {"tokens": row["tokens"], "usd": row["usd"]} for row in rows}
