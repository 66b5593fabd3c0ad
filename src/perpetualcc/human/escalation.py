"""The queue of what waits for a person. Whoever answers first decides; the others are told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import (
    WITHDRAWN,
    Escalation,
    EscalationRequest,
    EscalationType,
)
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.times import clock
from perpetualcc.human.answers import checked
from perpetualcc.human.reminders import next_reminder
from perpetualcc.human.settings import HumanSettings

TIMEOUT = "timeout"
"""Who settled a request that nobody answered before its deadline."""


_REFUSAL = {"approve": False, "expired": True, "text": "nobody answered in time"}


class NothingWaitingError(PerpetualError):
    """The request was answered already, or never existed."""

    def __init__(self, number: int, waiting: Sequence[int]) -> None:
        numbers = ", ".join(map(str, waiting)) or "nothing"
        super().__init__(f"No request {number} is waiting for you", hint=f"Waiting now: {numbers}")


class AnsweredAlreadyError(PerpetualError):
    """Somebody was first; their answer counts."""

    def __init__(self, settled: Escalation) -> None:
        at = clock(settled.settled_at or 0.0)
        how = f"settled at {at} by {settled.settled_by!r}"
        if settled.settled_by == WITHDRAWN:
            how = f"withdrawn at {at}"
        super().__init__(
            f"Request {settled.number} was {how}: {said(settled.answer or {})};"
            " your answer was not used",
            hint="See what still waits with: pcc pending",
        )


class EscalationStore(Protocol):
    """Where escalations are kept. Each method is one durable transaction."""

    async def add(self, request: EscalationRequest, remind_at: float | None = None) -> Escalation:
        """
        Write it down, with its event. The same request of the same run again is the same, and so
        is one of the same task, type and digest that still waits.
        """
        ...

    async def get(self, number: int) -> Escalation | None: ...

    async def pending(
        self, session: SessionId | None = None, limit: int | None = None
    ) -> list[Escalation]:
        """What nobody has answered: the most severe first, then the oldest."""
        ...

    async def settle(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation | None:
        """
        Write the answer, and wake the task that waits for it. None: somebody was first.

        What was only looked at (a review that is not approved) is used with that: there is nothing
        to hand on.
        """
        ...

    async def unused(self, task: TaskId) -> list[Escalation]:
        """What was answered and has not reached Claude yet, in the order of the answers."""
        ...

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        """The unused answer to this very request of the task."""
        ...

    async def use(self, number: int) -> bool:
        """The answer has reached whom it was for. False: it had before."""
        ...

    async def withdraw(
        self, reason: str, *, session: SessionId, task: TaskId | None, types: Iterable[str]
    ) -> list[int]:
        """Settle what nobody needs to answer any more. Nobody is woken."""
        ...


class Runs(Protocol):
    """The runs at work."""

    def answered(self, escalation: Escalation) -> None:
        """Hand the answer to the run that is held for it, if there is one."""
        ...


class EscalationQueue:
    """Seed 000, Component 9."""

    def __init__(
        self, store: EscalationStore, runs: Runs, settings: HumanSettings, clock: Clock
    ) -> None:
        self.store = store
        self._runs = runs
        self._settings = settings
        self._clock = clock

    async def escalate(self, request: EscalationRequest) -> Escalation:
        """Ask people. A permission without a word is refused in the end, a question waits on."""
        now = self._clock.now()
        if request.type is EscalationType.PERMISSION and self._settings.waits_unattended:
            deadline = now + self._settings.permission_patience.total_seconds()
            request = replace(request, default=_REFUSAL, deadline=deadline)
        first = next_reminder(self._settings.ladder, now, 0, now)
        # What only should be looked at some time reminds nobody.
        is_review = request.type is EscalationType.REVIEW
        return await self.store.add(request, None if is_review else first)

    def refused_at(self, escalation: Escalation) -> float | None:
        """UTC epoch seconds from which on no answer is a refusal: a held call's hold ends, too."""
        request = escalation.request
        if request.deadline is None and request.type is EscalationType.PERMISSION:
            return escalation.raised_at + self._settings.hold.total_seconds()
        return request.deadline

    async def get_pending(
        self, session: SessionId | None = None, limit: int | None = None
    ) -> list[Escalation]:
        return await self.store.pending(session, limit)

    async def get(self, number: int) -> Escalation:
        """Raises: NothingWaitingError for a number that was never given."""
        found = await self.store.get(number)
        if found is None:
            raise await self._nothing(number)
        return found

    async def respond(self, number: int, answer: Mapping[str, Any], *, by: str) -> Escalation:
        """
        Answer a request: `text`, `answers` (question → answer), `approve` (true or false).

        Raises:
            AnswerError: the answer does not fit.
            AnsweredAlreadyError: somebody was first.
            NothingWaitingError: there is no such request.
        """
        asked = await self.get(number)
        if asked.settled_at is not None:
            raise AnsweredAlreadyError(asked)
        fitting = checked(asked.request, answer, number=number)
        settled = await self.store.settle(number, fitting, by=by)
        if settled is None:
            raise AnsweredAlreadyError(await self.get(number))
        self._runs.answered(settled)
        return settled

    async def expire(self, escalation: Escalation) -> Escalation | None:
        """Settle it with its stated default, or with a refusal. None: somebody was first."""
        default = escalation.request.default or _REFUSAL
        settled = await self.store.settle(escalation.number, default, by=TIMEOUT)
        if settled is not None:
            self._runs.answered(settled)
        return settled

    async def _nothing(self, number: int) -> NothingWaitingError:
        waiting = await self.store.pending(None, 20)
        return NothingWaitingError(number, [other.number for other in waiting])


def said(answer: Mapping[str, Any]) -> str:
    """An answer in a few words."""
    word = {True: "approved", False: "denied"}.get(answer.get("approve", None), "")
    text = str(answer.get("text") or "")
    return ": ".join(part for part in (word, text) if part) or "seen"
