"""
The persons at the other end: who is looking, and how to ask them.

Patiently, as everything is written of a run that goes on.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from perpetualcc.agent.patience import patiently
from perpetualcc.daemon.offers import RuleOffers
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.human.escalation import EscalationQueue


class HumanBridge:
    """`agent.ports.People`: who is looking, and how to ask them."""

    queue: EscalationQueue
    """Set by the engine: the queue and the agent need each other."""

    def __init__(self, offers: RuleOffers) -> None:
        self._offers = offers
        self._looking: Counter[SessionId] = Counter()

    @contextmanager
    def looking(self, session: SessionId) -> Iterator[None]:
        """A person is attached to the session as long as this lasts."""
        self._looking[session] += 1
        try:
            yield
        finally:
            self._looking[session] -= 1

    def attached(self, session: SessionId) -> bool:
        return self._looking[session] > 0

    async def escalate(self, request: EscalationRequest) -> int:
        request = await self._offers.with_offer(request)
        asked = await patiently(lambda: self.queue.escalate(request))
        return asked.number

    async def expire(self, number: int) -> None:
        asked = await self.queue.get(number)
        await patiently(lambda: self.queue.expire(asked))

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        return await self.queue.store.stored(task, digest)

    async def unused(self, task: TaskId) -> Sequence[Escalation]:
        return await self.queue.store.unused(task)

    async def use(self, number: int) -> bool:
        return await patiently(lambda: self.queue.store.use(number))
