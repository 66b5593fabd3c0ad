"""
What happened while nobody looked (seed 003, FR-5): each session's tasks, what was changed, answered
and refused, what it waited for and what it cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from perpetualcc.domain.ids import SessionId, TaskId


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTask:
    """A task that ended, well or not."""

    id: TaskId
    prompt: str
    state: str
    result: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What a question of Claude's was answered with."""

    question: str
    answer: str
    by: str
    because: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCall:
    """Calls that were refused for one reason."""

    tool: str
    summary: str
    risk: str
    reason: str
    by: str
    times: int


class Heard(StrEnum):
    """How far what a person said has come."""

    HEARD = "heard"
    GIVEN = "given"
    """Claude Code has it; whether Claude does is not certain."""
    WAITING = "waiting"
    """For the session to go on."""
    NEVER = "never"
    """Its task was over first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidWord:
    """What a person said to Claude, outside of any question."""

    text: str
    at: float
    heard: Heard


class Act(StrEnum):
    """What a person did with what a session made in its worktree."""

    MERGE = "merge"
    PUSH = "push"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True, kw_only=True)
class DealtWith:
    """A worktree that was merged or thrown away, or was to be."""

    act: Act
    branch: str
    to: str
    """The branch, or the remote, that has it; or the snapshot that leads back."""
    files: int
    by: str
    at: float
    is_done: bool
    """False: it was begun, and nothing says that it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """What a session came to in that time."""

    session: SessionId
    tasks: Sequence[EndedTask] = ()
    """Oldest first, as everywhere below."""
    answers: Sequence[GivenAnswer] = ()
    words: Sequence[SaidWord] = ()
    """And those from before that are still on their way."""
    refused: Sequence[RefusedCall] = ()
    allowed: int = 0
    """Calls that were let through."""
    files: Sequence[str] = ()
    """Written through Claude's own tools, relative to the project. What commands write is not
    here."""
    limits: Sequence[str] = ()
    """Windows whose limits stopped it, one for each time."""
    budgets: Sequence[str] = ()
    """Those that were used up, once each."""
    checks: int = 0
    """Checks that failed."""
    proofs: Mapping[str, str] = field(default_factory=dict)
    """What failed of each check when it was run last; empty: it succeeded."""
    handovers: int = 0
    restarts: int = 0
    """Times that it was at work when its engine died, and was taken over."""
    problems: Sequence[str] = ()
    dealt_with: Sequence[DealtWith] = ()
    snapshots: int = 0
    """Of its project's files, from any time: what it changed can be seen, and taken back."""
    runs: int = 0
    tokens: int = 0
    """Fresh ones: input, cache writes, output."""
    usd: float = 0.0


class Reports(Protocol):
    """Where what happened is kept."""

    async def since(
        self, since: float, now: float, session: SessionId | None = None
    ) -> Sequence[SessionReport]:
        """Of every session in which something happened; in the order in which they were made."""
        ...
