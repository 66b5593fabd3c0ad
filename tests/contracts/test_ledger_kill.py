"""`kill -9` at any instruction: what was committed stays, what was not never happened."""

import asyncio
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import NewTask, Task, TaskState
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from tests.contracts.ledger_victim import ROOM, TURNS, work_on

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def victim(*arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.contracts.ledger_victim", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)


def afterwards(path: Path, work: Callable[[SqliteLedger, Database], Awaitable[T]]) -> T:
    """Open the file as the next engine does, with the guard."""

    async def play() -> T:
        async with await Database.open(path) as database:
            return await work(SqliteLedger(database, SystemClock(), "next"), database)

    return asyncio.run(play())


COMMITTED = {
    "queued": "queued",
    "running": "running",
    "waiting": "waiting",
    "again": "queued",
    "later": "waiting",
    "done": "done",
    "failed": "failed",
    "parked": "parked",
    "cancelled": "cancelled",
}


@pytest.mark.parametrize("state", list(COMMITTED))
@pytest.mark.parametrize("moment", ["after", "before-commit"])
def test_a_kill_in_every_state_keeps_exactly_what_was_committed(
    tmp_path: Path, state: str, moment: str
) -> None:
    path = tmp_path / "x.db"
    with victim(str(path), "first", state, moment) as process:
        assert process.wait(30) == -9

    async def look(ledger: SqliteLedger, _: Database) -> tuple[list[Task], list[Task]]:
        return await ledger.list(), await ledger.recover()

    found, recovered = afterwards(path, look)

    before = {"queued": [], "running": ["queued"]}.get(state, ["running"])
    assert [t.state for t in found] == ([COMMITTED[state]] if moment == "after" else before)
    if found and found[0].state == "running":
        expected = "cancelled" if state == "cancelled" else "queued"
        assert [(t.state, t.fence, t.attempts) for t in recovered] == [(expected, 2, 0)]
    else:
        assert recovered == []


def kill_often(path: Path, times: int, tasks: int) -> None:
    async def fill(ledger: SqliteLedger, _: Database) -> None:
        for number in range(tasks):
            name = f"t{number}"
            await ledger.add(NewTask(id=TaskId(name), group=f"g{number % 7}", prompt="1"))

    afterwards(path, fill)
    for number in range(times):
        with victim(str(path), f"engine {number}", "loop") as process:
            assert process.stdout.readline() == "working\n"
            time.sleep(random.uniform(0, 0.06))
            process.kill()


async def finish(ledger: SqliteLedger, database: Database) -> tuple[list[Task], list[tuple]]:
    await ledger.recover()
    # On a busy machine some task may be at work in more deaths in a row than are put up with.
    for task in await ledger.list(states=[TaskState.PARKED]):
        assert "The engine died" in task.result
        await ledger.requeue(task.id)
    while await work_on(ledger):
        pass
    events = [
        recorded.event for recorded in await EventLog(database, SystemClock()).tail(None, 100_000)
    ]
    settled = [event for event in events if event.state != TaskState.PARKED]
    return await ledger.list(), [(event.task, event.state, event.result) for event in settled]


def check_kills(path: Path, times: int, tasks: int) -> None:
    kill_often(path, times, tasks)

    ended, settled = afterwards(path, finish)

    # Each answer reached its own task, and each step was settled exactly once, with its event.
    assert [(t.state, t.result) for t in ended] == [(TaskState.DONE, t.id) for t in ended]
    steps = Counter(settled)
    assert set(steps.values()) == {1}
    assert len(steps) == len(ended) * TURNS == tasks * TURNS


def test_engines_killed_one_after_another_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path / "x.db", times=8, tasks=120)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_hundred_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path / "x.db", times=100, tasks=2000)


def test_a_second_engine_on_the_file_does_not_start_while_the_first_one_lives(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.db"
    kill_often(path, times=0, tasks=2000)
    with victim(str(path), "first", "loop") as first:
        assert first.stdout.readline() == "working\n"

        with victim(str(path), "second", "loop", stderr=subprocess.PIPE) as second:
            _, complaint = second.communicate(timeout=30)
        first.kill()

    assert second.returncode == 1
    assert f"pid {first.pid}" in complaint


def test_two_engines_that_get_around_the_guard_never_share_a_fence(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    kill_often(path, times=0, tasks=60)

    async def race() -> list[tuple[str, int]]:
        databases = [await Database.open(path, exclusive=False) for _ in range(2)]
        ledgers = [SqliteLedger(d, SystemClock(), str(n)) for n, d in enumerate(databases)]
        claimed: list[tuple[str, int]] = []

        async def claim_all(ledger: SqliteLedger) -> None:
            for _ in range(40):
                claimed.extend((t.id, t.fence) for t in await ledger.claim(ROOM, 1))

        async with asyncio.TaskGroup() as group:
            for ledger in ledgers:
                group.create_task(claim_all(ledger))
        for database in databases:
            await database.close()
        return claimed

    claimed = asyncio.run(race())

    # Seven groups, one task each: whoever was first.
    assert len(claimed) == len(set(claimed)) == 7
