"""The queue of what waits for a person. Whoever answers first decides; the others are told."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.ids import SessionId


class NothingWaitingError(PerpetualError):
    """The request was answered already, or never existed."""

    def __init__(self, number: int, waiting: Sequence[int]) -> None:
        numbers = ", ".join(map(str, waiting)) or "nothing"
        super().__init__(f"No request {number} is waiting for you", hint=f"Waiting now: {numbers}")


class EscalationStore(Protocol):
    """Where escalations are kept. Each method is one durable transaction."""

    async def add(self, request: EscalationRequest) -> Escalation:
        """Write it down, with its event. The same request of the same run again is the same."""
        ...

    async def pending(self, session: SessionId | None = None) -> list[Escalation]:
        """What nobody has answered, oldest first."""
        ...

    async def settle(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation | None:
        """Write the answer, and wake the task that waits for it. None: somebody was first."""
        ...


class Runs(Protocol):
    """The runs at work."""

    def answered(self, escalation: Escalation) -> None:
        """Hand the answer to the run that is held for it, if there is one."""
        ...


class EscalationQueue:
    """Seed 000, Component 9."""

    def __init__(self, store: EscalationStore, runs: Runs) -> None:
        self._store = store
        self._runs = runs

    async def escalate(self, request: EscalationRequest) -> Escalation:
        return await self._store.add(request)

    async def get_pending(self, session: SessionId | None = None) -> list[Escalation]:
        return await self._store.pending(session)

    async def respond(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation:
        """
        Answer a request: `text`, `answers` (question → label), or `approve` (true or false).

        Raises:
            NothingWaitingError: somebody answered first, or there is no such request.
        """
        settled = await self._store.settle(number, answer, by=by)
        if settled is None:
            waiting = await self._store.pending()
            raise NothingWaitingError(number, [other.number for other in waiting])
        self._runs.answered(settled)
        return settled
