"""
The ledger's contract: when, where and how often a task is dispatched. The handler owns what.

Any backend that keeps these promises will do; `tests/contracts` holds each to them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, NewTask, Outcome, Repetition, Task, TaskState

Tasks = list[Task]
"""A name of its own, because the ledger has a method called `list`."""

Tell = Callable[[Tasks], Iterable[Event]]


def nothing_told(_tasks: Tasks) -> Iterable[Event]:
    return ()


Repeats = Callable[[Task, float], Repetition | None]
"""What a task that is due leaves behind at this time, in UTC epoch seconds; None: nothing."""


def nothing_repeats(_task: Task, _now: float) -> None:
    return None


MOST_CRASHES = 5
"""In a row. One more and the task is parked: it may be what kills the engine."""

LONGEST_BACK_OFF = timedelta(minutes=5) * 1.25
"""Between two attempts, with its jitter."""

AHEAD = timedelta(hours=1)
"""A clock that is set back by more made the next time of what repeats in a future that is none. By
less, that next time is right, and the one before it would come twice."""

_QUEUED, _RUNNING, _WAITING = TaskState.QUEUED, TaskState.RUNNING, TaskState.WAITING
_DONE, _FAILED, _PARKED = TaskState.DONE, TaskState.FAILED, TaskState.PARKED
_CANCELLED, _MISSED = TaskState.CANCELLED, TaskState.MISSED

TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = MappingProxyType(
    {
        # Parked: what must come first failed or was cancelled.
        _QUEUED: frozenset({_RUNNING, _PARKED, _CANCELLED, _MISSED}),
        _RUNNING: frozenset({_QUEUED, _WAITING, _DONE, _FAILED, _PARKED, _CANCELLED}),
        # Queued: its signal came. Running: its time came.
        _WAITING: frozenset({_QUEUED, _RUNNING, _CANCELLED, _MISSED}),
        _DONE: frozenset(),
        # A person may try again, or give it up.
        _FAILED: frozenset({_QUEUED, _CANCELLED}),
        _PARKED: frozenset({_QUEUED, _CANCELLED}),
        _CANCELLED: frozenset({_QUEUED}),
        _MISSED: frozenset({_QUEUED}),
    }
)
"""What may follow what. A backend that would write anything else has a bug."""


class UnknownTaskError(PerpetualError):
    """No task has this id."""

    def __init__(self, task: str) -> None:
        super().__init__(f"No task has the id {task!r}", hint="See the tasks with: pcc status")


class TaskOrderError(PerpetualError):
    """A task would have to come before itself."""

    def __init__(self, task: str, after: str) -> None:
        super().__init__(
            f"Task {task!r} cannot come after {after!r}: they would wait for each other",
            hint="Leave that task out of --after",
        )


class Ledger(Protocol):
    """
    Where every task is, durably. Each method is one transaction.

    A state transition happens exactly once. A turn happens at least once: one repeat for each
    crash. What a turn did outside is not deduplicated. A signal is consumed exactly once.
    All times are UTC epoch seconds of the wall clock.
    """

    async def add(self, task: NewTask, events: Iterable[Event] = ()) -> Task:
        """
        Queue a task. The same id again changes nothing, events included.

        One that comes after a task that failed or was cancelled is parked at once.
        Raises: UnknownTaskError for an id in `after`, TaskOrderError for a cycle.
        """
        ...

    async def claim(self, free: Mapping[Lane, int], limit: int) -> Tasks:
        """
        Take up to `limit` tasks that may start now, no more in a lane than it has room for.

        Each is due, what comes first is done, its group is not held, and nothing else of the group
        is in hand (running, waiting, or started and queued again). Within a group: higher priority,
        then the order of adding. Between groups: higher priority, then who has waited longest.
        Each is now running under a new fence, with the signal it waited for as its `answer`.

        One that repeats leaves the following one when it is taken for the first time; one whose
        time has passed, by its own rule, is missed instead of taken.
        """
        ...

    async def settle(
        self, task: TaskId, fence: int, outcome: Outcome, events: Iterable[Event] = ()
    ) -> bool:
        """
        Move a task out of `running`, durably: state, due time, attempts, consumed signal, events,
        and what comes after it when it failed. False, and nothing written, when the fence is stale.
        """
        ...

    async def got_on(self, task: TaskId, fence: int) -> None:
        """
        The work of a running task got on: the crashes before this are no longer in a row.
        Nothing happens when the fence is stale.
        """
        ...

    async def signal(self, name: str, payload: Mapping[str, Any]) -> bool:
        """
        Store a signal and wake the task that waits for it, now or later.

        The first sender of a name wins for ever: everybody after it is told False.
        """
        ...

    async def cancel(self, task: TaskId) -> TaskState:
        """
        Cancel what is queued, waiting, parked or failed at once; mark what runs, so that its
        settle cancels it. Returns the state it is in now. What is done or missed stays as it is.
        Raises: UnknownTaskError.
        """
        ...

    async def requeue(self, task: TaskId) -> Task:
        """
        A person brings back a task that failed, was parked, cancelled or missed, with all its
        attempts, and with it what was parked because of it. Others stay as they are.
        Raises: UnknownTaskError; PerpetualError while what must come first has failed.
        """
        ...

    async def hold(self, group: str) -> None:
        """Start nothing more of this group. What runs goes on."""
        ...

    async def release(self, group: str) -> None:
        """The opposite of `hold`."""
        ...

    async def hasten(self, group: str, *, in_hand: bool = False) -> None:
        """
        What of this group is in hand and waits for nothing but a time is due now. So is what is
        queued, where nothing is in hand and nothing could begin; not with `in_hand`.
        """
        ...

    async def get(self, task: TaskId) -> Task:
        """Raises: UnknownTaskError."""
        ...

    async def list(
        self, group: str | None = None, states: Collection[TaskState] | None = None
    ) -> Tasks:
        """Tasks in the order they were added."""
        ...

    async def next_due(self, lanes: Collection[Lane] | None = None) -> float | None:
        """
        When something of these lanes (all of them by default) can be claimed at the earliest; in
        the past when it can be now; None when time alone will not bring anything.
        """
        ...

    async def recover(self, *, halted: bool = False, tell: Tell = nothing_told) -> Tasks:
        """
        Take over what another owner left running: queued again under a new fence, the attempt
        given back and a crash counted, unless a person `halted` that owner; parked after
        `MOST_CRASHES` in a row; cancelled when that was asked for. Returns them as they are now;
        what `tell` makes of them is written in the same transaction.

        A back-off (`LONGEST_BACK_OFF`) that was written before the clock was set back is over, and
        what was due at once then is due now. What repeats, and was planned by a clock that was
        ahead by more than `AHEAD`, has its next time from now.
        """
        ...
