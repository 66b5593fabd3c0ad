"""The ledgers that the contract is held against, behind calls that a test can read in a row."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, NewTask, Task, TaskState
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.work.ledger import Ledger, Repeats, nothing_repeats
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import Memory, MemoryLedger


class Calls:
    """A ledger whose calls return when they are done."""

    def __init__(self, ledger: Ledger, runner: asyncio.Runner) -> None:
        self._ledger = ledger
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._ledger, name)
        return lambda *args, **options: self._runner.run(method(*args, **options))

    def new(self, task: str, group: str | None = None, **options: Any) -> Task:
        """Add a task, in its own group unless told otherwise."""
        return self.add(NewTask(id=TaskId(task), group=group or task, prompt="go", **options))

    def take(self, limit: int = 1, lane: Lane = Lane.INTERACTIVE) -> list[Task]:
        return self.claim({lane: limit}, limit)

    def take_one(self) -> Task:
        [task] = self.take()
        return task

    def state(self, task: str) -> TaskState:
        return self.get(task).state


class MemoryBackend:
    """Several owners of one memory."""

    def __init__(self, path: Path) -> None:
        self._memory = Memory()

    async def open(self, clock: FakeClock, owner: str, repeats: Repeats) -> Ledger:
        return MemoryLedger(self._memory, clock, owner, repeats)

    async def events(self) -> Iterable[Event]:
        return self._memory.events

    async def close(self) -> None:
        pass


class SqliteBackend:
    """Several owners of one file, each with its own connection: the guard is not taken."""

    def __init__(self, path: Path) -> None:
        self._path = path / "ledger.db"
        self._databases: list[Database] = []

    async def open(self, clock: FakeClock, owner: str, repeats: Repeats) -> Ledger:
        self._databases.append(await Database.open(self._path, exclusive=False))
        return SqliteLedger(self._databases[-1], clock, owner, repeats)

    async def events(self) -> Iterable[Event]:
        return [
            recorded.event
            for recorded in await EventLog(self._databases[0], FakeClock()).tail(None, 500)
        ]

    async def close(self) -> None:
        for database in self._databases:
            await database.close()


BACKENDS = {"memory": MemoryBackend, "sqlite": SqliteBackend}


class World:
    """One ledger, one clock, any number of engines."""

    def __init__(self, backend: str, path: Path) -> None:
        self.clock = FakeClock()
        self._backend = BACKENDS[backend](path)
        self._runner = asyncio.Runner()

    def engine(self, owner: str = "one", repeats: Repeats = nothing_repeats) -> Calls:
        opened = self._runner.run(self._backend.open(self.clock, owner, repeats))
        return Calls(opened, self._runner)

    @property
    def events(self) -> list[Event]:
        return list(self._runner.run(self._backend.events()))

    def close(self) -> None:
        self._runner.run(self._backend.close())
        self._runner.close()
