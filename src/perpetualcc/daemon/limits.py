"""Between the dispatcher and the agent: who may start, and how long a limited task waits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from perpetualcc.agent.ports import People
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.escalations import (
    Escalation,
    EscalationRequest,
    EscalationType,
    signal_name,
)
from perpetualcc.domain.events import LimitReached, Record, ResumePlanned
from perpetualcc.domain.hours import end_of_quiet
from perpetualcc.domain.ids import RequestId, RunId, TaskId
from perpetualcc.domain.limits import LIMIT_NAMES, LimitWindow, RateLimitInfo
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import STOPS, Done, Later, Outcome, Parked, Task, Wait
from perpetualcc.domain.times import dated
from perpetualcc.sessions.limit_waits import (
    WAITS_WITH_OTHERS,
    LimitWait,
    LimitWaits,
    WakeUps,
    is_cut_short_by_a_person,
    is_of_limit,
    signal_of,
)
from perpetualcc.sessions.resume_policy import ResumePlan, plan_resume
from perpetualcc.sessions.settings import LimitSettings

_LEAVE = "Leave it"


@dataclass(slots=True, kw_only=True)
class LimitKeeper:
    """Turns a limit into a wait, and keeps tasks from running into one that is known."""

    waits: LimitWaits
    settings: LimitSettings
    auto_resume: bool
    record: Record
    people: People
    clock: Clock
    wake_ups: WakeUps
    asked: Callable[[int], Awaitable[Escalation | None]]
    """A request to a person, by its number."""
    model: str = ""
    """Of sessions that were given none (`claude.model`), as it is now and not as they began."""
    _began: dict[TaskId, float] = field(default_factory=dict)
    """When the run of each task at work began to ask the account for replies."""

    async def admit(self, task: Task, session: Session) -> Outcome | None:
        """None: start now. Otherwise what the dispatch comes to without a process."""
        if is_cut_short_by_a_person(task):
            return None
        own = await self.waits.open_of(task.id)
        if await self._declined(task):
            return Parked(
                result="A person decided not to go on after the limit",
                packet={
                    **STOPS,
                    "declined": True,
                    "state": "limited",
                    "hint": f"Go on with: pcc resume {task.group}",
                },
            )
        if held := await self._held(task, session, own):
            return held
        if own or is_of_limit(task.signal):
            await self.wake_ups.take_turn()
            return await self._held(task, session, own)  # who went first may have met it again
        return None

    def begins(self, task: TaskId) -> None:
        """Claude is about to be asked: what is done without says nothing of the account."""
        self._began[task] = self.clock.now()

    async def _declined(self, task: Task) -> bool:
        """A person said no to going on: to that, and not to one of Claude's calls."""
        answer = task.answer or {}
        if answer.get("text") != _LEAVE and answer.get("approve") is not False:
            return False
        number = (task.signal or "").rpartition(":")[2]
        asked = await self.asked(int(number)) if number.isdigit() else None
        return asked is not None and is_of_limit(asked.request.request)

    async def _held(self, task: Task, session: Session, own: Sequence[LimitWait]) -> Outcome | None:
        now = self.clock.now()
        if own and not own[-1].fallback and own[-1].due > now:
            why = LIMIT_NAMES[own[-1].limit.window]
            return Wait(signal=signal_of(task.id, task.fence), due=own[-1].due, reason=why)
        for other in await self.waits.ahead(now):
            until = other.limit.resets_at or 0.0
            if other.limit.window.is_of_the_account and until > now and other.task != task.id:
                due = max(until, other.due)
                plan = replace(await self._plan(task, session, other.limit), due=due)
                return await self._wait(task, session, other.limit, WAITS_WITH_OTHERS, plan)
        return None

    async def _plan(self, task: Task, session: Session, limit: RateLimitInfo) -> ResumePlan:
        return plan_resume(
            limit,
            self.settings,
            now=self.clock.now(),
            in_a_row=len(await self.waits.open_of(task.id)) + 1,
            model=await self.model_for(session),
            asks=not self.auto_resume,
        )

    async def settle(self, task: Task, session: Session, outcome: Outcome) -> Outcome:
        """What a run came to; when a limit stopped it: the wait, written down and announced."""
        began = self._began.pop(task.id, None)
        if not isinstance(outcome, Later) or outcome.limit is None:
            await self._through(task, outcome, began)
            return outcome
        now, limit = self.clock.now(), outcome.limit
        if outcome.got_somewhere:
            await self.waits.over(task.id, now)
        plan = await self._plan(task, session, limit)
        await self._announce(task, session, limit, plan)
        if not plan.asks:
            await self.waits.add(
                LimitWait(
                    session=session.id,
                    task=task.id,
                    at=now,
                    limit=limit,
                    due=plan.due,
                    fallback=plan.model,
                )
            )
        reason = ", ".join(filter(None, (outcome.reason, plan.reason)))
        return await self._wait(task, session, limit, reason, plan)

    async def _announce(
        self, task: Task, session: Session, limit: RateLimitInfo, plan: ResumePlan
    ) -> None:
        """What will happen is said before it happens, so that a person can prevent it."""
        reached = LimitReached(
            session=session.id,
            task=task.id,
            window=limit.window,
            resets_at=limit.resets_at,
            text=limit.text,
        )
        planned = ResumePlanned(
            session=session.id,
            task=task.id,
            resumes_at=plan.due,
            reason=plan.reason,
            model=plan.model,
        )
        await self.record(reached, *([] if plan.asks else [planned]))

    async def _wait(
        self, task: Task, session: Session, limit: RateLimitInfo, reason: str, plan: ResumePlan
    ) -> Outcome:
        if plan.model:
            return Later(due=plan.due, counts=False, reason=reason)
        if plan.asks:  # once: whoever agrees before the reset still waits for it
            number = await self.people.escalate(_question(task, session, limit, plan, reason))
            see = f"a person must agree to go on (pcc pending {number}): {reason}"
            return Wait(signal=signal_name(number), reason=see)
        return Wait(signal=signal_of(task.id, task.fence), due=plan.due, reason=reason)

    async def _through(self, task: Task, outcome: Outcome, began: float | None) -> None:
        """A run that began before a limit was met says nothing of it: its replies are older."""
        now = self.clock.now()
        await self.waits.over(task.id, now)
        if isinstance(outcome, Done) and began is not None:
            due = end_of_quiet(now, self.settings.quiet) or now
            for window in LimitWindow:
                if window.is_of_the_account:
                    await self.waits.window_open(window, now, since=began, due=due)

    async def model_for(self, session: Session) -> str:
        """The model of the session's next run: its own, or the fallback while that one's is out."""
        if session.current_task is not None:
            now = self.clock.now()
            for wait in await self.waits.open_of(session.current_task):
                if wait.fallback and (wait.limit.resets_at or now + 1) > now:
                    return wait.fallback
        return session.options.claude_model or self.model


def _question(
    task: Task, session: Session, limit: RateLimitInfo, plan: ResumePlan, reason: str
) -> EscalationRequest:
    """With the wait it is about: a wait alone ends by itself, and who only agreed does not wait."""
    title = f"{session.name}: go on after the limit?"
    at = dated(plan.due)
    options = (
        {"label": "Go on", "description": f"When the limit resets ({at})"},
        {"label": _LEAVE, "description": "The task stops; pcc resume goes on"},
    )
    question = {"question": title, "header": "Limit", "multiSelect": False, "options": options}
    return EscalationRequest(
        session=session.id,
        run=RunId(""),
        task=task.id,
        request=RequestId(signal_of(task.id, task.fence)),
        type=EscalationType.QUESTION,
        title=title,
        context=f"Held up: {reason}. It goes on only if you say so.",
        options=options,
        raw={
            "questions": [{**question, "options_only": True}],
            "resumes_at": plan.due,
            "limit": {
                "window": limit.window,
                "resets_at": limit.resets_at,
                "model": limit.model,
            },
        },
    )
