"""What a run costs: asked of Claude Code while it works, so that nothing hangs on how it ends."""

import asyncio
from dataclasses import dataclass, field

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.inbox import (
    Arrival,
    Asked,
    ClockTicked,
    Said,
    ToolEnded,
    ToolWanted,
    TurnEnded,
)
from perpetualcc.agent.ports import ClaudeCode, Meter
from perpetualcc.domain.ids import SessionId, TaskId

_TRIES = 4
_BETWEEN = 0.05
"""A call is wanted when it has been said whole, a moment before its reply ends and has a price."""
_PAUSE = 10.0
"""Seconds until one that did not answer is asked again in passing."""


@dataclass(slots=True, kw_only=True)
class CostCount:
    """
    Tokens are counted as they come. Where money is limited it is counted before each call is
    answered and when it has ended, so that nothing follows the reply that used it up. Otherwise
    once a second, for the book.
    """

    claude: ClaudeCode
    meter: Meter
    session: SessionId
    task: TaskId
    facts: RunFacts
    _counted: set[str] = field(default_factory=set)
    """Replies whose input is counted: each comes in several parts."""
    _last: str = ""
    """The newest reply; the one that a budget was used up in, once it is."""
    _reply: str = ""
    _is_open: bool = False
    """The price of a reply is not in the count yet."""
    _booked: float = 0.0
    """What the meter was told of."""
    _rests_until: float = 0.0

    async def seen(self, arrival: Arrival) -> None:
        match arrival:
            case Said(message=message) if message != self._reply:
                self._reply, self._is_open = message, True
            case ToolWanted() | Asked() if self._is_limited:
                await self._look(_TRIES)
            case ToolEnded() if self._is_limited:  # by now a late price is there, too
                await self._look()
            case ClockTicked() if asyncio.get_running_loop().time() >= self._rests_until:
                await self._look()
            case TurnEnded(cost_usd=usd):
                self.facts.usd = usd or self.facts.usd
                # Where the process works on beside the conversation, the rest is booked soon.
                self._is_open = self.facts.usd > self._booked

    def is_new(self, said: Said) -> bool:
        """Whether a reply begins with it."""
        return said.message not in self._counted

    async def count(self, said: Said) -> bool:
        """Count its tokens. True: it is of a reply after the one that used a budget up."""
        fresh = said.tokens_fresh if self.is_new(said) else 0
        self._counted.add(said.message)
        self.facts.tokens_in += fresh
        self.facts.tokens_out += said.tokens_out
        tokens = fresh + said.tokens_out
        self.facts.beside += tokens if said.is_beside else 0
        over = await self.meter.spent(self.task, self.session, tokens)
        if self.facts.over is not None:
            return said.message != self._last
        self._last, self.facts.over = said.message, over
        return False

    @property
    def _is_limited(self) -> bool:
        return self.meter.allowance(self.task).usd is not None

    async def settle(self) -> None:
        """The process is about to end, and may not have told what it cost."""
        if self.facts.turn is None:
            await self._look()

    async def _look(self, tries: int = 1) -> None:
        for last in range(tries if self._is_open else 0):
            await asyncio.sleep(_BETWEEN if last else 0)
            told = await self.claude.cost_usd()
            if told is None:
                self._rests_until = asyncio.get_running_loop().time() + _PAUSE
                return
            new = told - self._booked
            if new > 0:
                self.facts.usd, self._booked = max(self.facts.usd, told), told
                self._is_open = False
                over = await self.meter.spent(self.task, self.session, 0, new)
                self.facts.over = self.facts.over or over
                return
