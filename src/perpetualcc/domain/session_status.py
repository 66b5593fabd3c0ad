"""What a session can be. Apart from the session itself: a listing needs no more than this."""

from enum import StrEnum

TAKEN_OVER = "taken over after a restart"
"""Of a session that was at work when its engine died: what the change to idle is told with."""


class SessionStatus(StrEnum):
    """Seed 000, Component 5. `sessions.status.TRANSITIONS` says what may follow what."""

    IDLE = "IDLE"
    """Created, not yet started."""
    PROCESSING = "PROCESSING"
    """A run is at work, or the next one is about to start."""
    WAITING_INPUT = "WAITING_INPUT"
    """A person must answer."""
    RATE_LIMITED = "RATE_LIMITED"
    """A limit was hit; a row with a due time wakes it."""
    PAUSED = "PAUSED"
    """By a person."""
    COMPLETED = "COMPLETED"
    """Every task of its queue is finished."""
    STOPPED = "STOPPED"
    """By a person, for good: its tasks are cancelled."""
    ERROR = "ERROR"
    """A task failed for good; a person must look."""


ENDED = frozenset({SessionStatus.COMPLETED, SessionStatus.STOPPED, SessionStatus.ERROR})
"""Nothing goes on by itself."""

WORDS = {
    SessionStatus.IDLE: "Idle",
    SessionStatus.PROCESSING: "Running",
    SessionStatus.WAITING_INPUT: "Waiting",
    SessionStatus.RATE_LIMITED: "Limited",
    SessionStatus.PAUSED: "Paused",
    SessionStatus.COMPLETED: "Completed",
    SessionStatus.STOPPED: "Stopped",
    SessionStatus.ERROR: "Error",
}
"""What people call them (seed 000, CLI manual)."""
