"""The rows of the ledger: what a task looks like in SQL, and which may start."""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, NewTask, Task, TaskState
from perpetualcc.store import rows
from perpetualcc.store.text import storable, to_json
from perpetualcc.work.ledger import LONGEST_BACK_OFF, UnknownTaskError

# At most one task of a group is in hand, so whoever is in hand itself is not in its own way.
MAY_START = """
    t.state IN ('queued', 'waiting') AND t.due IS NOT NULL
    AND t.lane IN (SELECT value FROM json_each(:lanes))
    AND t.group_name NOT IN (SELECT name FROM task_groups WHERE held)
    AND (t.state = 'waiting' OR t.started OR t.group_name NOT IN (
        SELECT o.group_name FROM tasks o WHERE o.state IN ('queued', 'running', 'waiting')
        AND (o.state <> 'queued' OR o.started)))
    AND NOT EXISTS (SELECT 1 FROM task_after d JOIN tasks f ON f.id = d.after
                    WHERE d.task = t.id AND f.state <> 'done')
"""

_CONDITIONAL = f"""
    SELECT t.*, l.next, min(t.position) FROM tasks t LEFT JOIN looks l ON l.task = t.id
    WHERE t.state = 'queued' AND t.due IS NULL AND json_extract(t.payload, '$.when') IS NOT NULL
    AND {MAY_START.replace("IS NOT NULL", "IS NULL")}
    GROUP BY t.group_name, json_extract(t.payload, '$.when') ORDER BY t.position
"""  # noqa: S608  # constants only
"""The first of a group and a condition: the others begin with it."""

_CANDIDATES = f"""
    WITH ready AS (
        SELECT t.id, t.lane, t.group_name, t.priority, t.due, t.created_at, t.position,
            row_number() OVER (
                PARTITION BY t.group_name ORDER BY t.started DESC, t.priority DESC, t.position
            ) AS place
        FROM tasks t WHERE t.due <= :now AND {MAY_START}
    )
    SELECT r.id, r.lane FROM ready r LEFT JOIN task_groups g ON g.name = r.group_name
    WHERE r.place = 1
    ORDER BY r.priority DESC, max(r.due, r.created_at, coalesce(g.settled_at, 0)), r.position
"""  # noqa: S608  # constants only

_NEXT_DUE = f"SELECT min(t.due) FROM tasks t WHERE {MAY_START}"  # noqa: S608  # constants only

_NEXT_DUE_OF = f"""
    SELECT t.group_name, min(t.due) AS due FROM tasks t
    WHERE t.group_name IN (SELECT value FROM json_each(:groups)) AND {MAY_START}
    GROUP BY t.group_name HAVING min(t.due) > :now
"""  # noqa: S608  # constants only

_BEFORE_WHAT_IS_QUEUED = f"""
    SELECT 1 FROM tasks t WHERE t.group_name = :group
    AND (t.state IN ('running', 'waiting') OR t.due <= :now AND {MAY_START}) LIMIT 1
"""  # noqa: S608  # constants only
"""What is in hand, or may begin now."""

_AFTER = """
    SELECT d.task, d.after FROM task_after d JOIN tasks f ON f.id = d.after
    WHERE d.task IN (SELECT value FROM json_each(:tasks)) ORDER BY f.position
"""


def task_from(connection: sqlite3.Connection, row: sqlite3.Row) -> Task:
    """The domain's task. One that only a signal wakes has an infinite due time."""
    return tasks_from(connection, [row])[0]


def tasks_from(connection: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> list[Task]:
    """The same of many at once."""
    after: dict[str, list[TaskId]] = defaultdict(list)
    for found in connection.execute(_AFTER, {"tasks": to_json([row["id"] for row in rows])}):
        after[found["task"]].append(TaskId(found["after"]))
    return [_task(row, tuple(after[row["id"]])) for row in rows]


def _task(row: sqlite3.Row, after: tuple[TaskId, ...]) -> Task:
    return Task(
        id=TaskId(row["id"]),
        group=row["group_name"],
        prompt=row["prompt"],
        priority=row["priority"],
        after=after,
        due=math.inf if row["due"] is None else row["due"],
        lane=Lane(row["lane"]),
        state=TaskState(row["state"]),
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        fence=row["fence"],
        payload=json.loads(row["payload"]),
        signal=row["signal"],
        answer=_maybe_json(row["answer"]),
        result=row["result"],
        packet=_maybe_json(row["packet"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def row_of(connection: sqlite3.Connection, task: str) -> sqlite3.Row:
    """Raises `UnknownTaskError`."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM tasks WHERE id = ?", (task,)
    ).fetchone()
    if row is None:
        raise UnknownTaskError(task)
    return row


def insert(connection: sqlite3.Connection, task: NewTask, now: float) -> None:
    row = {
        "id": task.id,
        "group_name": task.group,
        "prompt": storable(task.prompt),
        "priority": task.priority,
        "due": None if task.due == math.inf else task.due,
        "lane": task.lane,
        "state": TaskState.QUEUED,
        "max_attempts": task.max_attempts,
        "payload": to_json(dict(task.payload)),
        "created_at": now,
        "updated_at": now,
    }
    rows.insert(connection, "tasks", row)
    come_after(connection, task.id, task.after)


def come_after(connection: sqlite3.Connection, task: str, first: Sequence[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO task_after (task, after) VALUES (?, ?)",
        [(task, one) for one in first],
    )


def candidates(
    connection: sqlite3.Connection, room: Mapping[Lane, int], limit: int, now: float
) -> list[str]:
    """Which tasks to start now, the first of each group at most, as far as there is room."""
    room, chosen = dict(room), []
    rows = connection.execute(_CANDIDATES, {"now": now, "lanes": to_json(list(room))})
    for row in rows:
        if room[lane := Lane(row["lane"])] > 0:
            room[lane] -= 1
            chosen.append(str(row["id"]))
        if len(chosen) == limit or not any(room.values()):
            break
    rows.close()
    return chosen


def next_due(connection: sqlite3.Connection, lanes: Collection[Lane]) -> float | None:
    due: float | None = connection.execute(_NEXT_DUE, {"lanes": to_json(list(lanes))}).fetchone()[0]
    return due


def next_due_of(
    connection: sqlite3.Connection, groups: Collection[str], now: float
) -> dict[str, float]:
    """For each group that has nothing to do now: when it will, if that is known."""
    rows = connection.execute(
        _NEXT_DUE_OF,
        {"lanes": to_json(list(Lane)), "groups": to_json(list(groups)), "now": now},
    )
    return {row["group_name"]: row["due"] for row in rows.fetchall()}


def hasten(
    connection: sqlite3.Connection, group: str, now: float, *, in_hand: bool = False
) -> None:
    """What waits for a signal too is left: who sends it knows why."""
    wanted = {"now": now, "group": group, "lanes": to_json(list(Lane))}
    connection.execute(
        "UPDATE tasks SET due = :now, updated_at = :now WHERE group_name = :group"
        " AND due > :now AND signal IS NULL AND state = 'waiting'",
        wanted,
    )
    if in_hand or connection.execute(_BEFORE_WHAT_IS_QUEUED, wanted).fetchone():
        return
    connection.execute(
        "UPDATE tasks SET due = :now, updated_at = :now WHERE group_name = :group"
        " AND coalesce(due > :now, 1) AND signal IS NULL AND state = 'queued'",
        wanted,
    )


def conditional(connection: sqlite3.Connection) -> list[tuple[Task, float | None]]:
    """The first that could start if its condition held, and when that is looked at next."""
    rows = connection.execute(_CONDITIONAL, {"lanes": to_json(list(Lane))}).fetchall()
    return [
        (task, row["next"]) for task, row in zip(tasks_from(connection, rows), rows, strict=True)
    ]


def look_again(connection: sqlite3.Connection, task: str, at: float, *, is_told: bool) -> bool:
    """Not before that time. True: a person is told of it, for the first time."""
    connection.execute(
        "INSERT INTO looks (task, next) VALUES (?, ?)"
        " ON CONFLICT (task) DO UPDATE SET next = excluded.next",
        (task, at),
    )
    told = "UPDATE looks SET told = 1 WHERE task = ? AND NOT told"
    return is_told and connection.execute(told, (task,)).rowcount > 0


def begin_now(connection: sqlite3.Connection, task: str, now: float) -> bool:
    """With all of its group that wait for the same. False: it is due already, or over."""
    return (
        connection.execute(
            "UPDATE tasks SET due = :now, updated_at = :now"
            " WHERE state = 'queued' AND due IS NULL AND (group_name, json_extract(payload,"
            " '$.when')) = (SELECT group_name, json_extract(payload, '$.when') FROM tasks"
            "  WHERE id = :id AND state = 'queued' AND due IS NULL)",
            {"now": now, "id": task},
        ).rowcount
        > 0
    )


def end_stretched_waits(connection: sqlite3.Connection, now: float) -> None:
    """
    A back-off of seconds that was written before the clock was set back is over, and what was due
    at once then is due now.

    What waits for a signal too waits for a moment, such as a limit's reset, and not for a while.
    """
    connection.execute(
        "UPDATE tasks SET due = :now, updated_at = :now WHERE updated_at > :now AND due > :now AND"
        " ((state = 'waiting' AND signal IS NULL AND due <= updated_at + :longest)"
        " OR (state = 'queued' AND due <= updated_at))",
        {"now": now, "longest": LONGEST_BACK_OFF.total_seconds()},
    )


def update(connection: sqlite3.Connection, task: str, now: float, **columns: Any) -> None:
    """Set columns of one task; the names are ours, never a caller's."""
    names = ", ".join(f"{name} = :{name}" for name in columns)
    connection.execute(
        f"UPDATE tasks SET {names}, updated_at = :now_ WHERE id = :id_",  # noqa: S608  # own names
        {**columns, "now_": now, "id_": task},
    )


def leads_to(connection: sqlite3.Connection, start: str, goal: str) -> bool:
    """Whether `goal` is among what must come before `start`, at any distance."""
    found = connection.execute(
        "WITH RECURSIVE earlier (id) AS (VALUES (?) UNION"
        " SELECT d.after FROM task_after d JOIN earlier e ON d.task = e.id)"
        " SELECT 1 FROM earlier WHERE id = ?",
        (start, goal),
    ).fetchone()
    return found is not None


def failed_before(connection: sqlite3.Connection, task: str) -> sqlite3.Row | None:
    """A task that must come first and never will by itself."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT f.* FROM task_after d JOIN tasks f ON f.id = d.after WHERE d.task = ?"
        " AND (f.state IN ('failed', 'cancelled', 'missed') OR f.blocked_by IS NOT NULL)"
        " ORDER BY f.position LIMIT 1",
        (task,),
    ).fetchone()
    return row


def _maybe_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
