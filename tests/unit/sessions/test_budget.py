"""What a run may use. The tables are the policy."""

import asyncio
import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import TextSaid
from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.sessions.budget import (
    SLICE_TOKENS,
    BudgetLimits,
    BudgetRequest,
    BudgetScope,
    Grant,
    Refusal,
    Spent,
    day_of,
    decide_grant,
    next_day,
    with_limit,
)
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from tests.fakes.clock import FakeClock

NOW = 1_800_000_000.0


def request(task="t-1", *, unattended=True, resume_tokens=0) -> BudgetRequest:
    return BudgetRequest(
        session=SessionId("abc123"),
        task=TaskId(task),
        is_unattended=unattended,
        resume_tokens=resume_tokens,
    )


REFUSED = [
    # limits, spent, unattended, scope of the refusal (None: it may start)
    ({}, {"unattended_tokens": 1_000_000}, True, "day"),
    ({}, {"unattended_tokens": 1_000_000}, False, None),
    ({}, {"task_tokens": 100_000}, True, "task"),
    ({}, {"task_tokens": 100_000}, False, None),
    ({}, {"task_seconds": 30 * 60}, True, "task"),
    ({}, {"task_seconds": 30 * 60}, False, None),
    ({"tokens_per_day": 500}, {"day_tokens": 500}, False, "day"),
    ({"tokens_per_day": 500}, {"day_tokens": 499}, False, "day"),
    ({"tokens_per_day": 500}, {"day_tokens": 400}, False, None),
    ({"tokens_per_day": 500}, {"day_tokens": 400, "held_tokens": 100}, False, "reserved"),
    ({"usd_per_day": 5.0}, {"day_usd": 5.0}, False, "day"),
    ({"run_tokens": 100}, {"run_tokens": 100}, False, "run"),
    ({"run_usd": 1.0}, {"run_usd": 1.0}, False, "run"),
    ({"weekly_share": 0.3}, {"week_used": 0.71}, True, "week"),
    ({"weekly_share": 0.3}, {"week_used": 0.71}, False, None),
    ({"weekly_share": 0.3}, {"week_used": 0.69}, True, None),
]


@pytest.mark.parametrize(("limits", "spent", "unattended", "scope"), REFUSED)
def test_who_may_start(limits, spent, unattended, scope):
    decided = decide_grant(BudgetLimits(**limits), Spent(**spent), request(unattended=unattended))

    assert (decided.scope.value if isinstance(decided, Refusal) else None) == scope


def test_a_person_at_work_is_not_limited_unless_they_ask_for_it():
    assert decide_grant(BudgetLimits(), Spent(), request(unattended=False)) == Grant()


def test_an_unattended_task_gets_a_slice_and_its_time():
    spent = Spent(task_seconds=600, task_tokens=60_000)

    assert decide_grant(BudgetLimits(), spent, request()) == Grant(tokens=40_000, seconds=1200)


def test_a_run_that_resumes_by_itself_has_a_cap_of_its_own():
    decided = decide_grant(BudgetLimits(), Spent(), request(resume_tokens=300, unattended=False))

    assert decided == Grant(tokens=300)


@pytest.mark.parametrize(
    ("limit", "way"),
    [
        ("run_tokens", "pcc budget set run_tokens …"),
        ("limits.resume_tokens", "pcc resume abc123; or: pcc config set limits.resume_tokens …"),
    ],
)
def test_what_a_budget_stopped_says_which_command_lets_it_go_on(limit, way):
    over = Refusal(scope=BudgetScope.RUN, limit=limit, used=9, allowed=8)

    assert way in over.packet("abc123")["hint"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nonsense", 1.0),
        ("task_minutes", -1.0),
        ("task_tokens", float("inf")),
        ("usd_per_day", float("nan")),
        ("weekly_share", 1.0),
        ("tokens_per_day", 1.5),  # 1.5M was meant
    ],
)
def test_absurd_budgets_are_refused(name, value):
    with pytest.raises(PerpetualError):
        with_limit(BudgetLimits(), name, value)


def test_a_day_ends_at_local_midnight():
    noon = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))

    assert day_of(noon) == "2026-11-21"
    assert day_of(next_day(noon)) == "2026-11-22"
    assert day_of(next_day(noon) - 1) == "2026-11-21"


@given(
    st.integers(1_000, 400_000),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 60_000)), max_size=40),
)
def test_reservations_never_add_up_to_more_than_is_left(allowed, steps):
    """Runs start and use what they were granted, in any order: the day's budget holds."""
    limits = BudgetLimits(unattended_tokens_per_day=allowed, task_tokens=0, task_minutes=0)
    used: dict[int, int] = {}
    granted: dict[int, int] = {}
    for run, amount in steps:
        held = sum(granted[other] - used[other] for other in granted if other != run)
        total = sum(used.values())
        spent = Spent(unattended_tokens=total, held_unattended=held)
        decided = decide_grant(limits, spent, request(f"t-{run}"))
        if isinstance(decided, Grant):
            used.setdefault(run, 0)
            granted[run] = used[run] + decided.tokens
            used[run] += min(amount, decided.tokens)

    assert sum(used.values()) <= allowed
    assert sum(granted.values()) <= allowed + SLICE_TOKENS * 0


@pytest.fixture
def play(tmp_path):
    """Runs a coroutine function with a budget on a file; each call is another engine's life."""

    def run(scene):
        async def main():
            async with await Database.open(tmp_path / "pcc.db") as database:
                return await scene(SqliteBudget(database))

        return asyncio.run(main())

    return run


def test_many_that_start_at_once_cannot_exceed_the_day(play):
    async def rush(budget):
        await budget.set_limit("tokens_per_day", 120_000)
        asked = [budget.reserve(request(f"t-{n}", unattended=False), NOW) for n in range(20)]
        return await asyncio.gather(*asked)

    decided = play(rush)

    grants = [one.tokens for one in decided if isinstance(one, Grant)]
    assert sorted(grants) == [20_000, 50_000, 50_000]
    refused = {one.scope for one in decided if isinstance(one, Refusal)}
    assert refused == {BudgetScope.RESERVED}


def test_a_few_dollars_a_day_are_not_all_set_aside_for_one_run(play):
    async def evening(budget):
        await budget.set_limit("usd_per_day", 2.5)
        return [await budget.reserve(request(f"t-{n}", unattended=False), NOW) for n in range(4)]

    *granted, refused = play(evening)

    assert [one.usd for one in granted] == [1, 1, 0.5]
    assert refused.scope is BudgetScope.RESERVED


def test_what_was_spent_survives_a_crash_and_what_was_held_does_not(play):
    async def before(budget):
        await budget.set_limit("tokens_per_day", 60_000)
        await budget.reserve(request(unattended=False), NOW)
        await budget.spend(TaskId("t-1"), 10_000, 0.0, NOW)

    async def after(budget):
        await budget.recover(NOW + 5)
        return await budget.spent(NOW + 5), await budget.limits(NOW + 5)

    play(before)
    spent, limits = play(after)

    assert (spent.day_tokens, spent.held_tokens) == (10_000, 0)
    assert limits.tokens_per_day == 60_000


def test_the_hours_in_which_the_machine_was_off_or_asleep_are_nobodys_work(play, tmp_path):
    weekend, night = 62 * 3600, 8 * 3600

    async def friday(budget):
        await budget.reserve(request(), NOW)

    async def monday(budget):
        await budget.recover(NOW + weekend)
        return (await budget.reserve(request(), NOW + weekend)), NOW + weekend

    async def lid_closed(budget):
        await budget.leapt(night)
        return await budget.spend(TaskId("t-1"), 60_000, 0.0, NOW + weekend + night + 60)

    async def last_sign_of_life():
        database, clock = await Database.open(tmp_path / "pcc.db"), FakeClock()
        clock.move(NOW + 120 - clock.now())
        said = TextSaid(session=request().session, run=RunId("r"), task=TaskId("t-1"), text="Hm")
        await EventLog(database, clock).append([said])
        await database.close()

    play(friday)
    asyncio.run(last_sign_of_life())

    assert isinstance(play(monday)[0], Grant)
    assert isinstance(play(lid_closed), Grant)
    play(lambda budget: budget.close(TaskId("t-1"), 0, 0.0, NOW + weekend + night + 60))
    with closing(sqlite3.connect(tmp_path / "pcc.db")) as known:
        [(seconds,)] = known.execute("SELECT sum(ended_at - started_at) FROM spending").fetchall()
    assert seconds == pytest.approx(120 + 60)


def test_a_run_extends_its_slice_until_nothing_is_left(play):
    async def scene(budget):
        await budget.set_limit("tokens_per_day", 130_000)
        await budget.reserve(request(unattended=False), NOW)
        return [await budget.spend(TaskId("t-1"), 45_000, 0.0, NOW) for _ in range(3)]

    first, second, third = play(scene)

    assert isinstance(first, Grant)
    assert second.tokens == 40_000
    assert third.scope is BudgetScope.DAY


def test_money_that_adds_up_to_the_limit_has_reached_it(play):
    """What a process cost is told as a total; its parts are differences, and not exact."""
    parts = [0.05, 0.1 - 0.05, 0.15 - 0.1, 0.2 - 0.15000000000000002, 0.25 - 0.2, 0.3 - 0.25]

    async def scene(budget):
        await budget.set_limit("usd_per_day", 0.3)
        await budget.reserve(request(unattended=False), NOW)
        return [await budget.spend(TaskId("t-1"), 0, part, NOW) for part in parts]

    *before, last = play(scene)

    assert all(isinstance(one, Grant) for one in before)
    assert isinstance(last, Refusal)


def test_the_final_figures_replace_what_was_counted_on_the_way(play):
    async def scene(budget):
        await budget.reserve(request(), NOW)
        await budget.spend(TaskId("t-1"), 900, 0.0, NOW)
        await budget.close(TaskId("t-1"), 1000, 0.5, NOW + 60)
        return await budget.spent(NOW + 60)

    spent = play(scene)

    assert (spent.day_tokens, spent.unattended_tokens, spent.day_usd) == (1000, 1000, 0.5)


def test_yesterday_is_forgotten(play):
    async def scene(budget):
        await budget.reserve(request(), NOW)
        await budget.close(TaskId("t-1"), 1_000_000, 0.0, NOW)
        today = await budget.reserve(request("t-2"), NOW)
        tomorrow = await budget.reserve(request("t-3"), next_day(NOW))
        return today, tomorrow

    today, tomorrow = play(scene)

    assert today.scope is BudgetScope.DAY
    assert isinstance(tomorrow, Grant)


EVENING = next_day(NOW) - 600
MORNING = next_day(NOW) + 300
RUN = TaskId("t-1")


def test_a_run_that_works_past_midnight_is_the_new_days_from_then_on(play):
    async def scene(budget):
        await budget.set_limit("tokens_per_day", 200_000)
        await budget.set_limit("usd_per_day", 10)
        await budget.reserve(request(unattended=False), EVENING)
        await budget.spend(RUN, 30_000, 6.0, EVENING)
        new_day = [await budget.spend(RUN, 40_000, 1.0, MORNING) for _ in range(5)]
        spent = await budget.spent(MORNING)
        await budget.close(RUN, 231_000, 11.5, MORNING + 60)
        return new_day, spent, await budget.spent(MORNING), await budget.spent(EVENING)

    new_day, at_work, ended, day_before = play(scene)

    assert [type(one) for one in new_day] == [Grant] * 4 + [Refusal]
    assert (at_work.day_tokens, at_work.day_usd) == (200_000, 5.0)
    assert (ended.day_tokens, ended.day_usd) == (201_000, 5.5), "the total, less the day before's"
    assert (day_before.day_tokens, day_before.day_usd) == (30_000, 6.0)


def test_the_budgets_of_a_run_and_a_task_know_no_midnight(play):
    async def scene(budget):
        await budget.set_limit("run_tokens", 100_000)
        await budget.set_limit("run_usd", 5)
        await budget.reserve(request(), EVENING)
        budget.spend_soon(RUN, 60_000, 4.5, EVENING)
        budget.spend_soon(RUN, 30_000, 0.0, MORNING)
        run = await budget.spend(RUN, 10_000, 0.0, MORNING)
        await budget.close(RUN, 0, 0.0, MORNING)
        return run, await budget.reserve(request(), MORNING)

    run, task = play(scene)

    assert (run.limit, run.used) == ("run_tokens", 100_000)
    assert (task.limit, task.used) == ("task_tokens", 100_000)


def test_a_run_that_never_told_its_total_keeps_what_was_counted(play):
    async def scene(budget):
        await budget.reserve(request(), NOW)
        await budget.spend(RUN, 900, 0.25, NOW)
        await budget.close(RUN, 0, 0.0, NOW + 60)
        return await budget.spent(NOW + 60)

    spent = play(scene)

    assert (spent.day_tokens, spent.day_usd) == (900, 0.25)
