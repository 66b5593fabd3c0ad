"""Sessions: supervised workers, one project each, one task at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.ids import ClaudeSessionId, RunId, SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Perpetual:
    """
    When a perpetual session moves to a fresh run. The numbers are seed 001's.

    `warn` asks Claude to finish its unit of work and hand over; `hard` does not ask.
    """

    warn_tokens: int = 90_000
    hard_tokens: int = 120_000
    warn_minutes: float = 18.0
    hard_minutes: float = 25.0
    max_iterations: int | None = None
    """A person is asked after so many; None goes on for ever."""
    resume_from: int | None = None
    """Begin with the handover document that this iteration of an earlier session left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a session works: what `pcc start` was told."""

    is_named: bool = False
    """A person chose its name; else it is made from the first task."""
    brain: str = "none"
    model: str = ""
    """Model of the brain, for brains that have several."""
    claude_model: str = ""
    """Model of Claude Code; empty: its own default."""
    auto_approve: bool = True
    confidence: float = 0.7
    """Answers below it go to a person."""
    max_turns: int | None = None
    requirements: str = ""
    """Path of the requirements file, or empty."""
    sandbox: str = ""
    """auto, on or off; empty: as configured."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Variables that say which programs Claude's commands find; none: the daemon's own."""
    authority: Authority = field(default_factory=Authority)
    perpetual: Perpetual | None = None
    """None: hands over only when its context window is nearly full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A supervised worker as the store keeps it."""

    id: SessionId
    name: str
    project: Path
    status: SessionStatus
    options: SessionOptions
    created_at: float
    updated_at: float
    current_task: TaskId | None = None
    claude_session: ClaudeSessionId | None = None
    """The Claude conversation that the next run of the current task resumes."""
    resumes_at: float | None = None
    """UTC epoch seconds, while it waits for a time."""
    detail: str = ""
    """Why it is in this status, in words."""
    tokens: int = 0
    """Context tokens at the last turn."""
    context_window: int = 0
    """Tokens that fit into it; 0 until the first turn has ended, when Claude Code says it."""


def only_reading(session: Session) -> Session:
    """The same for work that must change nothing."""
    authority = replace(session.options.authority, level=AuthorityLevel.READ_ONLY, writable=())
    return replace(session, options=replace(session.options, authority=authority))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One Claude Code process working for a session."""

    id: RunId
    session: SessionId
    task: TaskId
    claude_session: ClaudeSessionId
    fence: int
    started_at: float
    ended_at: float | None = None
