"""
From a goal to the tasks that reach it: Claude plans, a person agrees, the goal waits behind them.

    ask      Claude reads, asks, and proposes a plan; nothing may be changed meanwhile
    agree    a person says go ahead, or what to do otherwise; then Claude plans again
    follow   the plan's tasks are queued before the goal, in one step
    look     when they are done, Claude looks at the whole, and the goal's checks prove it

Each step is on file before the next: a crash repeats one, and queues nothing twice.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import (
    Escalation,
    EscalationRequest,
    EscalationType,
    signal_name,
)
from perpetualcc.domain.events import PlanProposed, Record
from perpetualcc.domain.ids import RequestId, RunId, TaskId
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import (
    STOPS,
    Again,
    Done,
    Outcome,
    Parked,
    Planning,
    Task,
    Wait,
    is_to_plan,
    planning_of,
)
from perpetualcc.domain.texts import counted, cut, first_line
from perpetualcc.goals.claims import Claim, Claims
from perpetualcc.goals.plans import Plan, Plans, followed, lines_of, plan_from

GO, LEAVE = "Go ahead", "Leave it"
_PATIENCE = 3
"""Turns that may end without a plan before a person is asked."""
_NO_PLAN = (
    "You ended your turn and proposed no plan. Call the tool propose_plan with the tasks that "
    "reach the goal (one is a plan, too), then end your turn. If it cannot be planned, say why."
)
_ANOTHER = (
    "A person looked at your plan and does not want it as it is. They say:\n{words}\n\n"
    "Propose another plan that heeds it, then end your turn."
)
_LEFT = "They decided not to begin, and want another plan now."
_NOTED = (
    "The plan is noted, in the place of any before it. End your turn now, in a sentence or two: "
    "its tasks are begun when a person has agreed, not in this conversation."
)
_OTHERWISE = "Whatever else you answer is told to Claude, which plans again."
_OUTSIDE = "Its checks run as you, outside the gate, each time a task is said to be done."


class People(Protocol):
    """Who is asked whether a plan is followed."""

    async def escalate(self, request: EscalationRequest) -> int: ...

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        """The answer to this very request, unused so far."""
        ...

    async def use(self, number: int) -> bool: ...


MayRun = Callable[[str, Session], Awaitable[bool]]
"""Whether Claude itself would be let run this command in this session, with nobody asked."""


class Planner:
    """Between a wish and its tasks."""

    def __init__(
        self, plans: Plans, claims: Claims, people: People, may_run: MayRun, record: Record
    ) -> None:
        self._plans = plans
        self._claims = claims
        self._people = people
        self._may_run = may_run
        self._record = record

    def tools(self, goal: TaskId) -> Mapping[str, Callable[[dict[str, Any]], Awaitable[str]]]:
        """For the Claude that plans this goal."""
        return {"propose_plan": partial(self._propose, goal)}

    async def _propose(self, goal: TaskId, given: Mapping[str, Any]) -> str:
        try:
            plan = plan_from(given.get("tasks"))
        except PerpetualError as error:
            return f"The plan is not taken: {error.message}. {error.hint or ''}".strip()
        await self._plans.put(goal, plan)
        return _NOTED

    async def decided(self, task: Task) -> Outcome | None:
        """What follows from what a person said about the plan; None: Claude has the word."""
        plan = await self._plans.get(task.id) if is_to_plan(task) else None
        if plan is None:
            return None
        if plan.is_agreed:
            return followed(plan, task)
        said = await self._people.stored(task.id, _digest(plan))
        if said is None:
            return None
        words = str((said.answer or {}).get("text") or "").strip()
        if words == LEAVE and task.answer is not None:
            return _left(task)  # nothing changes before a person has it planned again
        outcome: Outcome | None = None
        if words == GO:
            outcome = await self._agree(task, plan)
        else:
            await self._refuse(task, words)
        await self._people.use(said.number)
        return outcome

    async def _agree(self, task: Task, plan: Plan) -> Outcome:
        await self._plans.put(task.id, Plan(parts=plan.parts, is_agreed=True))
        await self._claims.drop(task.id)  # what it was told while it planned
        return followed(plan, task)

    async def _refuse(self, task: Task, words: str) -> None:
        told = _ANOTHER.format(words=_LEFT if words == LEAVE else words)
        await self._claims.put(Claim(task=task.id, result="", report=told))
        await self._plans.drop(task.id)

    async def concluded(self, task: Task, session: Session, done: Done) -> Outcome:
        """What becomes of a goal when Claude has ended the turn in which it was to plan."""
        plan = await self._plans.get(task.id)
        if plan is None:
            return await self._without(task, done)
        await self._record(
            PlanProposed(session=session.id, task=task.id, lines=lines_of(plan)),
        )
        risky = [one for one in plan.checks if not await self._may_run(one, session)]
        if planning_of(task) is Planning.ALONE and not risky:
            return await self._agree(task, plan)
        number = await self._people.escalate(_question(task, session, plan, risky))
        return Wait(
            signal=signal_name(number), reason=f"a plan waits for you: pcc pending {number}"
        )

    async def _without(self, task: Task, done: Done) -> Outcome:
        before = await self._claims.get(task.id)
        failed = (before.failed if before else 0) + 1
        if failed < _PATIENCE:
            await self._claims.put(
                Claim(task=task.id, result=done.result, failed=failed, report=_NO_PLAN)
            )
            return Again(prompt=task.prompt)
        await self._claims.drop(task.id)
        packet = {
            "analysis": f"Claude was to plan, and ended {failed} turns without a plan",
            "last": done.result,
            "hint": f"Say the goal more clearly, or try again: pcc resume {task.group}",
        }
        return Parked(result=f"No plan: {first_line(done.result, 160)}", packet=packet)


def _left(task: Task) -> Parked:
    again = f"pcc resume {task.group}"
    packet = {**STOPS, "declined": True, "hint": f"Have it planned again with: {again}"}
    return Parked(result=f"A person left the plan; another one: {again}", packet=packet)


def _digest(plan: Plan) -> str:
    said = json.dumps(plan.data(), sort_keys=True)
    return f"plan:{hashlib.sha256(said.encode()).hexdigest()}"


def _course(plan: Plan) -> str:
    """How it will go, and what will prove it."""
    proved = sum(bool(part.checks) for part in plan.parts)
    if len(plan.parts) == 1:
        return "proved by its checks" if proved else "proved by no check"
    how = f"{proved} of them proved by checks" if proved else "none of them proved by a check"
    how = "each proved before the next" if proved == len(plan.parts) else how
    return f"one after another, {how}"


def _question(task: Task, session: Session, plan: Plan, risky: list[str]) -> EscalationRequest:
    parts = counted(len(plan.parts), "task")
    title = f"Begin with this plan of {parts} for: {first_line(task.prompt, 100)}"
    options = (
        {
            "label": GO,
            "description": f"{parts}, {_course(plan)}",
        },
        {"label": LEAVE, "description": "Nothing begins; pcc resume has it planned again"},
    )
    question = {"question": title, "header": "Plan", "multiSelect": False, "options": options}
    question["yes_or_no"] = True
    not_its_own = f"Claude itself may not run: {cut('; '.join(risky), 400)}" if risky else ""
    notes = (_OTHERWISE, _OUTSIDE if plan.checks else "", not_its_own)
    return EscalationRequest(
        session=session.id,
        run=RunId(""),
        task=task.id,
        # Each asking is one of its own: the same plan may be proposed again.
        request=RequestId(f"plan:{task.id}:{task.fence}"),
        type=EscalationType.QUESTION,
        title=title,
        context="\n".join([*lines_of(plan), "", *filter(None, notes)]),
        options=options,
        raw={"questions": [question], "plan": plan.data()},
        digest=_digest(plan),
        packet={"state": f"The goal: {cut(task.prompt.strip(), 2_000)}"},
    )
