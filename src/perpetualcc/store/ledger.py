"""The work ledger on SQLite. Each method is one transaction; who settles must know the fence."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, Later, NewTask, Outcome, Task, TaskState, Wait
from perpetualcc.store import signals, tasks, transitions
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.text import to_json
from perpetualcc.work.ledger import (
    AHEAD,
    TRANSITIONS,
    Repeats,
    TaskOrderError,
    Tasks,
    Tell,
    nothing_repeats,
    nothing_told,
)
from perpetualcc.work.outcomes import settlement

Looks = list[tuple[Task, float | None]]
"""A name of its own, because the ledger has a method called `list`."""


class SqliteLedger:
    """
    `work.ledger.Ledger` on one SQLite file.

    `owner` is this engine's incarnation: `recover` takes over what any other one left running.
    """

    def __init__(
        self, database: Database, clock: Clock, owner: str, repeats: Repeats = nothing_repeats
    ) -> None:
        self._database = database
        self._clock = clock
        self._owner = owner
        self._repeats = repeats
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
        return await self._database.write(lambda c: self.signal_in(c, name, payload), durable=True)

    async def cancel(self, task: TaskId) -> TaskState:
        return await self._database.write(lambda c: self._cancel(c, task), durable=True)

    async def requeue(self, task: TaskId) -> Task:
        return await self._database.write(lambda c: self._requeue(c, task), durable=True)

    async def got_on(self, task: TaskId, fence: int) -> None:
        await self._database.execute(
            "UPDATE tasks SET crashes = 0 WHERE id = ? AND fence = ? AND state = 'running'",
            (task, fence),
        )

    async def hold(self, group: str) -> None:
        await self._database.write(lambda c: _hold(c, group, True), durable=True)

    async def release(self, group: str) -> None:
        await self._database.write(lambda c: _hold(c, group, False), durable=True)

    async def hasten(self, group: str, *, in_hand: bool = False) -> None:
        now = self._clock.now()
        await self._database.write(
            lambda c: tasks.hasten(c, group, now, in_hand=in_hand), durable=True
        )

    # `deferred.conditions.Conditional`

    async def conditional(self) -> Looks:
        return await self._database.read(tasks.conditional)

    async def look_again(self, task: TaskId, at: float, *problem: Event) -> None:
        def write(connection: sqlite3.Connection) -> None:
            if tasks.look_again(connection, task, at, is_told=bool(problem)):
                self._events.append_in(connection, problem)

        await self._database.write(write)

    async def begin_now(self, task: TaskId, *events: Event) -> None:
        now = self._clock.now()

        def write(connection: sqlite3.Connection) -> None:
            if tasks.begin_now(connection, task, now):
                self._events.append_in(connection, events)

        await self._database.write(write, durable=True)

    async def get(self, task: TaskId) -> Task:
        return await self._database.read(lambda c: tasks.task_from(c, tasks.row_of(c, task)))

    async def list(
        self, group: str | None = None, states: Collection[TaskState] | None = None
    ) -> Tasks:
        return await self._database.read(lambda c: _list(c, group, states))

    async def next_due(self, lanes: Collection[Lane] | None = None) -> float | None:
        wanted = tuple(Lane) if lanes is None else tuple(lanes)
        return await self._database.read(lambda c: tasks.next_due(c, wanted))

    async def recover(self, *, halted: bool = False, tell: Tell = nothing_told) -> Tasks:
        return await self._database.write(lambda c: self._recover(c, halted, tell), durable=True)

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
                transitions.park_behind(connection, task.id, blocker, now)
            self._events.append_in(connection, events)
        return tasks.task_from(connection, tasks.row_of(connection, task.id))

    def _claim(self, connection: sqlite3.Connection, room: dict[Lane, int], limit: int) -> Tasks:
        now = self._clock.now()
        chosen = tasks.candidates(connection, room, limit, now)
        started = [self._start(connection, task, now) for task in chosen]
        return [task for task in started if task is not None]

    def _start(self, connection: sqlite3.Connection, task: str, now: float) -> Task | None:
        row = tasks.row_of(connection, task)
        if row["fence"] == 0 and self._is_missed(connection, row, now):
            return None
        transitions.check(row, TaskState.RUNNING)
        created_at = row["created_at"] if row["fence"] else max(row["created_at"], row["due"])
        tasks.update(
            connection,
            task,
            now,
            state=TaskState.RUNNING,
            fence=row["fence"] + 1,
            attempts=row["attempts"] + 1,
            created_at=created_at,
            started=1,
            owner=self._owner,
            answer=signals.take(connection, row["signal"], task),
        )
        return tasks.task_from(connection, tasks.row_of(connection, task))

    def _is_missed(self, connection: sqlite3.Connection, row: sqlite3.Row, now: float) -> bool:
        """Of one that repeats, and leaves the following one behind."""
        task = tasks.task_from(connection, row)
        if (became := self._repeats(task, now)) is None:
            return False
        tasks.insert(connection, became.following, now)
        if became.missed:
            tasks.update(connection, row["id"], now, fence=1)  # a second time leaves nothing behind
            transitions.finish(connection, row, TaskState.MISSED, became.missed, None, now)
        self._events.append_in(connection, became.events(task))
        return bool(became.missed)

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
        became = settlement(
            tasks.task_from(connection, row), outcome, now, cancelling=bool(row["cancelling"])
        )
        is_kept = isinstance(outcome, Later) and became.signal is not None
        if row["answer"] is not None and not is_kept:
            signals.consume(connection, row["signal"], now)
        if became.state is TaskState.WAITING and isinstance(outcome, Wait):
            became = transitions.meet_signal(connection, task, became, now)
        transitions.write(connection, row, became, now)
        self._events.append_in(connection, events)
        return True

    def signal_in(
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
            transitions.check(waiting, TaskState.QUEUED)
            signals.take(connection, name, waiting["id"])
            tasks.update(connection, waiting["id"], now, state=TaskState.QUEUED, due=now)
        return True

    def _cancel(self, connection: sqlite3.Connection, task: TaskId) -> TaskState:
        row = tasks.row_of(connection, task)
        state, now = TaskState(row["state"]), self._clock.now()
        if state is TaskState.RUNNING:
            tasks.update(connection, task, now, cancelling=1)
        elif TaskState.CANCELLED in TRANSITIONS[state]:
            transitions.finish(connection, row, TaskState.CANCELLED, "Cancelled", None, now)
            return TaskState.CANCELLED
        return state

    def _requeue(self, connection: sqlite3.Connection, task: TaskId) -> Task:
        row = tasks.row_of(connection, task)
        if (
            TaskState.QUEUED in TRANSITIONS[TaskState(row["state"])]
            and TaskState(row["state"]).is_final
        ):
            if blocker := tasks.failed_before(connection, task):
                raise PerpetualError(
                    f"Task {task!r} comes after {blocker['id']!r}, which is {blocker['state']}",
                    hint=f"Bring that one back first: {blocker['id']}",
                )
            now = self._clock.now()
            transitions.bring_back(connection, row, now)
            transitions.bring_back_behind(connection, task, now)
        return tasks.task_from(connection, tasks.row_of(connection, task))

    def _recover(self, connection: sqlite3.Connection, halted: bool, tell: Tell) -> Tasks:
        now = self._clock.now()
        lost = connection.execute(
            "SELECT * FROM tasks WHERE state = 'running' AND owner IS NOT ? ORDER BY position",
            (self._owner,),
        ).fetchall()
        for row in lost:
            transitions.take_over(connection, row, now, is_crash=not halted)
        tasks.end_stretched_waits(connection, now)
        self._plan_anew(connection, now)
        found = [tasks.task_from(connection, tasks.row_of(connection, row["id"])) for row in lost]
        self._events.append_in(connection, tell(found))
        return found

    def _plan_anew(self, connection: sqlite3.Connection, now: float) -> None:
        """What repeats, where a clock that was ahead chose its time."""
        planned = connection.execute(
            "SELECT * FROM tasks WHERE state = 'queued' AND fence = 0 AND due IS NOT NULL"
            " AND created_at > ?",
            (now + AHEAD.total_seconds(),),
        ).fetchall()
        for row in planned:
            task = replace(tasks.task_from(connection, row), due=now)
            if (became := self._repeats(task, now)) is not None:
                due = min(became.following.due, row["due"])
                tasks.update(connection, task.id, now, due=due, created_at=now)


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
    return tasks.tasks_from(connection, rows)
