"""The persons at the other end: who is looking, and how to ask them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from perpetualcc.domain.escalations import EscalationRequest
from perpetualcc.domain.ids import SessionId
from perpetualcc.human.escalation import EscalationQueue


class HumanBridge:
    """`agent.ports.People`: who is looking, and how to ask them."""

    queue: EscalationQueue
    """Set by the engine: the queue and the agent need each other."""

    def __init__(self) -> None:
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
        return (await self.queue.escalate(request)).number
