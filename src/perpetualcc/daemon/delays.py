"""Why a session does nothing now although it could: a stop, the machine, its disk, no place."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perpetualcc.daemon.disk import DiskSpace
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Lane, Task, TaskState, condition_of

_BY_SETTING = frozenset({Lane.INTERACTIVE, Lane.GOAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """Looked at when somebody asks: nothing of it is written down."""

    is_stopped: Callable[[], bool]
    """By a person, with the daemon."""
    spent_disk: Callable[[], DiskSpace | None]
    """Of the data directory; None while it can keep what happens."""
    load: Callable[[Lane], str]
    """What the work of a lane waits for on this machine; empty: nothing."""
    places: Mapping[Lane, int]
    taken: Callable[[], Mapping[Lane, int]]

    def why(self, session: Session, tasks: Sequence[Task]) -> str:
        """In words for a person; empty when nothing outside the session holds it up."""
        if session.status not in {SessionStatus.IDLE, SessionStatus.PROCESSING}:
            return ""
        queued = [task for task in tasks if task.state is TaskState.QUEUED]
        if session.status is SessionStatus.IDLE and not queued:
            return ""
        if self.is_stopped():
            return "the daemon was stopped; to go on: pcc daemon start"
        if space := self.spent_disk():
            then = "there is room" if space.writable else "it can be written again"
            return f"the disk is {space.described()}; work waits or fails until {then}"
        if session.status is SessionStatus.PROCESSING or session.resumes_at is not None:
            return ""  # at work, or not due yet
        due = [task.lane for task in queued if not waits_for(task)]
        conditional = [task for task in queued if waits_for(task)]
        if conditional and not due:
            busy = self.load(conditional[0].lane)
            then = f"; then it {busy}" if busy else ""
            return f"begins when it succeeds: {waits_for(conditional[0])}{then}"
        return next(filter(None, (self.load(lane) or self._no_place(lane) for lane in due)), "")

    def _no_place(self, lane: Lane) -> str:
        taken, places = self.taken()[lane], self.places[lane]
        if taken < places:
            return ""
        setting = " (sessions.max_concurrent)" if lane in _BY_SETTING else ""
        return f"waits for a place: {taken} of {places} taken{setting}"


def waits_for(task: Task) -> str:
    """The condition that a task waits for; empty: none."""
    is_ahead = task.state is TaskState.QUEUED and task.due == math.inf
    return condition_of(task) if is_ahead else ""
