"""Lanes that are closed for a while: what waits in them starts when they open."""

import asyncio
from datetime import timedelta

from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Done, Lane, NewTask, Outcome, Task
from perpetualcc.store.database import Database
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.work.dispatcher import Dispatcher


class Worker:
    """Notes what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.began = asyncio.Event()

    async def advance(self, task: Task) -> Outcome:
        self.seen.append(task.prompt)
        self.began.set()
        return Done(result="")


def test_a_closed_lane_starts_nothing_and_holds_up_no_other(tmp_path):
    closed = {Lane.CRON}

    async def scene() -> tuple[list[str], list[str]]:
        database = await Database.open(tmp_path / "pcc.db")
        ledger, worker = SqliteLedger(database, SystemClock(), "engine"), Worker()
        dispatcher = Dispatcher(
            ledger, worker, dict.fromkeys(Lane, 1), SystemClock(),
            is_open=lambda lane: lane not in closed,
        )  # fmt: skip
        for lane in (Lane.CRON, Lane.INTERACTIVE):
            await ledger.add(NewTask(id=TaskId(lane), group=lane, prompt=lane, lane=lane))
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(dispatcher.run())
            await worker.began.wait()
            await asyncio.sleep(0.2)
            before = list(worker.seen)
            worker.began.clear()
            closed.clear()
            dispatcher.wake()
            await worker.began.wait()
            await dispatcher.stop(timedelta(seconds=5))
        await database.close()
        return before, worker.seen

    before, after = asyncio.run(scene())

    assert before == ["interactive"]
    assert after == ["interactive", "cron"]
