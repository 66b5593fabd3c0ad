"""Tasks that begin at a time, on the real tables."""

import asyncio

from perpetualcc.deferred.repeat import Repeated, repeated
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import Done, Failed, Lane, Outcome, TaskState
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.task_queue import PlannedTask
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import RecordingWorkers

ROOM = {Lane.INTERACTIVE: 5, Lane.CRON: 5}


class World:
    """A manager on a file of its own."""

    def __init__(self, database: Database) -> None:
        self.clock = FakeClock()
        self.ledger = SqliteLedger(database, self.clock, owner="me", repeats=repeated)
        events = EventLog(database, self.clock)

        async def record(*these) -> None:
            await events.append(these)

        workers = RecordingWorkers(self.ledger)
        self.store = SessionStore(database, self.clock)
        self.manager = SessionManager(self.store, self.ledger, record, workers)

    async def claimed(self) -> list[str]:
        return [task.prompt for task in await self.ledger.claim(ROOM, 5)]

    async def settle(self, outcome: Outcome) -> SessionStatus:
        """End the task that may begin now; what its session is then."""
        [task] = await self.ledger.claim(ROOM, 5)
        await self.manager.begin(task.group)
        await self.ledger.settle(task.id, task.fence, outcome)
        state = TaskState.DONE if isinstance(outcome, Done) else TaskState.FAILED
        await self.manager.settled(task, state, due=None, result=outcome.result, limited=False)
        return (await self.manager.get_session(task.group)).status

    async def begins(self, session):
        return (await self.manager.begins([session])).get(session.id)


def play(scene, tmp_path):
    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        await scene(World(database))
        await database.close()

    asyncio.run(main())


def test_a_session_begins_when_it_is_due(tmp_path):
    async def scene(world):
        due = world.clock.now() + 3600
        plan = [PlannedTask(prompt="one"), PlannedTask(prompt="two", after=(0,))]
        session = await world.manager.create_session(tmp_path, plan, due=due, lane=Lane.CRON)

        assert await world.claimed() == []
        assert await world.ledger.next_due() == due
        assert await world.begins(session) == due

        world.clock.move(3600)
        assert await world.begins(session) is None
        assert await world.claimed() == ["one"]

    play(scene, tmp_path)


def test_a_task_for_later_holds_up_nothing(tmp_path):
    async def scene(world):
        plan = [PlannedTask(prompt="now"), PlannedTask(prompt="then")]
        session = await world.manager.create_session(tmp_path, plan)
        due = world.clock.now() + 60
        await world.manager.add_task(session.id, "later", priority=9, due=due)

        for prompt in ("now", "then"):
            assert await world.begins(session) is None
            [task] = await world.ledger.claim(ROOM, 5)
            assert task.prompt == prompt
            await world.ledger.settle(task.id, task.fence, Done(result="ok"))
        assert await world.claimed() == []
        assert await world.begins(session) == due

        world.clock.move(60)
        assert await world.claimed() == ["later"]

    play(scene, tmp_path)


def test_a_session_is_about_what_is_next_once_its_current_task_is_over(tmp_path):
    async def scene(world):
        async def shown():
            session = await world.manager.get_session(begun.id)
            return (await world.manager.current_prompts([session]))[begun.id]

        async def end(outcome):
            [task] = await world.ledger.claim(ROOM, 5)
            await world.store.set_current_task(begun.id, task.id)
            assert await shown() == task.prompt
            await world.ledger.settle(task.id, task.fence, outcome)
            return await shown()

        plan = [PlannedTask(prompt="one")]
        begun = await world.manager.create_session(tmp_path, plan)
        due = world.clock.now() + 60
        await world.manager.add_task(begun.id, "later", due=due)
        await world.manager.add_task(begun.id, "after that", after=["later"])
        await world.manager.add_task(begun.id, "sooner", due=due - 1)
        await world.manager.add_task(begun.id, "two")

        assert await end(Done(result="ok")) == "two"
        assert await end(Failed(result="no")) == "sooner"
        await world.manager.stop_task(begun.id, "sooner")
        assert await shown() == "later"
        world.clock.move(60)
        assert await end(Done(result="ok")) == "after that"
        assert await end(Done(result="ok")) == "after that"

    play(scene, tmp_path)


def test_a_paused_session_begins_nothing_however_late_it_is(tmp_path):
    async def scene(world):
        due = world.clock.now() + 60
        session = await world.manager.create_session(
            tmp_path, [PlannedTask(prompt="one")], due=due, lane=Lane.CRON
        )
        await world.manager.pause_session(session.id)
        world.clock.move(3600)
        assert await world.claimed() == []
        assert await world.begins(session) is None

        await world.manager.resume_session(session.id)
        assert await world.claimed() == ["one"]

    play(scene, tmp_path)


def test_what_is_for_later_begins_now_when_a_person_says_so(tmp_path):
    async def scene(world):
        due = world.clock.now() + 3600
        session = await world.manager.create_session(
            tmp_path, [PlannedTask(prompt="one")], due=due, lane=Lane.CRON
        )
        await world.manager.resume_session(session.id)

        assert await world.begins(session) is None
        assert await world.claimed() == ["one"]

    play(scene, tmp_path)


async def begin_hourly(world, tmp_path):
    rule = Repeated("1 hour")
    plan, due = [PlannedTask(prompt="one")], rule.first(world.clock.now())
    return await world.manager.create_session(
        tmp_path, plan, due=due, lane=Lane.CRON, payload=rule.payload()
    )


def test_a_session_that_repeats_waits_for_its_next_time_and_is_never_over(tmp_path):
    async def scene(world):
        session = await begin_hourly(world, tmp_path)
        for _ in range(3):
            world.clock.move(3600)
            assert await world.settle(Done(result="ok")) is SessionStatus.IDLE
            assert await world.begins(session) == world.clock.now() + 3600

        await world.manager.resume_session(session.id)
        assert await world.settle(Done(result="ok")) is SessionStatus.IDLE
        assert await world.begins(session) == world.clock.now() + 3600

    play(scene, tmp_path)


def test_a_time_that_fails_does_not_hold_up_the_next_and_two_in_a_row_do(tmp_path):
    async def scene(world):
        session = await begin_hourly(world, tmp_path)
        for outcome in (Failed(result="no network"), Done(result="ok"), Failed(result="red")):
            world.clock.move(3600)
            assert await world.settle(outcome) is SessionStatus.IDLE

        world.clock.move(3600)
        assert await world.settle(Failed(result="red again")) is SessionStatus.ERROR
        world.clock.move(3600)
        assert await world.claimed() == []

        await world.manager.resume_session(session.id)
        assert await world.claimed() == ["one"]

    play(scene, tmp_path)


def test_a_session_that_is_stopped_repeats_no_more(tmp_path):
    async def scene(world):
        session = await begin_hourly(world, tmp_path)
        world.clock.move(3600)
        await world.settle(Done(result="ok"))

        await world.manager.stop_session(session.id)

        world.clock.move(36_000)
        assert await world.claimed() == []
        assert await world.ledger.next_due() is None

    play(scene, tmp_path)
