"""`kill -9` between two writes of the session manager, on the real tables."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import STOPS, Done, Failed, Lane, Later, Parked, TaskState, Wait
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.task_queue import PlannedTask
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore
from perpetualcc.work.outcomes import settlement
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import RecordingWorkers


class Killed(BaseException):
    """Nothing after this is executed."""


class Engine:
    """A manager on the file, which dies at a call of one's choice."""

    def __init__(self, database: Database, clock: FakeClock, name: str) -> None:
        self.ledger = SqliteLedger(database, clock, owner=name)
        events = EventLog(database, clock)

        async def record(*these) -> None:
            await events.append(these)

        workers = RecordingWorkers(self.ledger)
        self.manager = SessionManager(SessionStore(database, clock), self.ledger, record, workers)

    async def work(self, outcome) -> None:
        task = await self.claim()
        assert await self.manager.begin(task.group)
        await self.settle(task, outcome)

    async def claim(self):
        [task] = await self.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        return task

    async def settle(self, task, outcome, *, is_told=True) -> None:
        became = settlement(task, outcome, 0.0, cancelling=False)
        await self.ledger.settle(task.id, task.fence, outcome)
        if is_told:
            await self.manager.settled(
                task, became.state, due=became.due, result=became.result, limited=False
            )

    def dies_at(self, what: object, name: str) -> None:
        async def die(*_args, **_options):
            raise Killed

        setattr(what, name, die)


async def pause(engine, session, dies_at):
    dies_at(engine)
    await engine.manager.pause_session(session)


async def resume(engine, session, dies_at):
    await engine.manager.pause_session(session)
    dies_at(engine)
    await engine.manager.resume_session(session)


async def retry(engine, session, dies_at):
    await engine.work(Failed(result="no", packet=STOPS))
    [task] = await engine.manager.queue(session).broken()
    dies_at(engine)
    await engine.manager.retry_task(session, task.id)


async def give_up(engine, session, dies_at):
    await engine.work(Parked(result="look", packet=STOPS))
    [task] = await engine.manager.queue(session).broken()
    dies_at(engine)
    await engine.manager.give_up_task(session, task.id)


async def admission(engine, _session, _dies_at):
    task = await engine.claim()
    await engine.settle(task, Parked(result="a budget", packet=STOPS), is_told=False)
    raise Killed


async def given_up_before_what_comes_after(engine, session, _dies_at):
    await engine.manager.add_task(session, "behind the first", after=["first"])
    await engine.work(Parked(result="look", packet=STOPS))
    [task] = await engine.manager.queue(session).broken()
    await engine.manager.give_up_task(session, task.id)
    raise Killed


DEATHS = {
    "hold": lambda engine: engine.dies_at(engine.ledger, "hold"),
    "release": lambda engine: engine.dies_at(engine.ledger, "release"),
    "status": lambda engine: engine.dies_at(engine.manager, "_become"),
}
IDLE, PAUSED, ERROR = SessionStatus.IDLE, SessionStatus.PAUSED, SessionStatus.ERROR


@pytest.mark.parametrize(
    ("deed", "dies_at", "status"),
    [
        (pause, "hold", PAUSED),
        (pause, "status", IDLE),
        (resume, "release", PAUSED),
        (resume, "status", PAUSED),
        (retry, "release", ERROR),
        (retry, "status", ERROR),
        (give_up, "release", ERROR),
        (give_up, "status", ERROR),
        (admission, "", ERROR),
        (given_up_before_what_comes_after, "", IDLE),
    ],
)
def test_what_a_session_says_is_what_its_queue_does(tmp_path, deed, dies_at, status):
    @asynccontextmanager
    async def engine(name):
        async with await Database.open(tmp_path / "pcc.db") as database:
            yield Engine(database, FakeClock(), name)

    async def main():
        async with engine("first") as first:
            plan = [PlannedTask(prompt="first"), PlannedTask(prompt="second")]
            session = (await first.manager.create_session(tmp_path, plan)).id
            with pytest.raises(Killed):
                await deed(first, session, DEATHS.get(dies_at))

        async with engine("second") as second:
            await second.ledger.recover()
            await second.manager.recover()
            found = await second.manager.get_session(session)
            assert found.status is status
            assert (await second.ledger.next_due() is not None) == (status is IDLE)

            if status is not IDLE:  # and a person can go on from there
                await second.manager.resume_session(session)
            await second.work(Later(due=0.0, counts=False))
            await second.work(Done(result="ok"))

    asyncio.run(main())


def test_a_session_that_finished_as_its_engine_died_says_what_it_came_to(tmp_path):
    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        first = Engine(database, FakeClock(), "first")
        session = (await first.manager.create_session(tmp_path, [PlannedTask(prompt="one")])).id
        task = await first.claim()
        await first.manager.begin(session)
        await first.settle(task, Done(result="ok"), is_told=False)

        await Engine(database, FakeClock(), "second").manager.recover()
        found = await first.manager.get_session(session)
        await database.close()
        return found

    found = asyncio.run(main())

    assert found.status is SessionStatus.COMPLETED
    assert found.detail.startswith("1 task done")


@pytest.mark.parametrize(
    ("wait", "status"),
    [
        (Wait(signal="limit:t:1", due=9e9, reason="a budget"), SessionStatus.RATE_LIMITED),
        (Wait(signal="escalation:1", reason="you must agree"), SessionStatus.WAITING_INPUT),
    ],
)
def test_a_session_whose_engine_died_as_it_began_to_wait_says_what_for(tmp_path, wait, status):
    """Else nobody finds it: not who raises the budget, nor who stops all that wait for it."""

    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        first = Engine(database, FakeClock(), "first")
        session = (await first.manager.create_session(tmp_path, [PlannedTask(prompt="one")])).id
        await first.settle(await first.claim(), wait, is_told=False)  # no run of it began

        await Engine(database, FakeClock(), "second").manager.recover()
        found = await first.manager.get_session(session)
        await database.close()
        return found

    found = asyncio.run(main())

    assert (found.status, found.detail, found.resumes_at) == (status, wait.reason, wait.due)


def test_a_task_that_is_added_to_a_finished_session_brings_it_back_whatever_dies(tmp_path):
    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        first = Engine(database, FakeClock(), "first")
        session = (await first.manager.create_session(tmp_path, [PlannedTask(prompt="one")])).id
        await first.work(Done(result="ok"))
        first.dies_at(first.manager, "_become")  # had there been a second write
        await first.manager.add_task(session, "two")

        second = Engine(database, FakeClock(), "second")
        await second.ledger.recover()
        await second.manager.recover()
        await second.work(Done(result="ok"))
        found = await second.manager.get_session(session)
        tasks = await second.manager.queue(session).everything()
        await database.close()
        return found, tasks

    found, tasks = asyncio.run(main())
    assert found.status is SessionStatus.COMPLETED
    assert [one.state for one in tasks] == [TaskState.DONE] * 2


@pytest.mark.parametrize("is_at_work", [False, True])
def test_what_was_stopped_has_nothing_left_to_do_whatever_dies(tmp_path, is_at_work):
    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        first = Engine(database, FakeClock(), "first")
        plan = [PlannedTask(prompt="one"), PlannedTask(prompt="two"), PlannedTask(prompt="three")]
        session = (await first.manager.create_session(tmp_path, plan)).id
        if is_at_work:
            await first.claim()
        first.dies_at(first.ledger, "cancel")
        with pytest.raises(Killed):
            await first.manager.stop_session(session)

        second = Engine(database, FakeClock(), "second")
        await second.ledger.recover()
        await second.manager.recover()
        tasks = await second.ledger.list(session)
        status = (await second.manager.get_session(session)).status
        await database.close()
        return status, {task.state for task in tasks}

    assert asyncio.run(main()) == (SessionStatus.STOPPED, {TaskState.CANCELLED})
