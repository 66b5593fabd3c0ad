"""
A budget that is used up: a person is asked once, and what they say is done.

The sessions wait for it to renew all the while; nobody has to answer.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from uuid import uuid4

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import (
    WITHDRAWN,
    Escalation,
    EscalationRequest,
    EscalationType,
)
from perpetualcc.domain.events import ProblemNoticed, Record
from perpetualcc.domain.ids import RequestId, RunId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.times import dated
from perpetualcc.human.answers import amount_in
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.sessions.budget import BUDGET, BudgetScope, Refusal, day_of
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.store.budget_days import SqliteBudgetDays

RAISE, FREE = "Raise it for today", "No limit for today"
WAIT, STOP = "Wait until it renews", "Stop"
_CHANGED = "the budget was changed"
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""What a raised budget begins with, whatever its size: numbers that a person would say."""


class BudgetQuestions:
    """Asks about budgets of the day and the week, and carries out the answers."""

    queue: EscalationQueue
    manager: SessionManager
    """Both are set by the engine: they and the budget need each other."""

    def __init__(self, days: SqliteBudgetDays, record: Record, clock: Clock) -> None:
        self._days = days
        self._record = record
        self._clock = clock
        self._asking = asyncio.Lock()

    async def ask(self, task: Task, session: Session, refusal: Refusal, renews: float) -> None:
        """Ask once a day for each budget, however many sessions wait for it."""
        async with self._asking:
            now = self._clock.now()
            if await self._days.was_asked(refusal.limit, now):
                return
            # One that waits was asked just before a crash.
            if not await self._waits_for_answer(refusal.limit):
                await self.queue.escalate(_question(task, session, refusal, renews, now))
            await self._days.asked(refusal.limit, now)

    async def carry_out(self, settled: Escalation) -> None:
        """Do what a person answered. May be called again after a crash."""
        raw, text = settled.request.raw, str((settled.answer or {}).get("text") or "")
        name = str(raw["budget"])
        await self.queue.store.use(settled.number)
        if settled.settled_by == WITHDRAWN:  # its session ended; others may wait for the budget
            await self._days.unasked(name, self._clock.now())
            await self.wake(name, by_itself=True)
            return
        if text in {WAIT, _CHANGED}:
            return
        if text == STOP:
            async for session in self._waiting(name):
                await self.manager.pause_session(session.id)
            return
        offered = {RAISE: float(raw["raise_to"]), FREE: 0.0}
        amount = offered[text] if text in offered else amount_in(text)
        try:
            await self._days.raise_for_day(name, amount, settled.settled_at or self._clock.now())
        except PerpetualError:
            await self._complain(settled, text)
        else:
            await self.wake(name)

    async def changed(self, name: str) -> None:
        """A person changed the budget itself: nothing is asked any more, and work goes on."""
        await self._days.forget(name, self._clock.now())
        for one in await self._waits_for_answer(name):
            answer = {"answers": {one.request.title: _CHANGED}, "text": _CHANGED}
            await self.queue.store.settle(one.number, answer, by="pcc budget set")
        await self.wake(name)
        async for session in self._waiting(name, SessionStatus.ERROR):
            await self.manager.resume_session(session.id, only=session.status)

    async def wake(self, name: str, *, by_itself: bool = False) -> None:
        """Let those that wait for this budget look again; `by_itself`: no person gave more."""
        async for session in self._waiting(name):
            await self.manager.resume_session(session.id, only=session.status, by_itself=by_itself)

    async def _waits_for_answer(self, name: str) -> list[Escalation]:
        pending = await self.queue.get_pending()
        return [one for one in pending if one.request.raw.get("budget") == name]

    async def _waiting(
        self, name: str, status: SessionStatus = SessionStatus.RATE_LIMITED
    ) -> AsyncIterator[Session]:
        for session in await self.manager.list_sessions(statuses=[status]):
            if session.detail.startswith(f"{BUDGET} {name} "):
                yield session

    async def _complain(self, settled: Escalation, text: str) -> None:
        name = settled.request.raw["budget"]
        problem = ProblemNoticed(
            session=settled.request.session,
            task=settled.request.task,
            text=f"{text!r} is no amount for the budget {name}; it waits until it renews",
            hint=f"pcc budget set {name} …",
        )
        await self._record(problem)


def as_much_again(allowed: float, used: float) -> float:
    """A round number that leaves as much as the budget was, whatever went beyond it."""
    wanted = allowed + used
    size = 10.0 ** math.floor(math.log10(wanted))
    return next(round(one * size, 6) for one in _ROUND if one * size >= wanted * (1 - 1e-9))


def _question(
    task: Task, session: Session, refusal: Refusal, renews: float, now: float
) -> EscalationRequest:
    share = refusal.scope is BudgetScope.WEEK
    raise_to = 0.0 if share else as_much_again(refusal.allowed, refusal.used)
    title = f"{refusal.reason[:1].upper()}{refusal.reason[1:]}. What now?"
    at, own = dated(renews), "or type a number of your own"
    raised = (
        {RAISE: f"Keep nothing of the week back today; {own}"}
        if share
        else {RAISE: f"To {raise_to:,.10g} until midnight; {own}", FREE: "Until midnight"}
    )
    later = {
        WAIT: f"What waits goes on by itself then, {at}",
        STOP: "What waits is paused with all it did; pcc resume goes on",
    }
    options = tuple(
        {"label": label, "description": about} for label, about in (raised | later).items()
    )
    question = {"question": title, "header": "Budget", "multiSelect": False, "options": options}
    # A number of one's own is an answer if the work could go on with it.
    question["amount"] = {"below": 1 - refusal.used} if share else {"above": refusal.used}
    return EscalationRequest(
        session=session.id,
        run=RunId(""),
        task=task.id,
        # Each asking is one of its own: an earlier one of the day may be settled or withdrawn.
        request=RequestId(f"budget:{refusal.limit}:{uuid4()}"),
        type=EscalationType.QUESTION,
        title=title,
        context="Every session that this budget counts waits. "
        f"Change it for good with: pcc budget set {refusal.limit} …",
        options=options,
        raw={"questions": [question], "budget": refusal.limit, "raise_to": raise_to},
        digest=f"budget:{refusal.limit}:{day_of(now)}:{refusal.allowed:g}",
        default={"answers": {title: WAIT}, "text": WAIT},
        deadline=renews,
    )
