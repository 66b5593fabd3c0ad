"""Handovers as they are kept, and when they go round in circles. The database has the last word."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, RunId, SessionId, TaskId

SAME_TROUBLE = 3
"""Handovers in a row with the same trouble, and a person is asked (seed 001)."""
NOTHING_NEW = "nothing was done that had not been done before"


def full_from_the_start(hard_tokens: int) -> str:
    """The trouble of limits that no conversation can keep."""
    return (
        "the first reply of a fresh conversation is already at the hard limit of"
        f" {hard_tokens:,} tokens"
    )


class Manner(StrEnum):
    """How a handover came about."""

    WRITTEN = "written"
    """Claude wrote the document and said that it was ready."""
    FORCED = "forced"
    """At the hard limit, or because a person asked: made from what is known."""
    EMERGENCY = "emergency"
    """Claude Code or the engine died in the middle of it: made from what is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """The end of one iteration: begun when it is due, done when the next one may start."""

    session: SessionId
    task: TaskId
    iteration: int
    run: RunId | None
    claude_session: ClaudeSessionId | None
    """The conversation that is over with it; None for one that began elsewhere."""
    reason: str
    done_at: float | None = None
    manner: Manner = Manner.FORCED
    trouble: str = ""
    """What went wrong in the iteration, without what differs each time."""
    document: str = ""
    findings: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    """Everything that is completed, of this iteration and those before it."""


class HandoverRecords(Protocol):
    """Where handovers are kept. Durable before anything acts on them."""

    async def begin(self, handover: Handover) -> None:
        """
        Write down that it is due. The same conversation and iteration again changes nothing; what
        another conversation left undone under that number gives way.
        """
        ...

    async def finish(self, handover: Handover, *events: Event) -> None:
        """Write down what it came to, with its events, in one transaction. Once."""
        ...

    async def drop(self, session: SessionId) -> None:
        """The task was finished after all: what was begun and not done is forgotten."""
        ...

    async def history(self, session: SessionId) -> Sequence[Handover]:
        """Newest first."""
        ...

    async def left_by(self, project: Path, iteration: int) -> Handover | None:
        """The last one done in the project with that number, by any session."""
        ...

    async def iterations(self, project: Path) -> Sequence[int]:
        """The iterations that were done in the project, by any session, in order."""
        ...


class WorkLog(Protocol):
    """What is on record of the work itself."""

    async def evidence(self, conversation: ClaudeSessionId) -> Sequence[Event]:
        """What the conversation's runs did, oldest first."""
        ...

    async def is_new(
        self, task: TaskId, conversation: ClaudeSessionId, calls: Sequence[RequestId]
    ) -> bool:
        """Whether one of these calls of the conversation was made in no other of the task."""
        ...

    async def began_at(self, task: TaskId) -> float:
        """When the task's first run began (UTC epoch seconds); 0 when none is on record."""
        ...

    async def seconds_worked(self, conversation: ClaudeSessionId) -> float:
        """How long the conversation's runs took that have ended."""
        ...

    async def is_settled(self, handover: Handover) -> bool:
        """Whether a dispatch of its task was settled since it was done."""
        ...

    async def was_lost(self, handover: Handover) -> bool:
        """
        Whether the run it was begun in died: others were paused, wait for a limit, or were ended
        by a person's force.
        """
        ...

    async def words(self, task: TaskId) -> str:
        """What the person asked for, unchanged; empty when there is no such task."""
        ...


class Records(HandoverRecords, WorkLog, Protocol):
    """Both, as one store keeps them."""


def goes_in_circles(history: Sequence[Handover]) -> str:
    """The trouble that the newest handovers (newest first) share; empty when there is none."""
    newest = history[:SAME_TROUBLE]
    troubles = {one.trouble for one in newest}
    if len(newest) < SAME_TROUBLE or len(troubles) > 1:
        return ""
    return newest[0].trouble
