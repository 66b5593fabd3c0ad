"""The work ledger on SQLite. Each method is one transaction; who settles must know the fence."""

import math
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, NewTask, Outcome, Task, TaskState
from perpetualcc.store import signals, tasks
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.text import storable, to_json
from perpetualcc.work.ledger import MOST_CRASHES, TRANSITIONS, TaskOrderError, Tasks
from perpetualcc.work.outcomes import Settlement, settlement


class SqliteLedger:
    """
    `work.ledger.Ledger` on one SQLite file.

    `owner` is this engine's incarnation: `recover` takes over what any other one left running.
    """

    def __init__(self, database: Database, clock: Clock, owner: str) -> None:
        self._database = database
        self._clock = clock
        self._owner = owner
        self._events = EventLog(database, clock)

    async def add(self, task: NewTask, events: Iterable[Event] = ()) -> Task:
        batch = tuple(events)
        return await self._database.write(lambda c: self._add(c, task, batch), durable=True)

    async def claim(self, free: Mapping[Lane, int], limit: int) -> Tasks:
        room = {lane: places for lane, places in free.items() if places > 0}
        if not room or limit <= 0:
            return []
        return await self._database.write(lambda c: self._claim(c, room, limit))

    async def settle(
        self, task: TaskId, fence: int, outcome: Outcome, events: Iterable[Event] = ()
    ) -> bool:
        batch = tuple(events)
        return await self._database.write(
            lambda c: self._settle(c, task, fence, outcome, batch), durable=True
        )

    async def signal(self, name: str, payload: Mapping[str, Any]) -> bool:
        return await self._database.write(lambda c: self._signal(c, name, payload), durable=True)

    async def cancel(self, task: TaskId) -> TaskState:
        return await self._database.write(lambda c: self._cancel(c, task), durable=True)

    async def requeue(self, task: TaskId) -> Task:
        return await self._database.write(lambda c: self._requeue(c, task), durable=True)

    async def hold(self, group: str) -> None:
        await self._database.write(lambda c: _hold(c, group, True), durable=True)

    async def release(self, group: str) -> None:
        await self._database.write(lambda c: _hold(c, group, False), durable=True)

    async def get(self, task: TaskId) -> Task:
        return await self._database.read(lambda c: tasks.task_from(c, tasks.row_of(c, task)))

    async def list(
        self, group: str | None = None, states: Collection[TaskState] | None = None
    ) -> Tasks:
        return await self._database.read(lambda c: _list(c, group, states))

    async def next_due(self, lanes: Collection[Lane] | None = None) -> float | None:
        wanted = tuple(Lane) if lanes is None else tuple(lanes)
        return await self._database.read(lambda c: tasks.next_due(c, wanted))

    async def recover(self) -> Tasks:
        return await self._database.write(self._recover, durable=True)

    # Each of these runs inside a transaction, on the database's thread.

    def _add(
        self, connection: sqlite3.Connection, task: NewTask, events: tuple[Event, ...]
    ) -> Task:
        for first in task.after:
            if first == task.id or tasks.leads_to(connection, first, task.id):
                raise TaskOrderError(task.id, first)
            tasks.row_of(connection, first)
        known = connection.execute("SELECT * FROM tasks WHERE id = ?", (task.id,)).fetchone()
        if known is None:
            now = self._clock.now()
            tasks.insert(connection, task, now)
            if blocker := tasks.failed_before(connection, task.id):
                _park_behind(connection, task.id, blocker, now)
            self._events.append_in(connection, events)
        return tasks.task_from(connection, tasks.row_of(connection, task.id))

    def _claim(self, connection: sqlite3.Connection, room: dict[Lane, int], limit: int) -> Tasks:
        now = self._clock.now()
        claimed: Tasks = []
        for row in tasks.candidates(connection, room, now):
            lane = Lane(row["lane"])
            if len(claimed) < limit and room[lane] > 0:
                room[lane] -= 1
                claimed.append(self._start(connection, row, now))
        return claimed

    def _start(self, connection: sqlite3.Connection, row: sqlite3.Row, now: float) -> Task:
        _check(row, TaskState.RUNNING)
        tasks.update(
            connection,
            row["id"],
            now,
            state=TaskState.RUNNING,
            fence=row["fence"] + 1,
            attempts=row["attempts"] + 1,
            started=1,
            owner=self._owner,
            answer=signals.take(connection, row["signal"], row["id"]),
        )
        return tasks.task_from(connection, tasks.row_of(connection, row["id"]))

    def _settle(
        self,
        connection: sqlite3.Connection,
        task: TaskId,
        fence: int,
        outcome: Outcome,
        events: tuple[Event, ...],
    ) -> bool:
        row = connection.execute(
            "SELECT * FROM tasks WHERE id = ? AND fence = ? AND state = 'running'", (task, fence)
        ).fetchone()
        if row is None:
            return False
        now = self._clock.now()
        if row["answer"] is not None:
            signals.consume(connection, row["signal"], now)
        became = settlement(
            tasks.task_from(connection, row), outcome, now, cancelling=bool(row["cancelling"])
        )
        _write(connection, row, _with_signal(connection, task, became, now), now)
        self._events.append_in(connection, events)
        return True

    def _signal(
        self, connection: sqlite3.Connection, name: str, payload: Mapping[str, Any]
    ) -> bool:
        now = self._clock.now()
        if not signals.store(connection, name, payload, now):
            return False
        waiting = connection.execute(
            "SELECT * FROM tasks WHERE signal = ? AND state = 'waiting' ORDER BY position LIMIT 1",
            (name,),
        ).fetchone()
        if waiting is not None:
            _check(waiting, TaskState.QUEUED)
            signals.take(connection, name, waiting["id"])
            tasks.update(connection, waiting["id"], now, state=TaskState.QUEUED, due=now)
        return True

    def _cancel(self, connection: sqlite3.Connection, task: TaskId) -> TaskState:
        row = tasks.row_of(connection, task)
        state, now = TaskState(row["state"]), self._clock.now()
        if state is TaskState.RUNNING:
            tasks.update(connection, task, now, cancelling=1)
        elif TaskState.CANCELLED in TRANSITIONS[state]:
            _finish(connection, row, TaskState.CANCELLED, "Cancelled", None, now)
            return TaskState.CANCELLED
        return state

    def _requeue(self, connection: sqlite3.Connection, task: TaskId) -> Task:
        row = tasks.row_of(connection, task)
        if TaskState.QUEUED in TRANSITIONS[TaskState(row["state"])] and _is_final(row):
            if blocker := tasks.failed_before(connection, task):
                raise PerpetualError(
                    f"Task {task!r} comes after {blocker['id']!r}, which is {blocker['state']}",
                    hint=f"Bring that one back first: {blocker['id']}",
                )
            now = self._clock.now()
            _bring_back(connection, row, now)
            _bring_back_behind(connection, task, now)
        return tasks.task_from(connection, tasks.row_of(connection, task))

    def _recover(self, connection: sqlite3.Connection) -> Tasks:
        now = self._clock.now()
        lost = connection.execute(
            "SELECT * FROM tasks WHERE state = 'running' AND owner IS NOT ? ORDER BY position",
            (self._owner,),
        ).fetchall()
        for row in lost:
            _take_over(connection, row, now)
        return [tasks.task_from(connection, tasks.row_of(connection, row["id"])) for row in lost]


def _check(row: sqlite3.Row, after: TaskState) -> None:
    before = TaskState(row["state"])
    if after not in TRANSITIONS[before]:
        raise RuntimeError(f"task {row['id']!r} would go from {before} to {after}")


def _is_final(row: sqlite3.Row) -> bool:
    return TaskState(row["state"]).is_final


def _with_signal(
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


def _write(
    connection: sqlite3.Connection, row: sqlite3.Row, became: Settlement, now: float
) -> None:
    _check(row, became.state)
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
    _finish(connection, row, became.state, became.result, became.packet, now)


def _finish(
    connection: sqlite3.Connection,
    row: sqlite3.Row,
    state: TaskState,
    result: str,
    packet: Mapping[str, Any] | None,
    now: float,
) -> None:
    """Give a task its new state, and park what comes after it when it will never be done."""
    _check(row, state)
    tasks.update(
        connection,
        row["id"],
        now,
        state=state,
        result=storable(result),
        packet=None if packet is None else to_json(packet),
        started=0 if state.is_final else row["started"],
        blocked_by=None,
    )
    if state in {TaskState.FAILED, TaskState.CANCELLED}:
        blocker = tasks.row_of(connection, row["id"])
        for behind in _queued_behind(connection, row["id"]):
            _park_behind(connection, behind, blocker, now)


def _queued_behind(connection: sqlite3.Connection, task: str) -> list[str]:
    """Everything that comes after it, at any distance, and is still queued."""
    rows = connection.execute(
        "WITH RECURSIVE later (id) AS (SELECT task FROM task_after WHERE after = ? UNION"
        " SELECT d.task FROM task_after d JOIN later l ON d.after = l.id)"
        " SELECT t.id FROM tasks t JOIN later l ON l.id = t.id"
        " WHERE t.state = 'queued' ORDER BY t.position",
        (task,),
    )
    return [row["id"] for row in rows]


def _park_behind(
    connection: sqlite3.Connection, task: str, blocker: sqlite3.Row, now: float
) -> None:
    cause = blocker["blocked_by"] or blocker["id"]
    packet = {
        "reason": "after",
        "task": cause,
        "state": tasks.row_of(connection, cause)["state"],
        "result": tasks.row_of(connection, cause)["result"],
        "options": ["Bring that task back, and this one follows", "Cancel this task"],
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


def _bring_back(connection: sqlite3.Connection, row: sqlite3.Row, now: float) -> None:
    _check(row, TaskState.QUEUED)
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


def _bring_back_behind(connection: sqlite3.Connection, task: str, now: float) -> None:
    """What was parked because of this task goes on, or stays parked for another reason like it."""
    rows = connection.execute(
        "SELECT * FROM tasks WHERE blocked_by = ? AND state = 'parked' ORDER BY position", (task,)
    ).fetchall()
    for row in rows:
        _bring_back(connection, row, now)
    for row in rows:
        if blocker := tasks.failed_before(connection, row["id"]):
            _park_behind(connection, row["id"], blocker, now)


def _take_over(connection: sqlite3.Connection, row: sqlite3.Row, now: float) -> None:
    crashes = row["crashes"] + 1
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
        _finish(connection, row, TaskState.CANCELLED, "Cancelled", None, now)
    elif crashes > MOST_CRASHES:
        packet = {"reason": "crashes", "crashes": crashes, "prompt": row["prompt"]}
        result = f"The engine died {crashes} times in a row while this ran"
        _finish(connection, row, TaskState.PARKED, result, packet, now)
    else:
        tasks.update(connection, row["id"], now, state=TaskState.QUEUED)


def _hold(connection: sqlite3.Connection, group: str, held: bool) -> None:
    connection.execute(
        "INSERT INTO task_groups (name, held) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET held = excluded.held",
        (group, held),
    )


def _list(
    connection: sqlite3.Connection, group: str | None, states: Collection[TaskState] | None
) -> list[Task]:
    wanted = tuple(TaskState) if states is None else tuple(states)
    of_group = "" if group is None else "AND group_name = :group"
    rows = connection.execute(
        "SELECT * FROM tasks WHERE state IN (SELECT value FROM json_each(:states))"  # noqa: S608
        f" {of_group} ORDER BY position",  # constants only
        {"states": to_json(wanted), "group": group},
    ).fetchall()
    return [tasks.task_from(connection, row) for row in rows]
