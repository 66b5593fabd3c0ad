"""A ledger in memory: the contract's plainest reading. It passes the same suite as the real one."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, Later, NewTask, Outcome, Task, TaskState, Wait
from perpetualcc.work.ledger import (
    AHEAD,
    LONGEST_BACK_OFF,
    MOST_CRASHES,
    TRANSITIONS,
    Repeats,
    TaskOrderError,
    Tasks,
    Tell,
    UnknownTaskError,
    nothing_repeats,
    nothing_told,
)
from perpetualcc.work.outcomes import settlement

LOST = {TaskState.FAILED, TaskState.CANCELLED, TaskState.MISSED}


@dataclass(slots=True)
class Entry:
    """A task with what only the ledger knows of it."""

    task: Task
    owner: str | None = None
    started: bool = False
    cancelling: bool = False
    crashes: int = 0
    blocked_by: TaskId | None = None

    @property
    def in_hand(self) -> bool:
        state = self.task.state
        return state in {TaskState.RUNNING, TaskState.WAITING} or (
            state is TaskState.QUEUED and self.started
        )


@dataclass(slots=True)
class Signal:
    """A signal that was sent."""

    payload: Mapping[str, Any]
    holder: TaskId | None = None
    consumed: bool = False


@dataclass(slots=True)
class Memory:
    """What several owners of one ledger share."""

    entries: dict[TaskId, Entry] = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    settled_at: dict[str, float] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


class MemoryLedger:
    """`work.ledger.Ledger` without a disk."""

    def __init__(
        self, memory: Memory, clock: Clock, owner: str, repeats: Repeats = nothing_repeats
    ) -> None:
        self.memory = memory
        self.clock = clock
        self.owner = owner
        self.repeats = repeats

    async def add(self, task: NewTask, events: Iterable[Event] = ()) -> Task:
        for first in task.after:
            if first == task.id or (first in self.memory.entries and self._leads(first, task.id)):
                raise TaskOrderError(task.id, first)
            self._entry(first)
        if task.id not in self.memory.entries:
            now = self.clock.now()
            kept = Task(
                **{name: getattr(task, name) for name in NewTask.__slots__},
                state=TaskState.QUEUED,
                attempts=0,
                fence=0,
                signal=None,
                answer=None,
                result="",
                packet=None,
                created_at=now,
                updated_at=now,
            )
            self.memory.entries[task.id] = Entry(kept)
            self._park_if_blocked(self.memory.entries[task.id])
            self.memory.events += events
        return self._entry(task.id).task

    async def claim(self, free: Mapping[Lane, int], limit: int) -> Tasks:
        room = dict(free)
        now = self.clock.now()
        claimed: list[Task] = []
        ready = self._may_start(lane for lane in room if room[lane] > 0)
        for entry in self._ordered([e for e in ready if e.task.due <= now]):
            if len(claimed) < limit and room[entry.task.lane] > 0:
                room[entry.task.lane] -= 1
                if not await self._is_missed(entry):
                    claimed.append(self._start(entry))
        return claimed

    async def _is_missed(self, entry: Entry) -> bool:
        first_time = entry.task.fence == 0
        became = self.repeats(entry.task, self.clock.now()) if first_time else None
        if became is None:
            return False
        await self.add(became.following, became.events(entry.task))
        if became.missed:
            self._leave(entry, TaskState.MISSED)
            self._set(entry, result=became.missed, fence=1)
        return bool(became.missed)

    async def settle(
        self, task: TaskId, fence: int, outcome: Outcome, events: Iterable[Event] = ()
    ) -> bool:
        entry = self.memory.entries.get(task)
        if entry is None or entry.task.state is not TaskState.RUNNING or entry.task.fence != fence:
            return False
        now = self.clock.now()
        became = settlement(entry.task, outcome, now, cancelling=entry.cancelling)
        is_kept = isinstance(outcome, Later) and became.signal is not None
        if entry.task.answer is not None and not is_kept:
            self.memory.signals[entry.task.signal].consumed = True
        if isinstance(outcome, Wait) and became.signal in self.memory.signals:
            if (signal := self._open(became.signal, task)) is not None:
                signal.holder = task
                became = replace(became, state=TaskState.QUEUED, due=now)
            else:
                became = replace(became, state=TaskState.PARKED, packet={"reason": "signal used"})
        self._set(
            entry,
            state=became.state,
            due=math.inf if became.due is None else became.due,
            attempts=became.attempts,
            prompt=became.prompt,
            signal=became.signal,
            answer=None,
            result=became.result,
            packet=became.packet,
        )
        entry.crashes, entry.cancelling, entry.owner = 0, False, None
        entry.started = not became.state.is_final and not became.first
        self.memory.settled_at[entry.task.group] = now
        for first in became.first:
            await self.add(first)
        if became.first:
            after = (*entry.task.after, *(first.id for first in became.first))
            self._set(entry, after=after, payload=became.payload)
        self._park_what_follows(task)
        self.memory.events += events
        return True

    async def signal(self, name: str, payload: Mapping[str, Any]) -> bool:
        if name in self.memory.signals:
            return False
        self.memory.signals[name] = Signal(payload)
        for entry in self.memory.entries.values():
            if entry.task.state is TaskState.WAITING and entry.task.signal == name:
                self.memory.signals[name].holder = entry.task.id
                self._set(entry, state=TaskState.QUEUED, due=self.clock.now())
                break
        return True

    async def cancel(self, task: TaskId) -> TaskState:
        entry = self._entry(task)
        if entry.task.state is TaskState.RUNNING:
            entry.cancelling = True
            self._set(entry)
        elif TaskState.CANCELLED in TRANSITIONS[entry.task.state]:
            self._leave(entry, TaskState.CANCELLED)
        return entry.task.state

    async def requeue(self, task: TaskId) -> Task:
        entry = self._entry(task)
        if entry.task.state in {*LOST, TaskState.PARKED}:
            if self._blocker(entry) is not None:
                raise PerpetualError(f"Something before {task!r} has failed")
            behind = [e for e in self.memory.entries.values() if e.blocked_by == task]
            for one in (entry, *behind):
                one.started, one.crashes, one.blocked_by = False, 0, None
                self._set(
                    one,
                    state=TaskState.QUEUED,
                    due=self.clock.now(),
                    attempts=0,
                    signal=None,
                    result="",
                    packet=None,
                )
            for one in behind:
                self._park_if_blocked(one)
        return entry.task

    async def got_on(self, task: TaskId, fence: int) -> None:
        entry = self.memory.entries[task]
        if entry.task.state is TaskState.RUNNING and entry.task.fence == fence:
            entry.crashes = 0

    async def hold(self, group: str) -> None:
        self.memory.held.add(group)

    async def release(self, group: str) -> None:
        self.memory.held.discard(group)

    async def hasten(self, group: str, *, in_hand: bool = False) -> None:
        now = self.clock.now()
        self._hasten(group, TaskState.WAITING)
        ready = [entry for entry in self._may_start(Lane) if entry.task.due <= now]
        taken = [entry for entry in self.memory.entries.values() if entry.in_hand]
        if not in_hand and all(entry.task.group != group for entry in (*ready, *taken)):
            self._hasten(group, TaskState.QUEUED)

    def _hasten(self, group: str, state: TaskState) -> None:
        now = self.clock.now()
        for entry in self.memory.entries.values():
            task = entry.task
            waits = task.state is state and task.signal is None
            if task.group == group and waits and task.due > now:
                entry.task = replace(task, due=now, updated_at=now)

    async def get(self, task: TaskId) -> Task:
        return self._entry(task).task

    async def list(
        self, group: str | None = None, states: Collection[TaskState] | None = None
    ) -> Tasks:
        return [
            entry.task
            for entry in self.memory.entries.values()
            if (group is None or entry.task.group == group)
            and (states is None or entry.task.state in states)
        ]

    async def next_due(self, lanes: Collection[Lane] | None = None) -> float | None:
        dues = [e.task.due for e in self._may_start(tuple(Lane) if lanes is None else lanes)]
        return min((due for due in dues if due < math.inf), default=None)

    async def recover(self, *, halted: bool = False, tell: Tell = nothing_told) -> Tasks:
        recovered = []
        for entry in list(self.memory.entries.values()):
            if entry.task.state is TaskState.RUNNING and entry.owner != self.owner:
                self._take_over(entry, is_crash=not halted)
                recovered.append(entry)
        for entry in self.memory.entries.values():
            self._end_stretched_wait(entry)
            self._plan_anew(entry)
        found = [entry.task for entry in recovered]
        self.memory.events += tell(found)
        return found

    def _end_stretched_wait(self, entry: Entry) -> None:
        task, now = entry.task, self.clock.now()
        longest = LONGEST_BACK_OFF.total_seconds()
        if task.state is TaskState.QUEUED:
            longest = 0.0
        elif task.state is not TaskState.WAITING or task.signal is not None:
            return
        if task.updated_at > now and now < task.due <= task.updated_at + longest:
            self._set(entry, due=now)

    def _plan_anew(self, entry: Entry) -> None:
        task, now = entry.task, self.clock.now()
        is_ahead = task.created_at > now + AHEAD.total_seconds()
        if task.state is TaskState.QUEUED and not task.fence and is_ahead:
            became = self.repeats(replace(task, due=now), now)
            if became is not None:
                self._set(entry, due=min(became.following.due, task.due), created_at=now)

    def _entry(self, task: TaskId) -> Entry:
        if task not in self.memory.entries:
            raise UnknownTaskError(task)
        return self.memory.entries[task]

    def _set(self, entry: Entry, **changes: Any) -> None:
        entry.task = replace(entry.task, **changes, updated_at=self.clock.now())

    def _open(self, name: str | None, task: TaskId) -> Signal | None:
        signal = self.memory.signals.get(name or "")
        is_open = signal and not signal.consumed and signal.holder in {None, task}
        return signal if is_open else None

    def _start(self, entry: Entry) -> Task:
        signal = self._open(entry.task.signal, entry.task.id)
        if signal is not None:
            signal.holder = entry.task.id
        task = entry.task
        self._set(
            entry,
            state=TaskState.RUNNING,
            created_at=task.created_at if task.fence else max(task.created_at, task.due),
            fence=entry.task.fence + 1,
            attempts=entry.task.attempts + 1,
            answer=None if signal is None else signal.payload,
        )
        entry.started, entry.owner = True, self.owner
        return entry.task

    def _may_start(self, lanes: Iterable[Lane]) -> "list[Entry]":
        wanted = set(lanes)
        entries = self.memory.entries
        return [
            entry
            for entry in entries.values()
            if entry.task.state in {TaskState.QUEUED, TaskState.WAITING}
            and entry.task.lane in wanted
            and entry.task.group not in self.memory.held
            and all(entries[first].task.state is TaskState.DONE for first in entry.task.after)
            and not any(
                other.in_hand
                for other in entries.values()
                if other is not entry and other.task.group == entry.task.group
            )
        ]

    def _ordered(self, ready: "list[Entry]") -> "list[Entry]":
        places = {task: place for place, task in enumerate(self.memory.entries)}

        def since(entry: Entry) -> float:
            served = self.memory.settled_at.get(entry.task.group, 0.0)
            return max(entry.task.due, entry.task.created_at, served)

        ready.sort(key=lambda e: (-e.task.priority, places[e.task.id]))
        first_of_group: dict[str, Entry] = {}
        for entry in ready:
            first_of_group.setdefault(entry.task.group, entry)
        return sorted(
            first_of_group.values(),
            key=lambda e: (-e.task.priority, since(e), places[e.task.id]),
        )

    def _leads(self, start: TaskId, goal: TaskId) -> bool:
        after = self.memory.entries[start].task.after
        return goal in after or any(self._leads(first, goal) for first in after)

    def _blocker(self, entry: Entry) -> Entry | None:
        for one in self.memory.entries.values():
            if one.task.id in entry.task.after and (one.task.state in LOST or one.blocked_by):
                return one
        return None

    def _park_if_blocked(self, entry: Entry) -> None:
        if (blocker := self._blocker(entry)) is not None:
            self._park_behind(entry, blocker.blocked_by or blocker.task.id)

    def _park_what_follows(self, task: TaskId) -> None:
        if self.memory.entries[task].task.state in LOST:
            for entry in self.memory.entries.values():
                is_queued = entry.task.state is TaskState.QUEUED
                if entry.blocked_by == task or (is_queued and self._leads(entry.task.id, task)):
                    self._park_behind(entry, task)

    def _park_behind(self, entry: Entry, cause: TaskId) -> None:
        entry.blocked_by = cause
        packet = {"task": cause, "state": self.memory.entries[cause].task.state}
        self._set(entry, state=TaskState.PARKED, packet=packet)

    def _leave(self, entry: Entry, state: TaskState) -> None:
        self._set(entry, state=state, packet=None)
        entry.started, entry.blocked_by = False, None
        self._park_what_follows(entry.task.id)

    def _take_over(self, entry: Entry, *, is_crash: bool) -> None:
        entry.crashes, entry.owner = entry.crashes + is_crash, None
        self._set(
            entry,
            fence=entry.task.fence + 1,
            attempts=entry.task.attempts - 1,
            answer=None,
            due=self.clock.now(),
        )
        if entry.cancelling:
            entry.cancelling = False
            self._leave(entry, TaskState.CANCELLED)
        elif entry.crashes > MOST_CRASHES:
            self._leave(entry, TaskState.PARKED)
            self._set(entry, packet={"reason": "crashes", "crashes": entry.crashes})
        else:
            self._set(entry, state=TaskState.QUEUED)
