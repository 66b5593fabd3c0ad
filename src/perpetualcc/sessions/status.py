"""What a session's status may become, and what it becomes when a run's task is settled."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import TaskState

_S = SessionStatus
TRANSITIONS: Mapping[SessionStatus, frozenset[SessionStatus]] = MappingProxyType(
    {
        # A task that waited may have to wait again before a run of it begins.
        _S.IDLE: frozenset(_S) - {_S.IDLE},
        _S.PROCESSING: frozenset(_S) - {_S.PROCESSING},
        # Completed: a person stopped the task that waited.
        _S.WAITING_INPUT: frozenset(_S) - {_S.WAITING_INPUT},
        _S.RATE_LIMITED: frozenset(_S) - {_S.RATE_LIMITED},
        # Waiting: what it was paused with still waits for an answer.
        _S.PAUSED: frozenset({_S.IDLE, _S.WAITING_INPUT, _S.STOPPED, _S.COMPLETED, _S.ERROR}),
        _S.ERROR: frozenset({_S.IDLE, _S.WAITING_INPUT, _S.STOPPED}),
        # A task added to a finished session starts it again; a stopped one stays stopped.
        _S.COMPLETED: frozenset({_S.IDLE}),
        _S.STOPPED: frozenset(),
    }
)


class StatusError(PerpetualError):
    """The session cannot go from what it is to what was asked."""

    def __init__(self, session: str, before: SessionStatus, after: SessionStatus) -> None:
        super().__init__(
            f"Session {session!r} {_STANDS.get(before, f'is {before.value.lower()}')} and cannot "
            + ("go on" if after is SessionStatus.IDLE else f"become {after.value.lower()}"),
            hint=_HINTS.get(before, "See it with: pcc status {session}").format(
                session=shlex.quote(session)
            ),
        )


_STANDS = {_S.ERROR: "has stopped for an error"}
_HINTS = {
    _S.COMPLETED: 'It is finished. Give it more to do with: pcc add {session} "…"',
    _S.STOPPED: 'It was stopped. Start a new one with: pcc start PROJECT --task "…"',
    _S.ERROR: "See why with: pcc status {session}; try again with: pcc resume {session}",
}


def check_transition(session: str, before: SessionStatus, after: SessionStatus) -> None:
    """Raises: StatusError."""
    if after is not before and after not in TRANSITIONS[before]:
        raise StatusError(session, before, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a session is once a dispatch of its task has been settled."""

    status: SessionStatus
    detail: str = ""
    resumes_at: float | None = None
    held: bool = False
    """Nothing more of its queue starts until a person says so."""


def standing_after(
    state: TaskState, *, due: float | None, result: str, limited: bool, left: int, stuck: str = ""
) -> Standing:
    """
    From what a dispatch left its task in.

    `limited`: it waits for a usage limit. `left`: tasks of the queue that are not finished, this
    one included if it is not. `stuck`: why nothing goes on without a person
    (`task_queue.standstill`).
    """
    match state:
        case TaskState.WAITING if limited:
            return Standing(status=_S.RATE_LIMITED, detail=result, resumes_at=due)
        case TaskState.WAITING if due is None:
            return Standing(status=_S.WAITING_INPUT, detail=result)
        case TaskState.WAITING:
            return Standing(status=_S.IDLE, detail=f"will try again: {result}", resumes_at=due)
        case _ if stuck:
            return Standing(status=_S.ERROR, detail=stuck, held=True)
        case _ if left:
            return Standing(status=_S.IDLE)
        case _:
            return Standing(status=_S.COMPLETED)
