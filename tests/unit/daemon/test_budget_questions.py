"""A budget that is used up: who is asked, how often, and what comes of the answer."""

import asyncio
from dataclasses import replace

import pytest

from perpetualcc.daemon.budget import BudgetKeeper
from perpetualcc.daemon.budget_questions import (
    FREE,
    RAISE,
    STOP,
    WAIT,
    BudgetQuestions,
    as_much_again,
)
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import Escalation
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import Lane, Wait
from perpetualcc.sessions.budget import next_day
from perpetualcc.sessions.limit_waits import BY_ITSELF, review_signal_of
from perpetualcc.sessions.settings import LimitSettings
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.budget_days import SqliteBudgetDays
from perpetualcc.store.database import Database
from perpetualcc.store.escalations import WITHDRAWN
from tests.fakes.clock import FakeClock
from tests.unit.daemon.test_limits import session, task


class Desk:
    """The queue and the sessions, as far as budgets need them."""

    def __init__(self, tmp_path) -> None:
        self.store, self.asked, self.answered, self.done = self, [], [], []
        detail = "the budget tokens_per_day is used up: 5 of 5"
        limited = SessionStatus.RATE_LIMITED
        self.waiting = [replace(session(tmp_path), status=limited, detail=detail)]

    async def escalate(self, request):
        for one in self.asked:  # the same request of the same run again is the same
            if (one.request.run, one.request.request) == (request.run, request.request):
                return one
        self.asked.append(Escalation(number=len(self.asked) + 1, request=request, raised_at=0.0))
        return self.asked[-1]

    async def get_pending(self):
        return [one for one in self.asked if one not in self.answered]

    async def use(self, number):
        self.done.append(("used", number))

    async def settle(self, number, answer, *, by):
        self.done.append(("settled", answer["text"]))

    async def list_sessions(self, *, statuses):
        return [one for one in self.waiting if one.status in statuses]

    async def resume_session(self, name, *, only, by_itself=False):
        self.done.append(("resumed", name))
        self.was_by_itself = by_itself

    async def pause_session(self, name):
        self.done.append(("paused", name))


class Stage:
    """A keeper over a file, with a clock to move."""

    def __init__(self, database, tmp_path) -> None:
        self.clock, self.desk, self.events = FakeClock(), Desk(tmp_path), []
        self.database = database
        self.session = session(tmp_path)
        self.questions = BudgetQuestions(SqliteBudgetDays(database), self.record, self.clock)
        self.questions.queue = self.questions.manager = self.desk
        self.store = SqliteBudget(database)
        self.keeper = BudgetKeeper(
            store=self.store,
            settings=LimitSettings(),
            record=self.record,
            clock=self.clock,
            questions=self.questions,
        )

    async def record(self, *events) -> None:
        self.events += events

    async def admit(self, name="t-1", **more):
        return await self.keeper.admit(task(name, **more), self.session)

    async def answer(self, text, *, by="cli") -> None:
        asked = self.desk.asked[-1]
        self.desk.answered.append(asked)
        answer = {"text": text}
        await self.questions.carry_out(
            replace(asked, settled_at=self.clock.now(), answer=answer, settled_by=by)
        )

    async def allowed(self) -> float:
        return (await self.store.limits(self.clock.now())).tokens_per_day


async def used_up(stage) -> None:
    await stage.store.set_limit("tokens_per_day", 1000)
    await stage.admit("first")
    await stage.keeper.spent(TaskId("first"), SessionId("abc123"), 1000)
    await stage.keeper.ended(TaskId("first"), SessionId("abc123"), 1000, 0.0)


@pytest.fixture
def play(tmp_path):
    def run(scene):
        async def main():
            async with await Database.open(tmp_path / "pcc.db") as database:
                stage = Stage(database, tmp_path)
                await used_up(stage)
                return await scene(stage)

        return asyncio.run(main())

    return run


def test_all_who_come_wait_for_midnight_and_one_person_is_asked_once(play):
    async def scene(stage):
        return [await stage.admit(f"t-{n}") for n in range(5)], stage

    held, stage = play(scene)

    assert all(isinstance(one, Wait) for one in held)
    assert {one.due for one in held} == {next_day(stage.clock.now())}
    [asked] = stage.desk.asked
    assert [option["label"] for option in asked.request.options] == [RAISE, FREE, WAIT, STOP]
    assert asked.request.default["text"] == WAIT
    assert asked.request.deadline == next_day(stage.clock.now())


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (RAISE, 2000),
        ("4,000", 4000),
        ("2M", 2_000_000),
        ("1.5k", 1500),
        ("as much as you like", 1000),
    ],
)
def test_a_raise_counts_at_once_and_ends_with_the_day(play, text, allowed):
    async def scene(stage):
        await stage.admit()
        await stage.answer(text)
        today = await stage.allowed()
        admitted = await stage.admit()
        stage.clock.move(86400)
        return today, admitted, await stage.allowed(), stage

    today, admitted, tomorrow, stage = play(scene)

    assert (today, tomorrow) == (allowed, 1000)
    assert (admitted is None) is (allowed > 1000)
    assert (("resumed", "abc123") in stage.desk.done) is (allowed > 1000)
    told = [event.text for event in stage.events if type(event).__name__ == "ProblemNoticed"]
    assert bool(told) is (allowed == 1000)


def test_a_budget_without_a_limit_for_today_has_its_limit_tomorrow(play):
    async def scene(stage):
        await stage.admit()
        await stage.answer(FREE)
        today, admitted = await stage.allowed(), await stage.admit()
        stage.clock.move(86400)
        return today, admitted, await stage.allowed()

    assert play(scene) == (0, None, 1000)


@pytest.mark.parametrize(
    ("allowed", "used", "raised"),
    [
        (1000, 1000, 2000),
        (4000, 4200, 10_000),
        (1_000_000, 1_049_876, 2_500_000),
        (1_000_000, 9_300_000, 12_000_000),
        (500_000, 512_000, 1_200_000),
        (5, 5.2, 12),
        (0.5, 0.5, 1),
        (2.5, 2.5, 5),
        (3, 3, 6),
        (0.1, 0.2, 0.3),
        (1, 0.01, 1.2),
    ],
)
def test_a_raise_is_a_round_number_that_leaves_as_much_as_the_budget_was(allowed, used, raised):
    assert as_much_again(allowed, used) == raised


def test_a_budget_that_renews_in_the_quiet_hours_is_waited_for_until_they_end(play):
    async def scene(stage):
        stage.keeper.settings = LimitSettings(quiet_hours="23:00-07:00")
        return await stage.admit(), stage

    held, stage = play(scene)

    assert held.due == next_day(stage.clock.now()) + 7 * 3600
    assert stage.desk.asked[-1].request.deadline == held.due


def test_when_the_raise_is_used_up_too_the_person_is_asked_again(play):
    async def scene(stage):
        await stage.admit()
        await stage.answer(RAISE)
        await stage.admit("second")
        await stage.keeper.ended(TaskId("second"), SessionId("abc123"), 1000, 0.0)
        await stage.admit()
        await stage.admit("other")
        return stage

    assert len(play(scene).desk.asked) == 2


@pytest.mark.parametrize(("text", "done"), [(STOP, [("paused", "abc123")]), (WAIT, [])])
def test_stop_pauses_what_waits_and_wait_leaves_it(play, text, done):
    async def scene(stage):
        await stage.admit()
        await stage.answer(text)
        await stage.admit("other")
        return stage

    stage = play(scene)

    assert stage.desk.done == [("used", 1), *done]
    assert len(stage.desk.asked) == 1, "the day has its answer"


def test_a_question_whose_session_ended_is_asked_for_the_others(play):
    async def scene(stage):
        await stage.admit()
        await stage.answer("the session was stopped", by=WITHDRAWN)
        await stage.admit("other")
        return stage

    stage = play(scene)

    assert ("resumed", "abc123") in stage.desk.done
    assert len(stage.desk.asked) == 2


def test_a_budget_that_is_set_back_to_what_it_was_is_asked_about_again(play):
    async def scene(stage):
        await stage.admit()
        for allowed in (5000, 1000):
            await stage.store.set_limit("tokens_per_day", allowed)
            await stage.questions.changed("tokens_per_day")
            stage.desk.answered = list(stage.desk.asked)
        await stage.admit()
        return stage

    assert len(play(scene).desk.asked) == 2


def test_one_person_is_asked_once_by_many_at_once_and_after_a_crash(play):
    async def scene(stage):
        await asyncio.gather(*(stage.admit(f"t-{n}") for n in range(5)))
        await SqliteBudgetDays(stage.database).unasked("tokens_per_day", stage.clock.now())
        stage.clock.move(1)  # the engine died between the question and the note that it was asked
        await stage.admit("after the crash")
        return stage

    assert len(play(scene).desk.asked) == 1


def test_money_that_is_used_up_ends_the_run_at_once(play):
    async def scene(stage):
        await stage.store.set_limit("tokens_per_day", 0)
        await stage.store.set_limit("run_usd", 3)
        assert await stage.admit() is None
        told = [await stage.keeper.spent(TaskId("t-1"), SessionId("abc123"), 10, 1.5)]
        return [*told, await stage.keeper.spent(TaskId("t-1"), SessionId("abc123"), 10, 1.5)]

    goes_on, used_up = play(scene)

    assert goes_on is None
    assert (used_up.limit, used_up.used) == ("run_usd", 3.0)


@pytest.mark.parametrize(
    ("name", "limit", "brains"),
    [("tokens_per_day", 3000, (1600, 0.0)), ("usd_per_day", 1, (1, 0.9))],
)
def test_what_a_brain_uses_comes_off_what_the_run_at_work_has_reserved(play, name, limit, brains):
    async def scene(stage):
        await stage.store.set_limit("tokens_per_day", 0)
        await stage.store.set_limit(name, limit)
        assert await stage.admit() is None
        first = await stage.keeper.spent(TaskId("t-1"), SessionId("abc123"), 500, 0.05)
        stage.keeper.brain_used(replace(stage.session, current_task=TaskId("t-1")), *brains)
        return first, await stage.keeper.spent(TaskId("t-1"), SessionId("abc123"), 10, 0.05)

    goes_on, used_up = play(scene)

    assert goes_on is None
    assert used_up.limit == name


def test_a_changed_budget_settles_the_question_and_lets_the_parked_go_on(play):
    async def scene(stage):
        await stage.admit()
        parked = SessionStatus.ERROR
        stage.desk.waiting.append(replace(stage.desk.waiting[0], id="parked", status=parked))
        await stage.questions.changed("tokens_per_day")
        return stage

    done = play(scene).desk.done

    assert done == [
        ("settled", "the budget was changed"),
        ("resumed", "abc123"),
        ("resumed", "parked"),
    ]


def test_what_others_hold_is_waited_for_and_nobody_is_asked(play):
    async def scene(stage):
        await stage.store.set_limit("tokens_per_day", 40_000)
        first = await stage.admit("one")
        others = await stage.admit("two"), await stage.admit("three", lane=Lane.GOAL)
        woken_before = list(stage.desk.done)
        await stage.keeper.ended(TaskId("one"), SessionId("abc123"), 10, 0.0)
        return first, others, woken_before, stage

    first, others, woken_before, stage = play(scene)

    assert first is None
    assert all(isinstance(one, Wait) for one in others)
    assert {one.due for one in others} == {stage.clock.now() + 60}
    assert stage.desk.asked == []
    assert (woken_before, stage.desk.done) == ([], [("resumed", stage.session.id)])
    assert stage.desk.was_by_itself


@pytest.mark.parametrize(
    ("answer", "signal", "cap"),
    [
        ({}, "limit:t-1:7", None),
        (BY_ITSELF, "limit:t-1:7", 700),
        (BY_ITSELF, review_signal_of("t-1", 7), None),
    ],
)
def test_only_what_a_person_lets_go_on_or_begins_is_spared_the_cap(play, answer, signal, cap):
    async def scene(stage):
        await stage.store.set_limit("tokens_per_day", 0)
        stage.keeper.settings = LimitSettings(resume_tokens=700)
        await stage.admit(signal=signal, answer=answer)
        return stage.keeper.allowance(TaskId("t-1")).tokens

    assert play(scene) == cap


def test_trouble_of_those_who_wait_is_none_of_the_run_that_ends(play):
    async def scene(stage):
        await stage.store.set_limit("tokens_per_day", 60_000)
        await stage.admit("first")
        await stage.admit("second")
        assert isinstance(await stage.admit("third"), Wait)

        async def stopped_meanwhile(_name, **_only):
            raise PerpetualError("Session 'x' is stopped and cannot go on")

        stage.desk.resume_session = stopped_meanwhile
        await stage.keeper.ended(TaskId("first"), SessionId("abc123"), 100, 0.0)

    play(scene)
