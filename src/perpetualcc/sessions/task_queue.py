"""A session's queue: its part of the ledger, in the order in which it will be worked through."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import SessionId, TaskId, new_task_id
from perpetualcc.domain.tasks import Lane, NewTask, Task, TaskState, added, goal_of
from perpetualcc.domain.texts import first_line

_MOST_IN_A_ROW = 2
OPEN = frozenset({TaskState.QUEUED, TaskState.RUNNING, TaskState.WAITING})
"""What is not finished."""


class Tasks(Protocol):
    """What a queue needs of the ledger."""

    async def add(self, task: NewTask, events: Iterable[Event] = ()) -> Task: ...

    async def list(
        self, group: str | None = None, states: Collection[TaskState] | None = None
    ) -> list[Task]: ...

    async def requeue(self, task: TaskId) -> Task: ...

    async def signal(self, name: str, payload: Mapping[str, Any]) -> bool: ...

    async def hold(self, group: str) -> None: ...

    async def release(self, group: str) -> None: ...

    async def hasten(self, group: str, *, in_hand: bool = False) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of a plan that is queued as a whole."""

    prompt: str
    priority: int = 0
    after: tuple[int, ...] = ()
    """Positions in the plan, counted from 0."""


def order_of(plan: Sequence[PlannedTask]) -> list[int]:
    """
    Positions of a plan's tasks in an order in which they can be done.

    Raises:
        PerpetualError: some wait for each other, or for a task that the plan does not have.
    """
    order: list[int] = []
    graph = TopologicalSorter({i: task.after for i, task in enumerate(plan)})
    try:
        graph.prepare()
        while ready := sorted(graph.get_ready()):
            order += ready
            graph.done(*ready)
    except CycleError:
        order = []
    if len(order) != len(plan):  # in a circle, or for one that is not there
        raise PerpetualError("The tasks wait for each other", hint="Remove one dependency")
    return order


def tasks_of(
    plan: Sequence[PlannedTask],
    session: SessionId,
    lane: Lane,
    due: float = 0.0,
    payload: Mapping[str, Any] = MappingProxyType({}),
) -> list[NewTask]:
    """
    The plan as tasks of a session, each after those it names, whatever their order in the plan.
    None begins before `due`.

    Raises:
        PerpetualError: as `order_of`.
    """
    tasks: dict[int, NewTask] = {}
    for i in order_of(plan):
        tasks[i] = NewTask(
            id=new_task_id(),
            group=session,
            prompt=plan[i].prompt,
            priority=plan[i].priority,
            after=tuple(tasks[first].id for first in plan[i].after),
            due=due,
            lane=lane,
            payload=payload,
        )
    return list(tasks.values())


def _cause(task: Task) -> str | None:
    """What became of the task that this one was parked for."""
    return (task.packet or {}).get("state") if comes_after_broken(task) else None


def comes_after_broken(task: Task) -> bool:
    """It was parked because of what comes before it, and not for a reason of its own."""
    return task.state is TaskState.PARKED and (task.packet or {}).get("reason") == "after"


def can_be_done(tasks: Sequence[Task]) -> bool:
    """Whether anything is left that does not come after a task that stopped."""
    stopped = [task for task in tasks if task.state.is_final and task.state is not TaskState.DONE]
    left = sum(not task.state.is_final for task in tasks)
    return len(behind([task.id for task in stopped], tasks)) < left


def behind(first: Collection[TaskId], tasks: Sequence[Task]) -> list[Task]:
    """What is not finished and comes after one of these, if only at several removes."""
    left = {task.id for task in tasks if not task.state.is_final}
    following: dict[TaskId, list[TaskId]] = defaultdict(list)
    for task in tasks:
        for one in task.after:
            following[one].append(task.id)
    front, reached = list(first), set[TaskId]()
    while front:
        found = left.intersection(following.pop(front.pop(), ())) - reached
        reached |= found
        front += found
    return [task for task in tasks if task.id in reached]


def left_out(tasks: Sequence[Task]) -> list[Task]:
    """What will not be done because a person gave up what comes before it."""
    return [task for task in tasks if _cause(task) == TaskState.CANCELLED]


def parts_of(goal: Task, tasks: Sequence[Task]) -> list[Task]:
    """Those of these that its plan has put before it."""
    return [task for task in tasks if task.id in goal.after and goal_of(task)]


def standstill(tasks: Sequence[Task]) -> Task | None:
    """
    The stopped task for which a whole session waits for a person; None: it goes on without it.

    One that stopped for a reason of its own does not keep the session from what does not come
    after it. A second in a row, with nothing done in between, does: the reason may be everybody's.
    """
    broken = {TaskState.FAILED, TaskState.PARKED}
    stopped = [task for task in tasks if task.state in broken and not comes_after_broken(task)]
    if not stopped:
        return None
    done = max((task.updated_at for task in tasks if task.state is TaskState.DONE), default=0.0)
    in_a_row = sum(task.updated_at > done for task in stopped)
    is_everybodys = any((task.packet or {}).get("stops") for task in stopped)
    if in_a_row < _MOST_IN_A_ROW and not is_everybodys and can_be_done(tasks):
        return None
    return max(stopped, key=lambda task: task.updated_at)


class TaskQueue:
    """The tasks of one session."""

    def __init__(self, session: SessionId, tasks: Tasks) -> None:
        self._session = session
        self._tasks = tasks

    async def add(
        self,
        prompt: str,
        *,
        priority: int = 0,
        after: Iterable[str] = (),
        due: float = 0.0,
        lane: Lane = Lane.INTERACTIVE,
        payload: Mapping[str, Any] = MappingProxyType({}),
        events: Iterable[Event] = (),
    ) -> Task:
        """
        Queue a task. `after` takes what `the_one_named` does; `events` are written with it.

        Raises:
            PerpetualError: the prompt is empty, or `after` names nothing, too much, or what will
                never be done.
        """
        if not prompt.strip():
            raise PerpetualError(
                "The task is empty", hint=f'Say what to do: pcc add {self._session} "…"'
            )
        known = await self._tasks.list(self._session) if after else []
        task = NewTask(
            id=new_task_id(),
            group=self._session,
            prompt=prompt,
            priority=priority,
            after=tuple(_that_comes_first(name, known) for name in after),
            due=due,
            lane=lane,
            payload=payload,
        )
        return await self._tasks.add(task, [added(task), *events])

    async def pending(self) -> list[Task]:
        """What is not finished: in hand first, then by priority and age."""
        found = await self._tasks.list(self._session, OPEN)
        return sorted(found, key=lambda task: (task.state is TaskState.QUEUED, -task.priority))

    async def everything(self) -> list[Task]:
        """In the order of adding."""
        return await self._tasks.list(self._session)

    async def broken(self) -> list[Task]:
        """What failed or was parked, oldest first."""
        return await self._tasks.list(self._session, {TaskState.FAILED, TaskState.PARKED})


_HIGHEST = 3
"""Digits of a task's number; more are the beginning of an id."""


def _named(name: str, tasks: Sequence[Task], sooner: Sequence[Task]) -> Sequence[Task]:
    """
    The first of these that is any: those with this id, whole prompt or first line; the one with
    this number, as `pcc status` counts them; those whose id begins so, or their text.
    """
    typed, begun = name.strip(), name.strip().removeprefix("t-")
    place = int(typed) - 1 if typed.isdecimal() and len(typed) <= _HIGHEST else -1
    numbered = {tasks[place].id} if 0 <= place < len(tasks) else set()
    ways: Sequence[Callable[[Task], bool]] = (
        lambda task: name in {task.id, task.prompt},
        lambda task: typed == first_line(task.prompt),
        lambda task: task.id in numbered,
        lambda task: task.id.removeprefix("t-").startswith(begun),
        lambda task: first_line(task.prompt).casefold().startswith(typed.casefold()),
    )
    found = (filter(way, among) for way in ways if begun for among in (sooner, tasks))
    return next(filter(None, map(list, found)), [])


def the_one_named(
    name: str, tasks: Sequence[Task], *, option: str = "", sooner: Sequence[Task] = ()
) -> Task:
    """
    `option`: where it was named. `sooner`: the tasks that are meant where any of them can be.

    Raises PerpetualError: it is none of them, or several.
    """
    found = _named(name, tasks, sooner)
    if len(found) != 1:
        shown = [f"{task.id} ({first_line(task.prompt, 40)})" for task in (found or tasks)]
        known = ", ".join(shown) or "none yet"
        what = "matches no task" if not found else "matches several tasks"
        raise PerpetualError(f"{option}{name!r} {what} of this session", hint=f"Tasks: {known}")
    return found[0]


def _that_comes_first(name: str, tasks: Sequence[Task]) -> TaskId:
    task = the_one_named(name, tasks, option="--after ")
    if TaskState.CANCELLED in {task.state, _cause(task)}:
        raise PerpetualError(
            f"Task {task.id} was given up: nothing can come after it",
            hint="Leave that --after out",
        )
    return task.id
