"""How full the context of a run is, and how long its iteration has worked."""

from dataclasses import dataclass, field

from perpetualcc.agent.handover.iteration import Iteration
from perpetualcc.agent.inbox import Arrival, ClockTicked, Said, ToolEnded, ToolWanted
from perpetualcc.agent.ports import ClaudeCode
from perpetualcc.domain.clock import Clock
from perpetualcc.sessions.handover.estimate import ContextEstimate, size_of
from perpetualcc.sessions.handover.thresholds import (
    HandoverSettings,
    Level,
    Thresholds,
    level_of,
)


@dataclass(slots=True, kw_only=True)
class Gauge:
    """Reads the model's own figures; where it gives none, the estimate from files."""

    iteration: Iteration
    settings: HandoverSettings
    steady: Clock
    worked_before: float = 0.0
    """Seconds that earlier runs of the same conversation took."""
    opened_with: int = 0
    """Tokens of the context at the first reply that this run reported; 0 before."""
    _reported: int = 0
    _window: int | None = None
    _began_at: float | None = None
    """When Claude Code was first heard of: starting it is no work."""
    _held_since: float | None = None
    _estimate: ContextEstimate = field(default_factory=ContextEstimate)

    @property
    def tokens(self) -> int:
        """Of the context, as the newest reply reported it; estimated where none was reported."""
        return self._reported or self._estimate.tokens(self.minutes)

    @property
    def minutes(self) -> float:
        """How long this iteration has worked, waits for people left out."""
        until = self.steady.now() if self._held_since is None else self._held_since
        worked = 0.0 if self._began_at is None else until - self._began_at
        return max(0.0, self.worked_before + worked) / 60

    @property
    def limits(self) -> Thresholds:
        return self.iteration.limits(self.settings, self._window)

    def level(self) -> tuple[Level, str]:
        return level_of(self.limits, self.tokens, self.minutes)

    def hold(self, is_held: bool) -> None:
        """Time does not count while a person is asked."""
        if is_held and self._held_since is None:
            self._held_since = self.steady.now()
        elif not is_held and self._held_since is not None:
            if self._began_at is not None:
                self._began_at += self.steady.now() - self._held_since
            self._held_since = None

    def told(self, prompt: str) -> None:
        self._estimate.said(prompt)

    async def read(self, arrival: Arrival, claude: ClaudeCode) -> None:
        """
        Take what an arrival says about the context.

        The window is asked for once it matters: a model may have five times the usual one.
        """
        if self._began_at is None and not isinstance(arrival, ClockTicked):
            self._began_at = self.steady.now()
        match arrival:
            case Said(text=text, context_tokens=tokens):
                self._estimate.said(text)
                self._reported = tokens or self._reported
                self.opened_with = self.opened_with or self._reported
                if self._window is None and self.tokens > self.limits.warn_tokens // 2:
                    window = await claude.context_window()
                    self._window = window or self.iteration.session.context_window
            case ToolWanted(again=None):
                self._estimate.wants(arrival.input)
            case ToolEnded():
                self._estimate.got(arrival.size or size_of(arrival.text))
            case _:
                pass
