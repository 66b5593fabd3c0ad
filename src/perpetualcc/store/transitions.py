"""What each transition writes. Every one is checked against `work.ledger.TRANSITIONS`."""

import math
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.tasks import TaskState
from perpetualcc.store import signals, tasks
from perpetualcc.store.text import redacted, storable, to_json
from perpetualcc.work.ledger import MOST_CRASHES, TRANSITIONS
from perpetualcc.work.outcomes import Settlement


def check(row: sqlite3.Row, after: TaskState) -> None:
    before = TaskState(row["state"])
    if after not in TRANSITIONS[before]:
        raise RuntimeError(f"task {row['id']!r} would go from {before} to {after}")


def meet_signal(
    connection: sqlite3.Connection, task: TaskId, became: Settlement, now: float
) -> Settlement:
    """A wait whose signal is there already is over; one for a used signal would never end."""
    if became.signal is None:
        return became
    match signals.look(connection, became.signal, task):
        case signals.Arrival.NOT_YET:
            return became
        case signals.Arrival.HERE:
            signals.take(connection, became.signal, task)
            return replace(became, state=TaskState.QUEUED, due=now)
        case signals.Arrival.USED:
            return replace(
                became,
                state=TaskState.PARKED,
                result=f"Waits for {became.signal!r}, which was answered and used before",
                packet={"reason": "signal used", "signal": became.signal},
            )


def write(connection: sqlite3.Connection, row: sqlite3.Row, became: Settlement, now: float) -> None:
    check(row, became.state)
    tasks.update(
        connection,
        row["id"],
        now,
        due=None if became.due == math.inf else became.due,
        attempts=became.attempts,
        prompt=storable(became.prompt),
        crashes=0,
        owner=None,
        cancelling=0,
        signal=became.signal,
        answer=None,
    )
    connection.execute(
        "INSERT INTO task_groups (name, settled_at) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET settled_at = excluded.settled_at",
        (row["group_name"], now),
    )
    finish(connection, row, became.state, became.result, became.packet, now)
    if became.first:
        for task in became.first:
            tasks.insert(connection, task, now)
        tasks.come_after(connection, row["id"], [task.id for task in became.first])
        tasks.update(connection, row["id"], now, started=0, payload=to_json(became.payload))


def finish(
    connection: sqlite3.Connection,
    row: sqlite3.Row,
    state: TaskState,
    result: str,
    packet: Mapping[str, Any] | None,
    now: float,
) -> None:
    """Give a task its new state, and park what comes after it when it will never be done."""
    check(row, state)
    tasks.update(
        connection,
        row["id"],
        now,
        state=state,
        result=redact(storable(result)),
        packet=None if packet is None else to_json(redacted(packet)),
        started=0 if state.is_final else row["started"],
        blocked_by=None,
    )
    if state in {TaskState.FAILED, TaskState.CANCELLED, TaskState.MISSED}:
        blocker = tasks.row_of(connection, row["id"])
        for behind in _held_up_by(connection, row["id"]):
            park_behind(connection, behind, blocker, now)


def _held_up_by(connection: sqlite3.Connection, task: str) -> list[str]:
    """Everything that comes after it, at any distance, and is queued, or parked for it before."""
    rows = connection.execute(
        "WITH RECURSIVE later (id) AS (SELECT task FROM task_after WHERE after = ? UNION"
        " SELECT d.task FROM task_after d JOIN later l ON d.after = l.id)"
        " SELECT t.id FROM tasks t JOIN later l ON l.id = t.id"
        " WHERE t.state = 'queued' OR t.state = 'parked' AND t.blocked_by = ? ORDER BY t.position",
        (task, task),
    )
    return [row["id"] for row in rows]


def park_behind(
    connection: sqlite3.Connection, task: str, blocker: sqlite3.Row, now: float
) -> None:
    cause = blocker["blocked_by"] or blocker["id"]
    came_to, session = tasks.row_of(connection, cause), blocker["group_name"]
    packet = {
        "reason": "after",
        "task": cause,
        "state": came_to["state"],
        "result": came_to["result"],
        "options": [
            f"Bring that task back, and this one follows, with: pcc resume {session}"
            if came_to["state"] in {TaskState.FAILED, TaskState.PARKED}
            else f'Queue it again, after nothing, with: pcc add {session} "…"',
            f"Leave it: pcc stop {session} {task}",
        ],
    }
    tasks.update(
        connection,
        task,
        now,
        state=TaskState.PARKED,
        blocked_by=cause,
        result=f"Comes after {cause}, which is {packet['state']}",
        packet=to_json(packet),
    )


def bring_back(connection: sqlite3.Connection, row: sqlite3.Row, now: float) -> None:
    check(row, TaskState.QUEUED)
    tasks.update(
        connection,
        row["id"],
        now,
        state=TaskState.QUEUED,
        due=now,
        attempts=0,
        crashes=0,
        started=0,
        signal=None,
        result="",
        packet=None,
        blocked_by=None,
    )


def bring_back_behind(connection: sqlite3.Connection, task: str, now: float) -> None:
    """What was parked because of this task goes on, or stays parked for another reason like it."""
    rows = connection.execute(
        "SELECT * FROM tasks WHERE blocked_by = ? AND state = 'parked' ORDER BY position", (task,)
    ).fetchall()
    for row in rows:
        bring_back(connection, row, now)
    for row in rows:
        if blocker := tasks.failed_before(connection, row["id"]):
            park_behind(connection, row["id"], blocker, now)


def take_over(
    connection: sqlite3.Connection, row: sqlite3.Row, now: float, *, is_crash: bool
) -> None:
    crashes = row["crashes"] + is_crash
    tasks.update(
        connection,
        row["id"],
        now,
        fence=row["fence"] + 1,
        attempts=row["attempts"] - 1,
        crashes=crashes,
        owner=None,
        answer=None,
        due=now,
        cancelling=0,
    )
    if row["cancelling"]:
        finish(connection, row, TaskState.CANCELLED, "Cancelled", None, now)
    elif crashes > MOST_CRASHES:
        packet = {"reason": "crashes", "crashes": crashes, "prompt": row["prompt"]}
        result = f"The engine died {crashes} times in a row while this ran"
        finish(connection, row, TaskState.PARKED, result, packet, now)
    else:
        tasks.update(connection, row["id"], now, state=TaskState.QUEUED)
