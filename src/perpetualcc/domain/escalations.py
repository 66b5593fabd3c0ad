"""Decisions that wait for a person. They survive everything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId

ALWAYS = "Always"
"""The label of the option that approves and makes a rule of it."""
WITHDRAWN = "withdrawn"
"""Who settled a request that nobody needs to answer any more."""


class EscalationType(StrEnum):
    """Seed 000, Component 9."""

    PERMISSION = "permission"
    """May Claude do this?"""
    QUESTION = "question"
    """What does Claude want to know?"""
    ERROR = "error"
    """Something a person must mend."""
    REVIEW = "review"
    """Somebody should look at a result."""


class Severity(StrEnum):
    """How much stands still until somebody answers."""

    LOW = "low"
    """Nothing: somebody should look when there is time."""
    NORMAL = "normal"
    """One question; the work waits for it."""
    HIGH = "high"
    """Something that could do harm waits for a word."""
    CRITICAL = "critical"
    """A session has stopped working."""

    @property
    def rank(self) -> int:
        """0 for LOW to 3 for CRITICAL; the highest is listed first."""
        return list(Severity).index(self)


SEVERITIES: Mapping[EscalationType, Severity] = {
    EscalationType.REVIEW: Severity.LOW,
    EscalationType.QUESTION: Severity.NORMAL,
    EscalationType.PERMISSION: Severity.HIGH,
    EscalationType.ERROR: Severity.CRITICAL,
}
"""What a request of each type is, unless it says otherwise."""


def signal_name(number: int) -> str:
    """What a task waits for when it waits for an escalation."""
    return f"escalation:{number}"


# These two are not changed once made. They are not frozen all the same: thousands may be listed
# at once, and freezing them would be a fifth of what that costs.


@dataclass(slots=True, kw_only=True)
class EscalationRequest:
    """What a person is asked."""

    session: SessionId
    run: RunId
    task: TaskId
    request: RequestId
    type: EscalationType
    title: str
    """One line: the question, or what is to be approved."""
    context: str = ""
    """Why a person is asked, and what they need to know."""
    options: tuple[Mapping[str, str], ...] = ()
    """label and description of each choice."""
    suggestion: str = ""
    """What the brain would say."""
    confidence: float = 0.0
    raw: Mapping[str, Any] = field(default_factory=dict)
    """
    `questions` (as `question_data` makes them), or `tool`, `input` and `risk` of a call; with
    `limit` the wait until `resumes_at` that is on file from when it is asked.
    """
    digest: str = ""
    """What is asked, as a hash: the same within a task is the same request. Empty: never."""
    severity: Severity | None = None
    """None: what `SEVERITIES` says of its type."""
    packet: Mapping[str, Any] = field(default_factory=dict)
    """Seed 002: `attempts`, `state`, `analysis`, `options`, when something went wrong."""
    default: Mapping[str, Any] | None = None
    """The answer it is settled with at the deadline; None: it waits until somebody answers."""
    deadline: float | None = None
    """UTC epoch seconds."""

    @property
    def weight(self) -> Severity:
        return self.severity or SEVERITIES[self.type]


@dataclass(slots=True, kw_only=True)
class Escalation:
    """A request to a person, as the store keeps it."""

    number: int
    """What `pcc respond` takes."""
    request: EscalationRequest
    raised_at: float
    settled_at: float | None = None
    answer: Mapping[str, Any] | None = None
    settled_by: str = ""
    reminders: int = 0
    """How often people were reminded."""
    remind_at: float | None = None
    """When they are next."""
