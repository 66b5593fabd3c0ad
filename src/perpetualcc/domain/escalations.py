"""Decisions that wait for a person. They survive everything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId


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


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """The question or call as Claude Code sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A request to a person, as the store keeps it."""

    number: int
    """What `pcc respond` takes."""
    request: EscalationRequest
    raised_at: float
    settled_at: float | None = None
    answer: Mapping[str, Any] | None = None
    settled_by: str = ""
