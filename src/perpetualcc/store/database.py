"""
One SQLite file, owned by one thread. The event loop never waits for the disk.

Reads and writes happen in the order in which they were asked for. Writes that wait together are
committed together, each in its own savepoint, so that one that fails undoes only itself. While
another process writes, what reads goes ahead of what waits for it: WAL keeps no reader waiting.
"""

import asyncio
import contextlib
import errno
import logging
import os
import queue
import sqlite3
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from perpetualcc.domain.errors import PassingError
from perpetualcc.store import schema
from perpetualcc.store.checkpoint import Checkpointer
from perpetualcc.store.guard import WriterGuard, refuse_emptied
from perpetualcc.store.problems import DatabaseError, explain

T = TypeVar("T")
Values = Sequence[Any] | Mapping[str, Any]
log = logging.getLogger(__name__)

_BUSY_SECONDS = 5.0
_PATIENCE = 0.05
"""Seconds that a write waits for another process's before those who read are looked after."""
_LARGEST_BATCH = 64
"""So that the first of a crowd does not wait for the last."""
_MOST_OWED = 10_000
"""Writes that are kept while there is no room for them: an hour of a busy session's notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """Something to do with the connection, and whom to tell."""

    work: Callable[[sqlite3.Connection], Any]
    writes: bool = False
    durable: bool = False
    waiter: "asyncio.Future[Any] | None" = None
    """None: nobody waits for it; while the file is locked or the disk full it is kept."""

    @property
    def is_wanted(self) -> bool:
        return self.waiter is None or not self.waiter.cancelled()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of a job, for the loop to hand on."""

    waiter: "asyncio.Future[Any]"
    result: Any = None
    error: Exception | None = None

    def give(self) -> None:
        if self.waiter.done():  # cancelled meanwhile
            return
        if self.error is None:
            self.waiter.set_result(self.result)
        else:
            self.waiter.set_exception(self.error)


class Database:
    """
    The one connection to the one file.

    `read` and `write` raise `DatabaseError` for what a person can mend (full disk, lost
    permissions, damage); what the given function raises passes through, and its writes are undone.
    A caller that is cancelled while its write is under way does not know whether it happened.
    """

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.path = path
        self._loop = loop
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._taken: deque[_Job | None] = deque()
        """Jobs that the thread has looked at and not done yet, oldest first."""
        self._owed: deque[_Job] = deque()
        """Writes that nobody waits for and that could not be made: they go before the next one."""
        self._is_behind = False
        self._lost = 0
        """Of these, how many there was no room to keep since one was made."""
        self._committed = defaultdict[frozenset[str] | None, asyncio.Event](asyncio.Event)
        """Who waits for a commit, by the topics that it must touch."""
        self._touched = set[str]()
        self._guard: WriterGuard | None = None
        self._checkpoints: Checkpointer | None = None
        self._connection: sqlite3.Connection | None = None
        self._synchronous = ""
        """What the connection is set to: setting it takes as long as a small write."""
        self._opened: os.stat_result | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._serve, name="database", daemon=True)

    @classmethod
    async def open(cls, path: Path, *, exclusive: bool = True) -> Self:
        """
        Open or create the file (0600, missing directories 0700) and bring its schema up to date.

        Without `exclusive` the single-writer guard is not taken: only for tools that look.
        Raises `DatabaseError`: another engine owns it, newer, damaged, read-only, locked.
        """
        database = cls(path, asyncio.get_running_loop())
        database._thread.start()
        try:
            await database._submit(lambda _: database._open(exclusive))
        except BaseException:
            await database.close()
            raise
        return database

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` outside a transaction. It sees committed data only, and must not write."""
        result: T = await self._submit(work)
        return result

    async def write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = False) -> T:
        """
        Run `work` in a transaction, and return when it is committed.

        Every commit survives the death of this process. `durable` survives the power going
        (`synchronous=FULL`): for intents, and for what a person was told is kept.
        """
        result: T = await self._submit(work, writes=True, durable=durable)
        return result

    async def rows(self, sql: str, values: Values = ()) -> list[sqlite3.Row]:
        """`read` one query."""
        return await self.read(lambda c: c.execute(sql, values).fetchall())

    async def row(self, sql: str, values: Values = ()) -> Any:
        """`read` the first row of one query; None: there is none."""
        return await self.read(lambda c: c.execute(sql, values).fetchone())

    async def execute(
        self, sql: str, values: Values = (), *, durable: bool = False
    ) -> sqlite3.Cursor:
        """`write` by one statement."""
        return await self.write(lambda c: c.execute(sql, values), durable=durable)

    def write_soon(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        """
        Run `work` before anything that is asked for from now on; nobody waits for it.

        For what tells of something that has happened already. While trouble passes (another
        process keeps the file busy, the disk is full) it is kept, and goes with the next write;
        of very many the oldest are lost, and the log says how many. Another failure is logged.
        """
        if self._is_closed:
            raise RuntimeError(f"database {str(self.path)!r} is closed")
        self._jobs.put(_Job(work=work, writes=True))

    def touch(self, topic: str) -> None:
        """What the transaction under way is about, from inside its work: see `next_commit`."""
        self._touched.add(topic)

    def next_commit(self, topics: Collection[str] | None = None) -> asyncio.Event:
        """
        Is set by the next commit that changes something, and by `close`. Take it, then read.

        With `topics` only by one that touched one of them.
        """
        return self._committed[None if topics is None else frozenset(topics)]

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def close(self) -> None:
        """Finish what was asked for, close the file, let go of the guard. Twice is once."""
        if self._is_closed:
            return
        self._is_closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        for waiting in self._committed.values():
            waiting.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _submit(
        self,
        work: Callable[[sqlite3.Connection], Any],
        *,
        writes: bool = False,
        durable: bool = False,
    ) -> Any:
        if self._is_closed:
            raise RuntimeError(f"database {str(self.path)!r} is closed")
        waiter = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(work=work, writes=writes, durable=durable, waiter=waiter))
        return await waiter

    def _answered(self, answers: list[_Answer], touched: set[str] | None) -> None:
        """`touched`: the topics of a commit that changed something."""
        for answer in answers:
            answer.give()
        if touched is not None:
            for topics in list(self._committed):
                if topics is None or not topics.isdisjoint(touched):
                    self._committed.pop(topics).set()

    # From here on everything runs on the database's own thread.

    def _serve(self) -> None:
        while (job := self._taken.popleft() if self._taken else self._jobs.get()) is not None:
            if job.writes:
                self._commit(self._gather(job))
            else:
                self._run_alone(job)
        if self._owed:
            self._commit([])
        self._tell_lost(len(self._owed))
        self._shut()

    def _gather(self, first: _Job) -> list[_Job]:
        """The writes that wait already, up to the next read."""
        batch = [first]
        self._take_all()
        while self._taken and len(batch) < _LARGEST_BATCH:
            job = self._taken[0]
            if job is None or not job.writes:
                break
            batch.append(job)
            self._taken.popleft()
        return batch

    def _take_all(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._taken.append(self._jobs.get_nowait())

    def _answer_readers(self) -> None:
        """Whoever waits to read, ahead of the writes; these keep their order."""
        self._take_all()
        readers = [job for job in self._taken if job is not None and not job.writes]
        self._taken = deque(job for job in self._taken if job is None or job.writes)
        for job in readers:
            self._run_alone(job)

    def _run_alone(self, job: _Job) -> None:
        if job.waiter is None or not job.is_wanted:
            return
        try:
            work = partial(job.work, self._connection)  # type: ignore[arg-type]
            result = work() if self._connection is None else _patiently(work)
            answer = _Answer(job.waiter, result)
        except Exception as error:  # noqa: BLE001  # handed to whoever asked
            answer = _Answer(job.waiter, error=self._explained(error))
        self._tell_loop([answer])

    def _commit(self, batch: list[_Job]) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101  # `open` succeeded, or nobody can submit
        owed, self._owed = self._owed, deque()
        batch = [*owed] + [job for job in batch if job.is_wanted]
        before = connection.total_changes
        self._touched = set()
        try:
            self._refuse_lost_file()
            # Not allowed inside a transaction, hence for the whole batch.
            level = "FULL" if any(job.durable for job in batch) else "NORMAL"
            if level != self._synchronous:
                connection.execute(f"PRAGMA synchronous = {level}")
                self._synchronous = level
            # While another process is the file's writer, those who only read are answered.
            _patiently(lambda: connection.execute("BEGIN IMMEDIATE"), self._answer_readers)
            results = _all_of(connection, batch)
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001  # handed to whoever asked
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._tell_loop(self._answers(batch, [(None, error)] * len(batch)))
            return
        changes = connection.total_changes - before
        self._tell_loop(self._answers(batch, results), self._touched if changes else None)
        if not self._owed:
            self._is_behind = False
            self._tell_lost()
        if self._checkpoints is not None:
            self._checkpoints.committed(connection, changes)

    def _tell_loop(self, answers: list[_Answer], touched: set[str] | None = None) -> None:
        """All at once: each word to another thread wakes it."""
        if answers or touched is not None:
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody is left to tell
                self._loop.call_soon_threadsafe(self._answered, answers, touched)

    def _answers(
        self, batch: list[_Job], results: list[tuple[Any, Exception | None]]
    ) -> list[_Answer]:
        answers = []
        for job, (result, problem) in zip(batch, results, strict=True):
            error = None if problem is None else self._explained(problem)
            if job.waiter is not None:
                answers.append(_Answer(job.waiter, result, error))
            elif error is not None:
                self._owe(job, error)
        return answers

    def _owe(self, job: _Job, error: Exception) -> None:
        if not isinstance(error, PassingError):
            log.error("not written: %s", error)
            return
        if not self._is_behind:
            log.warning("not written yet: %s", error)
        self._is_behind = True
        self._owed.append(job)
        if len(self._owed) > _MOST_OWED:
            self._owed.popleft()
            self._lost += 1

    def _tell_lost(self, more: int = 0) -> None:
        lost, self._lost = self._lost + more, 0
        if lost:
            log.error("%d writes are lost: the database stayed locked, or the disk full", lost)

    def _refuse_lost_file(self) -> None:
        """SQLite goes on writing in a file that was removed, which is gone with this process."""
        with contextlib.suppress(OSError):
            if self._opened is None or os.path.samestat(self.path.stat(), self._opened):
                return
        raise DatabaseError(
            f"The database {str(self.path)!r} was removed or replaced while it was in use",
            hint="Put it back, or go on with what is there now: pcc daemon restart",
        )

    def _explained(self, error: Exception) -> Exception:
        return explain(error, self.path) if isinstance(error, sqlite3.Error) else error

    def _open(self, exclusive: bool) -> None:
        is_new = not self.path.exists()
        if not is_new:
            refuse_emptied(self.path)
        try:
            _make_private(self.path)
        except OSError as error:
            raise explain(error, self.path) from error
        if exclusive:
            self._guard = WriterGuard.take(self.path, is_new=is_new)
        self._connection = connection = sqlite3.connect(
            self.path, isolation_level=None, timeout=_BUSY_SECONDS
        )
        connection.row_factory = sqlite3.Row
        schema.refuse_foreign(connection, self.path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        # Else a commit on macOS is with the disk, which may keep it in its own memory.
        connection.execute("PRAGMA fullfsync = ON")
        schema.migrate(connection)
        if self._guard is not None:
            self._guard.filled()
        self._opened = self.path.stat()
        if exclusive:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            self._checkpoints = Checkpointer(self.path)
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    def _shut(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.close()
        if self._connection is not None:
            self._connection.close()
        if self._guard is not None:
            self._guard.release()


def _patiently(attempt: Callable[[], T], meanwhile: Callable[[], None] = lambda: None) -> T:
    """Try for five seconds while another process keeps the file busy."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
        meanwhile()


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _all_of(
    connection: sqlite3.Connection, batch: list[_Job]
) -> list[tuple[Any, Exception | None]]:
    """What each returned or raised. One alone needs no savepoint: its error undoes it."""
    if len(batch) == 1:
        return [(batch[0].work(connection), None)]
    return [_in_savepoint(connection, job.work) for job in batch]


def _in_savepoint(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]
) -> tuple[Any, Exception | None]:
    """
    What `work` returned or raised. Raised again when SQLite gave up the whole transaction,
    as it does on a full disk: then nothing of the batch is kept.
    """
    connection.execute("SAVEPOINT job")
    try:
        result = work(connection)
    except Exception as error:
        if not connection.in_transaction:
            raise
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return None, error
    connection.execute("RELEASE job")
    return result, None


def _make_private(path: Path) -> None:
    """Create what is missing: directories 0700, the file 0600 (SQLite's own files follow it)."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if not path.is_file():  # a link to a device, say: its permissions are none of ours
        raise OSError(errno.EINVAL, "it is no file")
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
