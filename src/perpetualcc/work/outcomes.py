"""What each outcome of a dispatch does to its task. Pure: every ledger settles by this table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.domain.tasks import (
    Again,
    Behind,
    Done,
    Failed,
    Later,
    NewTask,
    Outcome,
    Parked,
    Task,
    TaskState,
    Wait,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a task becomes when it leaves `running`."""

    state: TaskState
    due: float | None
    """UTC epoch seconds; None: only a signal wakes it."""
    attempts: int
    prompt: str
    signal: str | None = None
    result: str = ""
    packet: Mapping[str, Any] | None = None
    first: tuple[NewTask, ...] = ()
    """What is queued with it and comes before it. It is not in hand then."""
    payload: Mapping[str, Any] | None = None
    """None: its own stays."""


def settlement(task: Task, outcome: Outcome, now: float, *, cancelling: bool) -> Settlement:
    """
    What becomes of a running task.

    A `Later` that does not count gives the dispatch's attempt back, as `Again` and `Wait` do: a
    person who thinks is no failure. A cancelled task is cancelled whatever it came to.
    """
    if cancelling:
        return _left(task, TaskState.CANCELLED, "Cancelled", None)
    match outcome:
        case Again(prompt=prompt):
            return Settlement(
                state=TaskState.QUEUED, due=now, attempts=task.attempts - 1, prompt=prompt
            )
        case Later():
            return _later(task, outcome, now)
        case Wait(signal=signal, due=due, reason=reason):
            return Settlement(
                state=TaskState.WAITING,
                due=due,
                attempts=task.attempts - 1,
                prompt=task.prompt,
                signal=signal,
                result=reason,
            )
        case Behind(first=first, payload=payload, result=result):
            return Settlement(
                state=TaskState.QUEUED,
                due=now,
                attempts=0,
                prompt=task.prompt,
                result=result,
                first=first,
                payload=payload,
            )
        case Done(result=result):
            return _left(task, TaskState.DONE, result, None)
        case Failed(result=result, packet=packet):
            return _left(task, TaskState.FAILED, result, packet)
        case Parked(result=result, packet=packet):
            return _left(task, TaskState.PARKED, result, packet)


def _later(task: Task, outcome: Later, now: float) -> Settlement:
    attempts = 1 if outcome.got_on else task.attempts
    if outcome.counts and attempts >= task.max_attempts:
        packet = {"reason": "attempts", "attempts": attempts, "last": outcome.reason}
        said = outcome.reason or "Every attempt is used up"
        return _left(task, TaskState.FAILED, said, packet)
    return Settlement(
        # In hand until it is finished: the rest of its group waits behind it.
        state=TaskState.WAITING if outcome.due > now else TaskState.QUEUED,
        due=outcome.due,
        attempts=attempts if outcome.counts else attempts - 1,
        prompt=task.prompt,
        signal=task.signal if outcome.keeps_answer else None,
        result=outcome.reason,
    )


def _left(
    task: Task, state: TaskState, result: str, packet: Mapping[str, Any] | None
) -> Settlement:
    return Settlement(
        state=state,
        due=task.due,
        attempts=task.attempts,
        prompt=task.prompt,
        result=result,
        packet=packet,
    )
