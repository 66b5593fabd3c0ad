"""What people call a session's status, and its symbol."""

from pathlib import Path
from typing import Any

from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.session_status import ENDED, WORDS, SessionStatus

_MARKS = {
    SessionStatus.IDLE: ("○", "dim"),
    SessionStatus.PROCESSING: ("●", "green"),
    SessionStatus.WAITING_INPUT: ("?", "yellow"),
    SessionStatus.RATE_LIMITED: ("⏳", "yellow"),
    SessionStatus.PAUSED: ("⏸", "yellow"),
    SessionStatus.COMPLETED: ("✓", "green"),
    SessionStatus.STOPPED: ("■", "dim"),
    SessionStatus.ERROR: ("✗", "red"),
}
SHOWN = {status: (sign, WORDS[status], colour) for status, (sign, colour) in _MARKS.items()}
"""Symbol, word, colour (seed 000, CLI manual)."""

_SCHEDULED = ("○", "Scheduled", "cyan")

_NAMES = {
    "scheduled": SessionStatus.IDLE,
    "running": SessionStatus.PROCESSING,
    "waiting": SessionStatus.WAITING_INPUT,
    "limited": SessionStatus.RATE_LIMITED,
    **{status.value.lower(): status for status in SessionStatus},
}


STATUSES = tuple(_NAMES)


def is_scheduled(session: dict[str, Any]) -> bool:
    """Whether all it has to do is for later: at a time, or once a condition holds."""
    delay = session.get("delay", "")
    at_a_time = session["resumes_at"] is not None and session["detail"] in {"", delay}
    return session["status"] == SessionStatus.IDLE and (at_a_time or delay.startswith("begins "))


def standing(session: dict[str, Any]) -> tuple[str, str, str]:
    """Symbol, word, colour of what a session is at."""
    return _SCHEDULED if is_scheduled(session) else SHOWN[SessionStatus(session["status"])]


def refused_in(session: dict[str, Any]) -> str:
    """`3 refused` of what has completed: the word alone would hide it; else empty."""
    number = session.get("refused", 0)  # a daemon from before an upgrade does not say
    is_over = session["status"] == SessionStatus.COMPLETED
    return f"{number:,} refused" if number and is_over else ""


def is_to_be_taken(session: dict[str, Any]) -> bool:
    """It works in a worktree that is there, has ended, and nobody has taken it since."""
    is_over = SessionStatus(session["status"]) in ENDED and not session.get("is_taken")
    return is_over and WORKTREES in session["project"] and Path(session["project"]).is_dir()


def goes_on(session: dict[str, Any]) -> str:
    """What it does at the time it waits for."""
    return "Begins" if is_scheduled(session) else "Resumes"


def parse_status(word: str) -> SessionStatus:
    """Raises Mistyped, naming the words that exist."""
    status = _NAMES.get(word.lower().replace("-", "_"))
    if status is None:
        raise Mistyped(
            f"No session status is called {word!r}", hint=f"Statuses: {', '.join(_NAMES)}"
        )
    return status
