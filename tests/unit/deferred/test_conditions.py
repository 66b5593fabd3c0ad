"""When a condition is looked at, and what follows."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace

import pytest

from perpetualcc.deferred.conditions import ConditionWatch
from perpetualcc.deferred.repeat import repeated
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, NewTask, Task
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from tests.fakes.clock import FakeClock
from tests.fakes.tables import on_tables

FAR = float("inf")


class World:
    """A watch over a real ledger; `holds` says which commands succeed."""

    def __init__(self, database):
        self.database, self.clock = database, FakeClock()
        self.ledger = SqliteLedger(database, self.clock, "test", repeats=repeated)
        self.holds, self.looked, self.woken = {}, [], 0
        self.restart()

    def restart(self):
        self.watch = ConditionWatch(self.ledger, self.look, self.session, self.clock, self.wake)

    async def look(self, command, session, _seconds):
        self.looked.append((command, session))
        assert self.watch.busy
        trouble = self.holds.get(command, "exit code 1")
        return SimpleNamespace(trouble=trouble, last_line="sh: it said so")

    async def session(self, name):
        return f"session {name}"

    def wake(self):
        self.woken += 1

    async def add(self, name, when, **more):
        payload = {"when": when} | more.pop("payload", {})
        new = NewTask(
            id=TaskId(name), group=more.pop("group", name), prompt="Go", due=FAR,
            lane=Lane.CRON, payload=payload, **more,
        )  # fmt: skip
        await self.ledger.add(new)

    async def looks(self, seconds):
        """How often anything was looked at in that time, the watch looking every two seconds."""
        before = len(self.looked)
        for _ in range(0, seconds, 2):
            self.clock.move(2)
            await self.watch.look()
        return len(self.looked) - before

    async def problems(self):
        found = await EventLog(self.database, SystemClock()).tail(None, 9, kinds=["ProblemNoticed"])
        return [one.event for one in found]

    async def claimed(self) -> list[Task]:
        return await self.ledger.claim({Lane.CRON: 9}, 9)


@pytest.fixture
def play(tmp_path):
    return lambda scene: on_tables(tmp_path, lambda database: scene(World(database)))


def test_it_is_looked_at_every_minute_and_begins_when_it_holds(play):
    async def scene(world):
        await world.add("t", "ls inbox")
        assert world.watch.next_look() is None
        await world.watch.look()
        assert world.looked == [("ls inbox", "session t")]
        assert await world.looks(300) == 5
        assert world.clock.now() < world.watch.next_look() <= world.clock.now() + 60
        assert await world.claimed() == []

        world.holds["ls inbox"] = ""
        await world.looks(60)

        assert world.woken == 1
        assert [task.id for task in await world.claimed()] == ["t"]
        assert await world.looks(300) == 0
        assert world.watch.next_look() is None
        assert not world.watch.busy

    play(scene)


def test_a_restart_puts_nothing_off_and_looks_at_nothing_twice(play):
    async def scene(world):
        await world.add("t", "x")
        await world.looks(2)
        world.clock.move(10)
        world.restart()
        assert await world.looks(40) == 0
        assert await world.looks(20) == 1

    play(scene)


def test_with_a_rule_it_is_looked_at_at_its_times_and_a_passed_one_once(play):
    async def scene(world):
        await world.add("t", "x", payload={"every": "6 hours"})
        assert await world.looks(3600) == 0
        world.clock.move(24 * 3600)
        world.restart()
        assert await world.looks(3600) == 1
        ahead = world.watch.next_look() - world.clock.now()
        assert 4 * 3600 < ahead <= 6 * 3600

    play(scene)


def test_what_waits_for_the_same_in_a_group_is_looked_at_once_and_begins_together(play):
    async def scene(world):
        for name in ("a", "b"):
            await world.add(name, "x", group="g")
        await world.add("other", "y", group="g")
        await world.add("elsewhere", "x")
        await world.looks(2)
        looked = [("x", "session elsewhere"), ("x", "session g"), ("y", "session g")]
        assert sorted(world.looked) == looked

        world.holds["x"] = ""
        await world.looks(60)
        waiting = [task.id for task, _ in await world.ledger.conditional()]
        assert waiting == ["other"]

    play(scene)


def test_only_what_could_begin_is_looked_at(play):
    async def scene(world):
        await world.ledger.add(NewTask(id=TaskId("first"), group="g", prompt="First"))
        await world.add("behind", "behind", group="g")
        await world.add("after", "after", after=(TaskId("first"),))
        await world.add("held", "held")
        await world.ledger.hold("held")
        (first,) = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        assert await world.looks(120) == 0

        await world.ledger.cancel(first.id)
        await world.ledger.release("held")
        await world.looks(2)

        assert [command for command, _ in world.looked] == ["held"]

    play(scene)


def test_a_clock_that_was_set_back_keeps_nobody_waiting(play):
    async def scene(world):
        await world.add("t", "x")
        await world.looks(2)
        world.clock.move(-24 * 3600)
        assert await world.looks(120) >= 1

    play(scene)


def test_an_engine_starts_after_a_clock_that_was_ahead(play):
    async def scene(world):
        await world.add("t", "x", payload={"every": "10 minutes"})
        world.clock.move(-24 * 3600)
        world.restart()
        await world.ledger.recover()
        assert await world.looks(1200) >= 1

    play(scene)


def test_a_command_that_is_not_there_is_told_once_by_however_many_engines(play):
    async def scene(world):
        world.holds["lss"] = "exit code 127"
        await world.add("t", "lss", group="g")
        for _ in range(3):
            assert await world.looks(300) > 0
            world.restart()
        (problem,) = await world.problems()
        assert problem.text == "The condition cannot be looked at: sh: it said so"
        assert "pcc stop g t," in problem.hint

    play(scene)


@pytest.mark.parametrize("trouble", ["it was ended after 30 s", "it cannot be run: No such file"])
def test_one_that_takes_too_long_or_has_no_place_to_run_in_is_told_too(play, trouble):
    async def scene(world):
        world.holds["slow"] = trouble
        await world.add("t", "slow", group="g")
        await world.looks(120)
        (problem,) = await world.problems()
        assert problem.text == f"The condition cannot be looked at: {trouble}"

    play(scene)


@pytest.mark.parametrize("trouble", ["exit code 1", "signal 9"])
def test_one_that_does_not_hold_is_told_to_nobody(play, trouble):
    async def scene(world):
        world.holds["no"] = trouble
        await world.add("t", "no", group="g")
        await world.looks(120)
        assert await world.problems() == []

    play(scene)


def test_begun_by_a_person_it_needs_no_condition(play):
    async def scene(world):
        await world.add("t", "x", group="g")
        await world.ledger.hasten("g")
        assert await world.looks(120) == 0
        assert len(await world.claimed()) == 1

    play(scene)


def test_one_that_cannot_be_written_down_now_is_looked_at_again(play, monkeypatch):
    monkeypatch.setattr("perpetualcc.deferred.conditions._NEW", timedelta(milliseconds=10))

    async def scene(world):
        await world.add("t", "x")
        world.holds["x"] = ""
        begin_now = world.ledger.begin_now

        async def locked(*_):
            world.ledger.begin_now = begin_now
            raise PassingError("The database is locked")

        world.ledger.begin_now = locked
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(world.watch.run())
            while not world.woken:  # noqa: ASYNC110  # it is only counted
                await asyncio.sleep(0.01)
            watching.cancel()

        assert len(world.looked) == 2
        assert [task.id for task in await world.claimed()] == ["t"]

    play(scene)
