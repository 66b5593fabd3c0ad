"""Episodes: what happened, kept to learn from. Recording one never stands in the way."""

from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.ids import SessionId


class Provenance(StrEnum):
    """Where a record came from, most trusted first. Only USER may become a rule."""

    USER = "user"
    """A person typed it."""
    REPOSITORY = "repository"
    """A file of the project says it."""
    TOOL = "tool"
    """A tool printed it."""
    WEB = "web"
    """It came from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One event, what was done about it, and how that went (seed 000, Component 8)."""

    session: SessionId
    timestamp: float
    event_type: str
    context: str
    action: str
    outcome: str
    """`success`, `failure`, or empty while unknown."""
    rationale: str
    provenance: Provenance = Provenance.TOOL
    project: str = ""
    """Path of the project, or empty."""
