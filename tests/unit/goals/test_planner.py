"""What follows from a plan and from what a person says of it, also where anything dies between."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.domain.tasks import Again, Behind, Done, Parked, Wait
from perpetualcc.goals.planner import GO, LEAVE, Planner
from tests.unit.daemon.test_limits import session, task
from tests.unit.goals.test_plans import ROOF, WALLS

PROPOSED = {"tasks": [WALLS, ROOF]}
SAID = Done(result="Two tasks will do.")


class CrashError(Exception):
    """The engine dies here."""


class World:
    """A planner on tables that outlive it; it dies after `writes_left`."""

    def __init__(self, mode="ask", refused=()):
        self.plans, self.claims, self.asked, self.answers = {}, {}, [], {}
        self.events, self.refused, self.writes_left = [], refused, 99
        self.goal = task(payload={"plan": mode})

    def planner(self):
        return Planner(
            SimpleNamespace(get=self.get_plan, put=self.put_plan, drop=self.drop_plan),
            SimpleNamespace(get=self.get_claim, put=self.put_claim, drop=self.drop_claim),
            SimpleNamespace(escalate=self.escalate, stored=self.stored, use=self.use),
            self.may_run,
            self.record,
        )

    def write(self):
        if not self.writes_left:
            raise CrashError
        self.writes_left -= 1

    async def get_plan(self, goal):
        return self.plans.get(goal)

    async def put_plan(self, goal, plan):
        self.write()
        self.plans[goal] = plan

    async def drop_plan(self, goal):
        self.write()
        self.plans.pop(goal, None)

    async def get_claim(self, goal):
        return self.claims.get(goal)

    async def put_claim(self, claim):
        self.write()
        self.claims[claim.task] = claim

    async def drop_claim(self, goal):
        self.write()
        self.claims.pop(goal, None)

    async def escalate(self, request):
        self.write()
        self.asked.append(request)
        return len(self.asked)

    async def stored(self, _task, digest):
        return self.answers.get(digest)

    async def use(self, number):
        self.write()
        self.answers = {k: v for k, v in self.answers.items() if v.number != number}
        return True

    async def may_run(self, command, _session):
        return command not in self.refused

    async def record(self, *events):
        self.events += events

    # -- what happens

    def proposes(self, given=PROPOSED):
        return asyncio.run(self.planner().tools(self.goal.id)["propose_plan"](given))

    def ends_its_turn(self):
        return asyncio.run(self.planner().concluded(self.goal, session(Path("/p")), SAID))

    def a_person_says(self, text):
        answer = {"text": text}
        self.answers[self.asked[-1].digest] = SimpleNamespace(number=len(self.asked), answer=answer)
        self.goal = replace(self.goal, answer=answer)

    def decided(self):
        return asyncio.run(self.planner().decided(self.goal))

    def decided_whatever_dies(self):
        try:
            return self.decided()
        except CrashError:
            self.writes_left = 99
            return self.decided()


def test_claude_is_told_what_is_wrong_with_a_plan_and_the_one_before_stays():
    world = World()
    assert "The plan is noted" in world.proposes()

    assert world.proposes({"tasks": []}).startswith("The plan is not taken: A plan is a list")
    assert world.proposes({}).startswith("The plan is not taken")

    assert len(world.plans[world.goal.id].parts) == 2


def test_a_person_is_asked_and_nothing_follows_before_they_answer():
    world = World()
    world.proposes()

    assert world.ends_its_turn() == Wait(
        signal="escalation:1", reason="a plan waits for you: pcc pending 1"
    )
    assert world.decided() is None
    [request] = world.asked
    assert [one["label"] for one in request.options] == [GO, LEAVE]
    told = "2 tasks, one after another, 1 of them proved by checks"
    assert request.options[0]["description"] == told
    assert request.raw["plan"][1] == {**ROOF, "after": [1], "checks": []}
    assert "Its checks run as you" in request.context
    assert [one.kind for one in world.events] == ["PlanProposed"]


@pytest.mark.parametrize(
    ("checks", "told"),
    [(["ls roof"], "1 task, proved by its checks"), ([], "1 task, proved by no check")],
)
def test_a_plan_of_one_task_has_none_before_or_after(checks, told):
    world = World()
    world.proposes({"tasks": [{**ROOF, "after": [], "checks": checks}]})
    world.ends_its_turn()

    assert world.asked[0].options[0]["description"] == told


@pytest.mark.parametrize("writes", range(6))
@pytest.mark.parametrize("text", [GO, LEAVE, "Only the roof"])
def test_what_was_answered_counts_once_wherever_the_engine_dies(text, writes):
    world = World()
    world.proposes()
    world.ends_its_turn()
    world.a_person_says(text)
    world.writes_left = writes

    outcome = world.decided_whatever_dies()

    if text == LEAVE:  # wherever it dies: nothing is planned again before they want it
        assert isinstance(outcome, Parked)
        world.goal = replace(world.goal, answer=None)
        outcome = world.decided_whatever_dies()
    plan, claim = world.plans.get(world.goal.id), world.claims.get(world.goal.id)
    if text == GO:
        assert isinstance(outcome, Behind)
        assert plan.is_agreed
        assert claim is None
    else:
        # Where it dies after the plan is gone, Claude plans again at once: what it is told is kept.
        assert outcome is None
        assert plan is None
        assert ("Only the roof" in claim.report) is (text != LEAVE)


def test_without_asking_it_begins_unless_a_check_is_not_claudes_to_run():
    world = World("alone")
    world.proposes()
    assert isinstance(world.ends_its_turn(), Behind)
    assert world.asked == []

    careful = World("alone", refused={"make walls"})
    careful.proposes()
    assert isinstance(careful.ends_its_turn(), Wait)
    assert "Claude itself may not run: make walls" in careful.asked[0].context


def test_turns_without_a_plan_are_counted_and_end_with_a_person():
    world = World()

    outcomes = [world.ends_its_turn() for _ in range(3)]

    assert outcomes[:2] == [Again(prompt=world.goal.prompt)] * 2
    assert isinstance(outcomes[2], Parked)
    assert world.claims == {}, "whoever tries it again begins afresh"
    assert outcomes[2].packet["last"] == SAID.result


def test_what_is_no_goal_or_is_planned_is_none_of_its_business():
    world = World("made")
    world.proposes()
    world.goal = task(payload={"plan": "made"})
    assert world.decided() is None
    world.goal = task()
    assert world.decided() is None
