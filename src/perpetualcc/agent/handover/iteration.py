"""One stretch of a session's work, and what its first prompt says."""

from dataclasses import dataclass

from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.sessions.handover.folder import HandoverFolder
from perpetualcc.sessions.handover.prompts import continuing, protocol
from perpetualcc.sessions.handover.records import Handover
from perpetualcc.sessions.handover.thresholds import (
    HandoverSettings,
    Thresholds,
    thresholds_for,
)

_USUAL_WINDOW = 200_000
"""Tokens: what is reckoned with until Claude Code has said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One stretch of a session's work, from a fresh conversation to its handover."""

    session: Session
    task: Task
    number: int
    """Counted from 1 over the whole session."""
    carried: Handover | None = None
    """What the iteration before it left, when that worked on the same task."""

    @property
    def needs_fresh_conversation(self) -> bool:
        """The session's conversation is the one that was handed over."""
        return self.carried is not None and (
            self.carried.claude_session == self.session.claude_session
        )

    def limits(self, settings: HandoverSettings, window: int | None = None) -> Thresholds:
        window = window or self.session.context_window or _USUAL_WINDOW
        return thresholds_for(self.session.options.perpetual, settings, window)

    def opening(self, prompt: str, settings: HandoverSettings) -> str:
        """The first prompt of a fresh conversation: the person's words come first, unchanged."""
        parts = [prompt]
        if self.carried is not None:
            parts.append(continuing(self.carried))
        if self.session.options.perpetual is not None:
            folder = HandoverFolder(self.session.project)
            parts.append(protocol(folder, self.number, self.limits(settings)))
        return "\n\n".join(parts)
