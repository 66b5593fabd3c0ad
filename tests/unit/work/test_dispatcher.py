"""The dispatcher on the real ledger: handlers start at once, and leave a settled row behind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from perpetualcc.domain.clock import Clock, SystemClock
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.events import TaskSettled
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Again, Done, Lane, NewTask, Outcome, Task, TaskState, Wait
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.work.dispatcher import Dispatcher
from perpetualcc.work.outcomes import Settlement
from tests.fakes.clock import FakeClock

LANES = {Lane.INTERACTIVE: 2, Lane.MAINTENANCE: 1}
SOON = timedelta(milliseconds=50)


class Script:
    """A handler that does what the task's prompt says."""

    def __init__(self) -> None:
        self.seen: list[Task] = []
        self.actions: dict[str, Callable[[Task], Awaitable[Outcome]]] = {}
        self.started = asyncio.Event()

    async def advance(self, task: Task) -> Outcome:
        self.seen.append(task)
        self.started.set()
        action = self.actions.get(task.prompt)
        return Done(result="done") if action is None else await action(task)


async def sleep_long(_task: Task) -> Outcome:
    await asyncio.sleep(600)
    return Done(result="never")


class Stage:
    """A ledger, a scripted handler and a dispatcher at work."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.events = EventLog(database, clock)
        self.ledger = SqliteLedger(database, clock, "engine")
        self.script = Script()
        self.dispatcher = Dispatcher(
            self.ledger,
            self.script,
            LANES,
            clock,
            lambda task, became: [TaskSettled(task=task.id, state=became.state)],
        )

    async def add(self, task: str, prompt: str = "", **options) -> None:
        await self.ledger.add(
            NewTask(id=TaskId(task), group=options.pop("group", task), prompt=prompt, **options)
        )
        self.dispatcher.wake()

    async def until(self, task: str, state: TaskState) -> Task:
        async with asyncio.timeout(10):
            while True:
                committed = self.database.next_commit()
                found = await self.ledger.get(TaskId(task))
                if found.state is state:
                    return found
                await committed.wait()


@asynccontextmanager
async def stage(tmp_path: Path, clock: Clock | None = None) -> AsyncIterator[Stage]:
    async with await Database.open(tmp_path / "db") as database, asyncio.TaskGroup() as group:
        on_stage = Stage(database, clock or SystemClock())
        group.create_task(on_stage.dispatcher.run())
        yield on_stage
        await on_stage.dispatcher.stop(timedelta(0))


def test_an_added_task_is_done_and_its_event_is_written(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            await on_stage.add("a")

            await on_stage.until("a", TaskState.DONE)

            assert [r.event.state for r in await on_stage.events.tail(None, 500)] == ["done"]

    asyncio.run(play())


def test_a_lane_runs_no_more_than_its_places_and_the_other_lane_goes_on(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            on_stage.script.actions["long"] = sleep_long
            for name in ("a", "b", "c"):
                await on_stage.add(name, "long")
            await on_stage.add("m", lane=Lane.MAINTENANCE)

            await on_stage.until("m", TaskState.DONE)

            assert on_stage.dispatcher.running[Lane.INTERACTIVE] == 2
            assert (await on_stage.ledger.get(TaskId("c"))).state is TaskState.QUEUED

    asyncio.run(play())


def test_a_handler_that_raises_is_tried_again_later_and_counted(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:

            async def fail(_task: Task) -> Outcome:
                raise ValueError("broken")

            on_stage.script.actions["fail"] = fail
            await on_stage.add("a", "fail")

            task = await on_stage.until("a", TaskState.WAITING)

            assert task.attempts == 1
            assert task.result == "ValueError: broken"
            assert 1.5 < task.due - task.updated_at < 2.6

    asyncio.run(play())


def test_a_task_starts_by_itself_when_its_time_comes(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            due = SystemClock().now() + 0.2
            await on_stage.add("a", due=due)

            await on_stage.until("a", TaskState.DONE)

            assert due <= SystemClock().now() < due + 2

    asyncio.run(play())


def test_a_clock_that_jumped_is_noticed_without_anybody_saying_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perpetualcc.domain.waiting.LONGEST_SLEEP", SOON)
    clock = FakeClock()

    async def play() -> None:
        async with stage(tmp_path, clock) as on_stage:
            await on_stage.add("a", due=clock.now() + 3600)
            await asyncio.sleep(0.2)
            assert on_stage.script.seen == []

            clock.move(3600)

            await on_stage.until("a", TaskState.DONE)

    asyncio.run(play())


def test_stop_lets_a_handler_finish_within_the_grace(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:

            async def short(_task: Task) -> Outcome:
                await asyncio.sleep(0.1)
                return Done(result="in time")

            on_stage.script.actions["short"] = short
            await on_stage.add("a", "short")
            await on_stage.script.started.wait()

            await on_stage.dispatcher.stop(timedelta(seconds=5))

            assert (await on_stage.ledger.get(TaskId("a"))).result == "in time"

    asyncio.run(play())


def test_stop_after_the_grace_leaves_the_task_to_be_resumed_uncounted(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            on_stage.script.actions["long"] = sleep_long
            await on_stage.add("a", "long")
            await on_stage.add("later", due=4e9)
            await on_stage.script.started.wait()

            await on_stage.dispatcher.stop(SOON)

            task = await on_stage.ledger.get(TaskId("a"))
            assert (task.state, task.attempts) == (TaskState.QUEUED, 0)
            assert on_stage.dispatcher.is_idle

    asyncio.run(play())


def test_an_answer_is_given_again_to_the_dispatch_after_an_interrupted_one(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:

            async def ask_then_hang(task: Task) -> Outcome:
                return Wait(signal="s") if task.answer is None else await sleep_long(task)

            on_stage.script.actions["ask"] = ask_then_hang
            await on_stage.add("a", "ask")
            await on_stage.until("a", TaskState.WAITING)
            await on_stage.ledger.signal("s", {"choice": "yes"})
            on_stage.dispatcher.wake()
            await on_stage.until("a", TaskState.RUNNING)
            await on_stage.dispatcher.stop(SOON)

            [again] = await on_stage.ledger.claim(LANES, 1)

            assert again.answer == {"choice": "yes"}

    asyncio.run(play())


def test_cancelling_a_running_task_cancels_its_handler(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            on_stage.script.actions["long"] = sleep_long
            await on_stage.add("a", "long")
            await on_stage.script.started.wait()

            state = await on_stage.dispatcher.cancel(TaskId("a"))

            assert state is TaskState.CANCELLED
            assert (await on_stage.events.tail(None, 500))[-1].event.state == "cancelled"

    asyncio.run(play())


def test_a_handler_that_ignores_its_cancellation_does_not_hold_up_the_cancel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perpetualcc.work.dispatcher._CANCEL_DEADLINE", SOON)

    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            let_go = asyncio.Event()

            async def stubborn(_task: Task) -> Outcome:
                try:
                    await asyncio.sleep(600)
                except asyncio.CancelledError:
                    await let_go.wait()
                return Done(result="too late")

            on_stage.script.actions["stubborn"] = stubborn
            await on_stage.add("a", "stubborn")
            await on_stage.script.started.wait()

            state = await on_stage.dispatcher.cancel(TaskId("a"))
            let_go.set()
            await on_stage.dispatcher.stop(timedelta(seconds=5))

            assert state is TaskState.CANCELLED
            assert (await on_stage.ledger.get(TaskId("a"))).result == "Cancelled"

    asyncio.run(play())


def test_a_task_that_is_stopped_before_its_first_step_is_resumed_later(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            claimed = asyncio.Event()
            claim = on_stage.ledger.claim

            async def claim_and_say(*arguments):
                tasks = await claim(*arguments)
                if tasks:
                    claimed.set()
                return tasks

            on_stage.ledger.claim = claim_and_say
            on_stage.script.actions["long"] = sleep_long
            await on_stage.add("a", "long")
            await claimed.wait()

            await on_stage.dispatcher.stop(timedelta(0))

            task = await on_stage.ledger.get(TaskId("a"))
            assert (task.state, task.attempts) == (TaskState.QUEUED, 0)
            assert [r.event.state for r in await on_stage.events.tail(None, 500)] == ["queued"]

    asyncio.run(play())


def test_nobody_is_told_of_an_outcome_that_was_dropped(tmp_path: Path) -> None:
    async def play() -> None:
        told: list[str] = []

        async def tell(task: Task, _became: Settlement) -> None:
            told.append(task.id)

        database = await Database.open(tmp_path / "db")
        ledger, script = SqliteLedger(database, SystemClock(), "engine"), Script()
        dispatcher = Dispatcher(ledger, script, LANES, SystemClock(), settled=tell)

        async def lose_the_task(task: Task) -> Outcome:
            await ledger.settle(task.id, task.fence, Done(result="by another"))
            return Done(result="dropped")

        script.actions["lose"] = lose_the_task
        await ledger.add(NewTask(id=TaskId("lost"), group="g", prompt="lose"))
        await ledger.add(NewTask(id=TaskId("kept"), group="g", prompt=""))
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            group.create_task(dispatcher.run())
            while True:
                committed = database.next_commit()
                if (await ledger.get(TaskId("kept"))).state is TaskState.DONE:
                    break
                await committed.wait()
            await dispatcher.stop(timedelta(seconds=5))
        await database.close()

        assert told == ["kept"]

    asyncio.run(play())


def test_a_task_that_goes_on_again_takes_turns_with_another_group(tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            order: list[str] = []
            both_wait = asyncio.Event()

            async def turns(task: Task) -> Outcome:
                order.append(task.group)
                await both_wait.wait()
                return Again(prompt="turns") if order.count(task.group) < 4 else Done(result="")

            on_stage.script.actions["turns"] = turns
            for name in ("a", "b"):
                await on_stage.add(name, "turns", lane=Lane.MAINTENANCE)
            both_wait.set()

            await on_stage.until("a", TaskState.DONE)
            await on_stage.until("b", TaskState.DONE)

            assert order == ["a", "b"] * 4

    asyncio.run(play())


def test_the_dispatcher_outlives_a_ledger_that_cannot_be_used_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perpetualcc.work.dispatcher._LEDGER_RETRY", SOON)

    async def play() -> None:
        async with stage(tmp_path) as on_stage:
            claim, settle = on_stage.ledger.claim, on_stage.ledger.settle
            failures = iter(range(2))

            async def first_fails(call, *arguments):
                if next(failures, None) is not None:
                    raise PerpetualError("The disk is full")
                return await call(*arguments)

            monkeypatch.setattr(on_stage.ledger, "claim", lambda *a: first_fails(claim, *a))
            monkeypatch.setattr(on_stage.ledger, "settle", lambda *a: first_fails(settle, *a))
            await on_stage.add("a")

            assert (await on_stage.until("a", TaskState.DONE)).result == "done"

    asyncio.run(play())


def test_who_must_be_told_of_a_settled_task_is_told_once_the_disk_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perpetualcc.work.dispatcher._LEDGER_RETRY", SOON)
    tries: list[TaskId] = []

    async def play() -> None:
        heard = asyncio.Event()

        async def told(task: Task, _became: Settlement) -> None:
            tries.append(task.id)
            if len(tries) < 3:
                raise PassingError("The disk is full")
            heard.set()

        async with stage(tmp_path) as on_stage, asyncio.timeout(10):
            on_stage.dispatcher._settled = told
            await on_stage.add("a")
            await heard.wait()

    asyncio.run(play())
    assert len(tries) == 3
    assert len(set(tries)) == 1
