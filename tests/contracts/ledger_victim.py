"""
An engine to be killed: it works on a ledger in a file, as fast as it can.

    python -m tests.contracts.ledger_victim DATABASE OWNER loop
    python -m tests.contracts.ledger_victim DATABASE OWNER STATE [before-commit]

`loop` recovers, claims and settles until it is killed. A STATE brings task `t` there and dies at
once by SIGKILL; with `before-commit` it dies inside the transaction that would have done it.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.events import TaskSettled
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import (
    Again,
    Done,
    Failed,
    Lane,
    Later,
    NewTask,
    Outcome,
    Parked,
    Task,
    TaskState,
    Wait,
)
from perpetualcc.store import tasks as rows
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger

ROOM = {Lane.INTERACTIVE: 4}
TURNS = 4
"""Dispatches that a task of the loop takes: on, on, a question, done."""


def next_step(task: Task) -> Outcome:
    turn = int(task.prompt)
    if turn == TURNS:
        return Done(result=str(task.answer))
    if turn == TURNS - 1 and task.answer is None:
        return Wait(signal=f"ask {task.id}")
    return Again(prompt=str(turn + 1)) if turn < TURNS - 1 else Done(result=str(task.answer["n"]))


async def work_on(ledger: SqliteLedger) -> bool:
    """One round. False when nothing is left to do."""
    for task in await ledger.claim(ROOM, 4):
        outcome = next_step(task)
        event = TaskSettled(task=task.id, state=type(outcome).__name__, result=task.prompt)
        await ledger.settle(task.id, task.fence, outcome, [event])
    for waiting in await ledger.list(states=[TaskState.WAITING]):
        await ledger.signal(waiting.signal, {"n": waiting.id})
    return bool(await ledger.list(states=[TaskState.QUEUED, TaskState.WAITING, TaskState.RUNNING]))


OUTCOMES = {
    "waiting": Wait(signal="answer"),
    "again": Again(prompt="on"),
    "later": Later(due=4e9),
    "done": Done(result="r"),
    "failed": Failed(result="r"),
    "parked": Parked(result="r"),
    "cancelled": Done(result="r"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def bring(ledger: SqliteLedger, state: str, before_commit: bool) -> None:
    new = NewTask(id=TaskId("t"), group="t", prompt="go")
    if before_commit and state == "queued":
        rows.insert = lambda *_: die()
    await ledger.add(new)
    if state == "queued":
        die()
    if before_commit and state == "running":
        ledger._start = lambda *_: die()
    [task] = await ledger.claim(ROOM, 1)
    if state == "cancelled":
        await ledger.cancel(task.id)
    if state == "running":
        die()
    if before_commit:
        EventLog.append_in = lambda *_: die()
    await ledger.settle(task.id, task.fence, OUTCOMES[state])
    die()


async def main() -> None:
    path, owner, state = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    ledger = SqliteLedger(await Database.open(path), SystemClock(), owner)
    if state != "loop":
        await bring(ledger, state, "before-commit" in sys.argv)
    await ledger.recover()
    sys.stdout.write("working\n")
    sys.stdout.flush()
    while await work_on(ledger):
        pass


if __name__ == "__main__":
    asyncio.run(main())
