"""A session's queue, over the ledger in memory."""

import asyncio
import time
from dataclasses import replace

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import TaskAdded
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.tasks import Done, Failed, Lane, TaskState
from perpetualcc.sessions.task_queue import (
    PlannedTask,
    TaskQueue,
    behind,
    can_be_done,
    order_of,
    tasks_of,
    the_one_named,
)
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import Memory, MemoryLedger

SESSION = SessionId("abc123")


def new_queue() -> tuple[TaskQueue, MemoryLedger]:
    ledger = MemoryLedger(Memory(), FakeClock(), owner="me")
    return TaskQueue(SESSION, ledger), ledger


def prompts(tasks) -> list[str]:
    return [task.prompt for task in tasks]


def test_what_is_in_hand_comes_first_then_priority_then_age():
    async def scene():
        queue, ledger = new_queue()
        for prompt, priority in (("first", 0), ("second", 0), ("urgent", 5), ("soon", 1)):
            await queue.add(prompt, priority=priority)
        assert prompts(await queue.pending()) == ["urgent", "soon", "first", "second"]

        await ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await queue.add("very urgent", priority=9)

        assert prompts(await queue.pending()) == [
            "urgent",
            "very urgent",
            "soon",
            "first",
            "second",
        ]

    asyncio.run(scene())


def test_a_task_and_the_event_that_tells_of_it_are_added_together():
    async def scene():
        queue, ledger = new_queue()

        task = await queue.add("write", priority=3)

        assert ledger.memory.events == [
            TaskAdded(session=SESSION, task=task.id, prompt="write", priority=3)
        ]

    asyncio.run(scene())


@pytest.mark.parametrize(
    "named",
    ["whole id", "id without its letter", "beginning", "prompt", "title", "number", "text"],
)
def test_what_must_come_first_is_named_in_several_ways(named):
    async def scene():
        queue, _ = new_queue()
        first = await queue.add("write the tests\nall of them")
        name = {
            "whole id": first.id,
            "id without its letter": first.id.removeprefix("t-"),
            "beginning": first.id[:6],
            "prompt": "write the tests\nall of them",
            "title": "write the tests",
            "number": "1",
            "text": "Write the",
        }[named]

        second = await queue.add("run them", after=[name])

        assert second.after == (first.id,)

    asyncio.run(scene())


def test_a_name_of_nothing_or_of_two_is_refused_and_nothing_is_added():
    async def scene():
        queue, _ = new_queue()
        with pytest.raises(PerpetualError, match="matches no task") as nothing:
            await queue.add("x", after=["zz"])
        assert "none yet" in nothing.value.hint
        for _ in range(2):
            await queue.add("the same")
        with pytest.raises(PerpetualError, match="matches several tasks") as several:
            await queue.add("x", after=["the same"])
        assert several.value.hint.count("(the same)") == 2
        for empty in ("", "  \n"):
            with pytest.raises(PerpetualError, match="The task is empty"):
                await queue.add(empty)

        assert prompts(await queue.everything()) == ["the same", "the same"]

    asyncio.run(scene())


def test_a_number_is_a_tasks_place_and_a_beginning_is_one_of_what_is_left():
    async def scene():
        queue, _ = new_queue()
        texts = ["2nd of all", "wash up", "2 plates are left", "wash the car", "7"]
        tasks = [await queue.add(text) for text in texts]

        def meant(name, *left):
            return the_one_named(name, tasks, sooner=[tasks[one] for one in left]).prompt

        assert meant("2") == "wash up", "and nothing that begins so"
        assert meant("2", 0, 2) == "wash up", "though it is over"
        assert meant("7") == "7", "its whole text"
        assert meant("wash", 3) == "wash the car"
        for name, why in (("wash", "matches several"), ("zebra", "matches no")):
            with pytest.raises(PerpetualError, match=why):
                meant(name)

    asyncio.run(scene())


@pytest.mark.parametrize("nothing", ["", " ", "t-"])
def test_no_name_names_no_task_though_there_is_only_one(nothing):
    async def scene():
        queue, _ = new_queue()
        await queue.add("the only one")

        with pytest.raises(PerpetualError, match="matches no task"):
            await queue.add("x", after=[nothing])
        with pytest.raises(PerpetualError, match="matches no task"):
            the_one_named(nothing, await queue.everything())

    asyncio.run(scene())


def test_finished_and_broken_tasks_are_kept_apart():
    async def scene():
        queue, ledger = new_queue()
        for prompt in ("good", "bad", "left"):
            await queue.add(prompt)
        for outcome in (Done(result="yes"), Failed(result="no")):
            [task] = await ledger.claim({Lane.INTERACTIVE: 1}, 1)
            await ledger.settle(task.id, task.fence, outcome)

        assert prompts(await queue.broken()) == ["bad"]
        assert prompts(await queue.pending()) == ["left"]

    asyncio.run(scene())


def test_a_plan_is_queued_in_an_order_in_which_it_can_be_done():
    plan = [
        PlannedTask(prompt="ship", after=(1, 2)),
        PlannedTask(prompt="build", after=(2,), priority=4),
        PlannedTask(prompt="test"),
    ]

    tasks = tasks_of(plan, SESSION, Lane.CRON)

    assert prompts(tasks) == ["test", "build", "ship"]
    test, build, ship = tasks
    assert ship.after == (build.id, test.id)
    assert (build.after, build.priority) == ((test.id,), 4)
    assert {(task.group, task.lane) for task in tasks} == {(SESSION, Lane.CRON)}


@pytest.mark.parametrize("after", [(0,), (1,), (7,)])
def test_a_plan_that_waits_for_itself_is_none(after):
    plan = [
        PlannedTask(prompt="a", after=after),
        PlannedTask(prompt="b", after=(0,)),
        PlannedTask(prompt="free"),
    ]

    with pytest.raises(PerpetualError, match="wait for each other"):
        tasks_of(plan, SESSION, Lane.INTERACTIVE)


def test_a_long_plan_is_put_in_order_at_once():
    """One task after the other, told in the opposite order: the engine waits for it."""
    most = 5_000
    plan = [PlannedTask(prompt=str(i), after=(i + 1,)) for i in range(most - 1)]
    begun = time.process_time()

    order = order_of([*plan, PlannedTask(prompt="first")])

    assert time.process_time() - begun < 2
    assert order == [*reversed(range(most))]


def test_what_can_be_done_first_stands_first_in_the_plans_order():
    afters = [(3,), (), (1,), (), (2, 0)]

    assert order_of([PlannedTask(prompt="x", after=after) for after in afters]) == [1, 3, 0, 2, 4]


def test_what_comes_after_a_task_at_several_removes_is_behind_it():
    first = asyncio.run(new_queue()[0].add("first"))
    then = replace(first, id=TaskId("t-then"), after=(first.id,))
    last = replace(first, id=TaskId("t-last"), after=(then.id,))
    over = replace(first, id=TaskId("t-over"), after=(first.id,), state=TaskState.DONE)
    beside = replace(first, id=TaskId("t-beside"))

    assert behind([first.id], [last, then, over, beside, first]) == [last, then]


def test_something_can_be_done_as_long_as_it_is_not_behind_what_stopped():
    first = asyncio.run(new_queue()[0].add("first"))
    names = [TaskId(f"t-{n}") for n in range(3_000)]
    chain = [
        replace(first, id=name, after=after)
        for name, after in zip(names, [(), *((name,) for name in names)], strict=False)
    ]
    stopped = [*reversed(chain[1:]), replace(chain[0], state=TaskState.PARKED)]

    began = time.process_time()
    assert can_be_done(chain)
    assert not can_be_done(stopped)
    assert can_be_done([*stopped, first])
    assert time.process_time() - began < 1
