"""Between the dispatcher, the agent and the budget: who may start, and when a run must stop."""

import logging
from dataclasses import dataclass, field, replace

from perpetualcc.daemon.budget_questions import BudgetQuestions
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.events import BudgetApproached, BudgetUsedUp, Record
from perpetualcc.domain.hours import end_of_quiet
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import STOPS, Lane, Outcome, Parked, Task, Wait
from perpetualcc.sessions.budget import (
    BudgetLimits,
    BudgetRequest,
    BudgetScope,
    BudgetStore,
    Grant,
    Refusal,
    Spent,
    day_of,
    next_day,
)
from perpetualcc.sessions.limit_waits import (
    is_cut_short_by_a_person,
    is_of_limit,
    is_of_review,
    signal_of,
)
from perpetualcc.sessions.rate_limit import believable_reset
from perpetualcc.sessions.settings import LimitSettings

log = logging.getLogger(__name__)

_UNTIL_OTHERS_END = 60.0
"""Seconds until the next look, when others hold what is left and none of them ends before."""
_LOOK = 2.0
"""Seconds between two looks at what is left of the day, while no run reaches what it reserved."""
_UNKNOWN_WEEK = 3600.0
_WORTH_WRITING = 0.01 - 1e-9
"""Share of a window: a percent, whatever fractions make of it."""
_SAME_RESET = 60.0
"""Seconds by which the told end of one window may wander."""


@dataclass(slots=True, kw_only=True)
class BudgetKeeper:
    """
    `agent.ports.Meter`, and the gate that runs pass before they start. Who was admitted gives back
    what is reserved, however the run ends and whether it ever began.
    """

    store: BudgetStore
    settings: LimitSettings
    record: Record
    clock: Clock
    questions: BudgetQuestions
    _grants: dict[TaskId, Grant] = field(default_factory=dict)
    _used: dict[TaskId, int] = field(default_factory=dict)
    """Tokens since the task's grant was given."""
    _looked_at: float = 0.0
    _warned: set[tuple[str, str]] = field(default_factory=set)
    _held: set[str] = field(default_factory=set)
    """Budgets of which runs at work hold what others wait for."""
    _windows: dict[str, WindowUse] = field(default_factory=dict)
    """The subscription's, as they went on file last."""

    async def admit(self, task: Task, session: Session) -> Outcome | None:
        """Reserve for a run. None: it may start. Otherwise what the dispatch comes to."""
        request = BudgetRequest(
            session=session.id,
            task=task.id,
            is_unattended=task.lane is not Lane.INTERACTIVE,
            resume_tokens=self._resume_cap(task),
        )
        self._grants[task.id] = Grant()  # whoever is cancelled meanwhile does not know either
        granted = await self.store.reserve(request, self.clock.now())
        if isinstance(granted, Grant):
            self._grants[task.id] = granted
            return None
        del self._grants[task.id]
        return await self._refused(task, session, granted)

    def _resume_cap(self, task: Task) -> int:
        """Only what resumes by itself is capped."""
        is_resumed = is_of_limit(task.signal) and not is_of_review(task.signal)
        by_itself = is_resumed and not is_cut_short_by_a_person(task)
        return self.settings.resume_tokens if by_itself else 0

    async def _refused(self, task: Task, session: Session, refusal: Refusal) -> Outcome:
        now = self.clock.now()
        if refusal.scope is BudgetScope.RESERVED:
            self._held.add(refusal.limit)
            return _waits(task, now + _UNTIL_OTHERS_END, refusal)
        await self.record(
            BudgetUsedUp(
                session=session.id,
                task=task.id,
                name=refusal.limit,
                used=refusal.used,
                allowed=refusal.allowed,
            )
        )
        if refusal.scope in {BudgetScope.TASK, BudgetScope.RUN}:
            return parked(refusal, session.id)
        due = next_day(now)
        if refusal.scope is BudgetScope.WEEK:
            due = await self.store.week_resets_at() or now + _UNKNOWN_WEEK
        due = end_of_quiet(due, self.settings.quiet) or due
        await self.questions.ask(task, session, refusal, due)
        return _waits(task, due, refusal)

    def allowance(self, task: TaskId) -> Grant:
        return self._grants.get(task, Grant())

    async def spent(
        self, task: TaskId, session: SessionId, tokens: int, usd: float = 0.0
    ) -> Refusal | None:
        """Only what might be more than was reserved, and a look at the day, are waited for."""
        used = self._used[task] = self._used.get(task, 0) + tokens
        reserved, now = self.allowance(task), self.clock.now()
        has_room = reserved.tokens is None or used < reserved.tokens
        if usd and reserved.usd is not None:
            has_room = False
        if has_room and abs(now - self._looked_at) < _LOOK:
            self.store.spend_soon(task, tokens, usd, now)
            return None
        more = await self.store.spend(task, tokens, usd, now)
        if isinstance(more, Refusal):
            return more
        if more.tokens is not None:
            self._grants[task], self._used[task] = more, 0
        self._looked_at = now
        await self._warn(task, session)
        return None

    async def ended(self, task: TaskId, session: SessionId, tokens: int, usd: float) -> None:
        await self.store.close(task, tokens, usd, self.clock.now())
        self._grants.pop(task, None)
        self._used.pop(task, None)
        await self._warn(task, session)
        while self._held:
            await self._wake(self._held.pop())

    async def give_back(self, task: TaskId, session: SessionId) -> None:
        """What a run that never began, or whose end could not be booked, still holds."""
        if task not in self._grants:
            return
        try:
            await self.ended(task, session, 0, 0.0)
        except PassingError:  # its next run gives it back
            log.exception("what task %s reserved cannot be given back yet", task)

    async def _wake(self, name: str) -> None:
        """Others than the one that ended: their trouble is none of its own."""
        try:
            await self.questions.wake(name, by_itself=True)
        except PerpetualError:  # they look again by themselves after a minute
            log.exception("not all who wait for the budget %s could be woken", name)

    def brain_used(self, session: Session, tokens: int, usd: float) -> None:
        """Of the day and of the task; the run looks at what is left as it goes on."""
        task = session.current_task or TaskId("")
        if task in self._grants:
            self._used[task] = self._used.get(task, 0) + tokens
        self.store.spend_beside(session.id, task, tokens, usd, self.clock.now())

    def saw_window(self, use: WindowUse) -> None:
        """On file once it is another by a percent, or resets at another time."""
        use = replace(use, resets_at=believable_reset(use, self.clock.now()))
        if self._is_news(use):
            self._windows[use.window] = use
            self.store.saw_window(use)

    def _is_news(self, use: WindowUse) -> bool:
        known = self._windows.get(use.window)
        if known is None or (known.resets_at is None) is not (use.resets_at is None):
            return True
        moved = abs((known.resets_at or 0.0) - (use.resets_at or 0.0))
        return moved >= _SAME_RESET or abs(known.used - use.used) >= _WORTH_WRITING

    async def _warn(self, task: TaskId, session: SessionId) -> None:
        """Once a day for each budget of the day, from `limits.warn_at` on."""
        now = self.clock.now()
        found = day_shares(await self.store.limits(now), await self.store.spent(now))
        for name, (used, allowed) in found.items():
            key = (day_of(now), name)
            if used >= allowed * self.settings.warn_at and key not in self._warned:
                self._warned.add(key)
                await self.record(
                    BudgetApproached(
                        session=session, task=task, name=name, used=used, allowed=allowed
                    )
                )


def _waits(task: Task, due: float, refusal: Refusal) -> Wait:
    return Wait(signal=signal_of(task.id, task.fence), due=due, reason=refusal.reason)


def day_shares(limits: BudgetLimits, spent: Spent) -> dict[str, tuple[float, float]]:
    """Used and allowed of each budget of the day that is set."""
    used = {
        "tokens_per_day": spent.day_tokens,
        "unattended_tokens_per_day": spent.unattended_tokens,
        "usd_per_day": spent.day_usd,
    }
    return {
        name: (amount, allowed)
        for name, amount in used.items()
        if (allowed := float(getattr(limits, name)))
    }


def parked(refusal: Refusal, session: SessionId) -> Parked:
    return Parked(result=refusal.reason, packet={**STOPS, **refusal.packet(session)})
