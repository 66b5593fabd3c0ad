"""The ledger: from `add` to the handler's start, and a list of sessions that does not age."""

import asyncio
import math
import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.events import SessionStatusChanged, TaskSettled, TextSaid
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import Done, Lane, NewTask, Outcome, Task, TaskState, Wait
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.reports import SqliteReports
from perpetualcc.store.sessions import SessionStore
from perpetualcc.work.dispatcher import Dispatcher

_ADDED = 500
_WAITING = 1000
_FINISHED = 10_000
_EVENTS, _DAYS, _SESSIONS = 1_000_000, 100, 20


class _Stopwatch:
    """A handler that notes when it was started."""

    def __init__(self) -> None:
        self.started: dict[TaskId, float] = {}
        self.seen = asyncio.Event()

    async def advance(self, task: Task) -> Outcome:
        if task.prompt == "wait":
            return Wait(signal=f"never {task.id}")
        self.started[task.id] = time.perf_counter()
        self.seen.set()
        return Done(result="")


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Result]:
    latencies = await _add_to_start(folder / "ledger.db")
    few, many = await _list_times(folder)
    night = await _night(folder / "log.db")
    return [
        Result(
            name="add to start of a task, engine awake, p99",
            value=round(statistics.quantiles(latencies, n=100)[98] * 1000, 2),
            unit="ms",
            limit=50,
            note=f"median {statistics.median(latencies) * 1000:.2f} ms, {_WAITING} tasks waiting",
        ),
        Result(
            name=f"newest 10 sessions: {_FINISHED} finished against 10",
            value=round(many / few, 2),
            unit="times",
            limit=2,
            note=f"{few * 1000:.2f} ms against {many * 1000:.2f} ms",
        ),
        Result(
            name=f"report of a day, in a log of {_EVENTS:,} events",
            value=round(night * 1000, 1),
            unit="ms",
            limit=300,
            note="a person waits for it",
        ),
    ]


async def _add_to_start(path: Path) -> list[float]:
    database = await Database.open(path)
    ledger, stopwatch, latencies = SqliteLedger(database, SystemClock(), "bench"), _Stopwatch(), []
    dispatcher = Dispatcher(ledger, stopwatch, {Lane.INTERACTIVE: 20}, SystemClock())
    async with asyncio.TaskGroup() as group:
        group.create_task(dispatcher.run())
        for number in range(_WAITING):
            await ledger.add(NewTask(id=TaskId(f"w{number}"), group=f"w{number}", prompt="wait"))
        dispatcher.wake()
        changed = database.next_commit()  # before the look, or the last one is waited for in vain
        while await ledger.list(states=[TaskState.QUEUED, TaskState.RUNNING]):
            await changed.wait()
            changed = database.next_commit()
        for number in range(_ADDED):
            task = NewTask(id=TaskId(f"t{number}"), group=f"g{number % 20}", prompt="go")
            stopwatch.seen.clear()
            began = time.perf_counter()
            await ledger.add(task)
            dispatcher.wake()
            await stopwatch.seen.wait()
            latencies.append(stopwatch.started[task.id] - began)
        await dispatcher.stop(timedelta(seconds=5))
    await database.close()
    return latencies


async def _list_times(folder: Path) -> list[float]:
    """
    The best of many for each, taken in turns: what the work costs, whatever else the machine does.
    """
    databases = [await _with_sessions(folder / f"{count}.db", count) for count in (10, _FINISHED)]
    best = [math.inf, math.inf]
    for _ in range(300):
        for place, database in enumerate(databases):
            began = time.perf_counter()
            assert len(await SessionStore(database, SystemClock()).list(limit=10)) == 10
            best[place] = min(best[place], time.perf_counter() - began)
    for database in databases:
        await database.close()
    return best


async def _night(path: Path) -> float:
    """The best of ten, of the last day of a hundred."""
    clock = _Day()
    database = await Database.open(path)
    log, store = EventLog(database, clock), SessionStore(database, clock)
    sessions = [
        await store.create(name=f"s{n}", project=Path("/project"), options=SessionOptions())
        for n in range(_SESSIONS)
    ]
    for day in range(_DAYS):
        clock.day = day
        said = [TextSaid(session=one.id, text="It goes on") for one in sessions]
        ended = TaskSettled(session=sessions[0].id, task=TaskId(f"t{day}"), state="done")
        await log.append([*said * (_EVENTS // _DAYS // _SESSIONS), ended])
    best = math.inf
    for _ in range(10):
        began = time.perf_counter()
        told = await SqliteReports(database).since(clock.now() - 3600, clock.now())
        best = min(best, time.perf_counter() - began)
        assert len(told) == _SESSIONS
        assert len(told[0].tasks) == 1
    await database.close()
    return best


class _Day:
    """A clock that a whole day is one step of."""

    day = 0

    def now(self) -> float:
        return 1.8e9 + 86_400 * self.day


async def _with_sessions(path: Path, count: int) -> Database:
    database = await Database.open(path)
    store, log = SessionStore(database, SystemClock()), EventLog(database, SystemClock())
    for first in range(0, count, 500):
        created = await asyncio.gather(
            *(
                store.create(name=f"s{n}", project=Path("/project"), options=SessionOptions())
                for n in range(first, min(first + 500, count))
            )
        )
        await log.append(
            SessionStatusChanged(session=one.id, before="IDLE", after="COMPLETED")
            for one in created
        )
    return database
