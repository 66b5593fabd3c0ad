"""How much of a subscription's windows is used: what goes on file, and what is held back by it."""

import asyncio
from dataclasses import replace

import pytest

from perpetualcc.daemon.budget import BudgetKeeper
from perpetualcc.daemon.budget_questions import BudgetQuestions
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.sessions.budget import SLICE_TOKENS, BudgetRequest, Grant, Refusal
from perpetualcc.sessions.settings import LimitSettings
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.budget_days import SqliteBudgetDays
from perpetualcc.store.database import Database
from tests.fakes.clock import FakeClock

DAY = 86400.0
UNATTENDED = BudgetRequest(session=SessionId("s"), task=TaskId("t-1"), is_unattended=True)


class CountedBudget(SqliteBudget):
    """Knows what was written of windows."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.written: list[WindowUse] = []

    def saw_window(self, use: WindowUse) -> None:
        self.written.append(use)
        super().saw_window(use)


class Stage:
    """A keeper over a file, with a clock to move."""

    def __init__(self, database: Database) -> None:
        self.clock, self.store = FakeClock(), CountedBudget(database)
        self.keeper = BudgetKeeper(
            store=self.store,
            settings=LimitSettings(),
            record=None,
            clock=self.clock,
            questions=BudgetQuestions(SqliteBudgetDays(database), None, self.clock),
        )

    def week(self, used: float, days: float = 3.0) -> WindowUse:
        return WindowUse(window="seven_day", used=used, resets_at=self.clock.now() + days * DAY)

    def saw(self, *uses: WindowUse) -> list[float]:
        for use in uses:
            self.keeper.saw_window(use)
        return [use.used for use in self.store.written]

    async def reserve(self) -> Grant | Refusal:
        return await self.store.reserve(UNATTENDED, self.clock.now())


@pytest.fixture
def play(tmp_path):
    def run(scene):
        async def main():
            async with await Database.open(tmp_path / "pcc.db") as database:
                return await scene(Stage(database))

        return asyncio.run(main())

    return run


def test_a_share_of_the_week_is_left_to_the_person_before_any_warning(play):
    async def scene(stage):
        await stage.store.set_limit("weekly_share", 0.3)
        stage.saw(stage.week(0.69))
        below = await stage.reserve()
        stage.saw(stage.week(0.71))
        above = await stage.reserve()
        stage.clock.move(4 * DAY)
        return below, above, await stage.reserve()

    below, above, after_its_reset = play(scene)

    assert isinstance(below, Grant)
    assert (above.limit, above.used) == ("weekly_share", 0.71)
    assert isinstance(after_its_reset, Grant)


def test_a_run_at_work_meets_the_share_though_nothing_else_bounds_it(play):
    async def scene(stage):
        for name in ("unattended_tokens_per_day", "task_tokens"):
            await stage.store.set_limit(name, 0)
        await stage.store.set_limit("weekly_share", 0.3)
        await stage.reserve()
        stage.saw(stage.week(0.71))
        return [
            await stage.store.spend(UNATTENDED.task, tokens, 0.0, stage.clock.now())
            for tokens in (SLICE_TOKENS - 1, 1)
        ]

    within, beyond = play(scene)

    assert isinstance(within, Grant)
    assert beyond.limit == "weekly_share"


def test_a_window_goes_on_file_only_when_it_is_another_by_a_percent(play):
    async def scene(stage):
        steps = (0.28, 0.28, 0.2899, 0.29, 0.291, 0.299, 0.3, 0.29)
        return stage.saw(*map(stage.week, steps))

    assert play(scene) == [0.28, 0.29, 0.3, 0.29]


def test_a_window_that_began_anew_goes_on_file_and_a_wandering_second_does_not(play):
    async def scene(stage):
        use = stage.week(0.5)
        wandered, anew = (replace(use, resets_at=use.resets_at + more) for more in (5, 5 * DAY))
        unsaid = replace(use, resets_at=None)
        return stage.saw(use, wandered, anew, unsaid, unsaid), stage.store.written

    used, written = play(scene)

    assert used == [0.5, 0.5, 0.5]
    assert [one.resets_at is None for one in written] == [False, False, True]


def test_windows_are_told_apart(play):
    async def scene(stage):
        five = WindowUse(window="five_hour", used=0.2, resets_at=stage.clock.now() + 3600)
        stage.saw(five, stage.week(0.6), five, stage.week(0.6))
        known = await stage.store.windows(stage.clock.now())
        stage.clock.move(3601)
        return stage.store.written, known, await stage.store.windows(stage.clock.now())

    written, known, later = play(scene)

    assert [one.window for one in written] == ["five_hour", "seven_day"]
    assert list(known) == written
    assert [one.window for one in later] == ["seven_day"]


def test_a_reset_that_nobody_believes_holds_nothing_back(play):
    async def scene(stage):
        await stage.store.set_limit("weekly_share", 0.3)
        stage.saw(stage.week(0.99, days=9000))
        return await stage.reserve(), await stage.store.windows(stage.clock.now())

    reserved, known = play(scene)

    assert isinstance(reserved, Grant)
    assert list(known) == []


def test_a_reset_in_milliseconds_is_read_as_one(play):
    async def scene(stage):
        at = stage.clock.now() + DAY
        stage.saw(WindowUse(window="seven_day", used=0.5, resets_at=at * 1000))
        return at, stage.store.written

    at, [use] = play(scene)

    assert use.resets_at == pytest.approx(at)
