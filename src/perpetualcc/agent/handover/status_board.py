"""`status.txt`, `state.json` and the status line: every 30 s, and when something changed."""

import json
import time
from dataclasses import dataclass

from perpetualcc.agent.handover.gauge import Gauge
from perpetualcc.agent.handover.iteration import Iteration
from perpetualcc.domain.events import ContextMeasured
from perpetualcc.domain.ids import RunId
from perpetualcc.sessions.handover.folder import STATE, STATUS, HandoverFolder
from perpetualcc.sessions.handover.status_text import status_text
from perpetualcc.sessions.handover.thresholds import Level

_EVERY = 30.0
"""Seconds (seed 001)."""


@dataclass(slots=True, kw_only=True)
class StatusBoard:
    """Shows one run's way to its handover."""

    iteration: Iteration
    run: RunId
    folder: HandoverFolder
    gauge: Gauge
    _shown: tuple[Level, int] | None = None
    _written_at: float = 0.0
    _told: Level | None = None
    _told_at: float = 0.0

    def claim(self, level: Level, now: float) -> None:
        """Say whose the folder is. Raises: PerpetualError."""
        self.folder.write(STATE, self._state(level, now))

    def show(self, level: Level, now: float) -> ContextMeasured | None:
        """
        Write the files if it is time to; the event is for the log, seldom enough for one.

        Raises:
            PerpetualError: the folder cannot be used any more.
        """
        current = (level, self.gauge.tokens)
        if current == self._shown and now - self._written_at < _EVERY:
            return None
        self._shown, self._written_at = current, now
        gauge = self.gauge
        self.folder.write(STATUS, status_text(gauge.limits, gauge.tokens, gauge.minutes, level))
        self.claim(level, now)
        if level is self._told and now - self._told_at < _EVERY:
            return None
        self._told, self._told_at = level, now
        return self._measured(level)

    def _measured(self, level: Level) -> ContextMeasured:
        limits = self.gauge.limits
        return ContextMeasured(
            session=self.iteration.session.id,
            run=self.run,
            task=self.iteration.task.id,
            iteration=self.iteration.number,
            status=level.value,
            tokens=self.gauge.tokens,
            hard_tokens=limits.hard_tokens,
            minutes=round(self.gauge.minutes, 2),
            hard_minutes=limits.hard_minutes,
        )

    def _state(self, level: Level, now: float) -> str:
        """For people and tools. Nothing of ours reads more of it than the session."""
        perpetual = self.iteration.session.options.perpetual
        state = {
            "iteration": self.iteration.number,
            "session": self.iteration.session.id,
            "task": self.iteration.task.id,
            "project": str(self.iteration.session.project),
            "status": level.value,
            "tokens": self.gauge.tokens,
            "minutes": round(self.gauge.minutes, 2),
            "updated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
            "max_iterations": perpetual.max_iterations if perpetual else None,
        }
        return json.dumps(state, indent=2) + "\n"


def owner_of(state: str | None) -> str:
    """The session of a state.json; the agent could write it, so anything may be in it."""
    try:
        owner = json.loads(state or "{}").get("session", "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return owner if isinstance(owner, str) and owner.isalnum() and len(owner) <= 32 else ""
