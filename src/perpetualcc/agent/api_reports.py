"""What Claude Code reports of the API during a run: limits, refusals, requests sent again."""

from dataclasses import dataclass

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.faculties import Faculties
from perpetualcc.agent.inbox import ApiTriedAgain, LimitReported, TroubleReported
from perpetualcc.agent.ports import ClaudeCode
from perpetualcc.agent.run_events import RunEvents

_WORTH_A_WORD = 3
"""Attempts of a request: the third failed was seen after two and a half seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiReports:
    """Keeps what the run's outcome depends on in its facts, and writes the rest down."""

    facts: RunFacts
    claude: ClaudeCode
    faculties: Faculties
    events: RunEvents

    async def limit(self, limit: LimitReported) -> None:
        """A limit that stops the run is written down when it has ended, with the wait for it."""
        limits = self.faculties.limits
        for use in limit.windows:
            self.faculties.meter.saw_window(use)
        if limits.detect(limit, None) is not None:
            self.facts.limit = limit
            if limit.is_overage:
                await self.claude.interrupt()
        elif limits.approaches(limit):
            await self.faculties.journal.record(self.events.approached(limit))

    async def trouble(self, trouble: TroubleReported) -> None:
        self.facts.trouble = trouble
        if trouble.kind != "rate_limit":
            await self.faculties.journal.record(self.events.troubled(trouble))

    async def tried_again(self, again: ApiTriedAgain) -> None:
        """A request that comes through at once is nobody's business."""
        self.facts.next_try = self.faculties.steady.now() + again.pause
        if again.attempt >= _WORTH_A_WORD:
            await self.faculties.journal.record(self.events.unanswered(again))
