"""What was committed reaches the database file beside the writer, and the log stays short."""

import asyncio
import itertools
import sqlite3
import time
from pathlib import Path

import pytest

from perpetualcc.store import checkpoint
from perpetualcc.store.database import Database

_NUMBERS = itertools.count()


def fill(connection: sqlite3.Connection, rows: int) -> None:
    connection.executemany(
        "INSERT INTO facts (project_path, category, fact, source, provenance, created_at)"
        " VALUES ('p', 'decision', ?, '', 'user', 0)",
        [(f"{next(_NUMBERS):012d} {'x' * 2_000}",) for _ in range(rows)],
    )


def log_bytes(path: Path) -> int:
    return path.with_name(path.name + "-wal").stat().st_size


async def until(path: Path, rows: int) -> None:
    """Until the file itself, without its log, is large enough to hold the rows."""
    while path.stat().st_size < rows * 2_000:
        await asyncio.to_thread(time.sleep, 0.02)


def test_no_commit_moves_the_log_and_another_thread_does(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def play() -> int:
        database = await Database.open(path)
        pages = await database.read(lambda c: c.execute("PRAGMA wal_autocheckpoint").fetchone()[0])
        for _ in range(12):
            await database.write(lambda c: fill(c, 100))
        await asyncio.wait_for(until(path, 1_000), 10)
        await database.close()
        return int(pages)

    assert asyncio.run(play()) == 0


def longest_log(path: Path) -> int:
    async def play() -> int:
        database = await Database.open(path)
        longest = 0
        for _ in range(60):
            await asyncio.gather(*(database.write(lambda c: fill(c, 25)) for _ in range(10)))
            longest = max(longest, log_bytes(path))
        await database.close()
        return longest

    return asyncio.run(play())


def test_a_writer_that_never_pauses_does_not_make_the_log_endless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "LONGEST", 200)
    kept_short = longest_log(tmp_path / "x.db")
    monkeypatch.setattr(checkpoint, "_CHANGES", 10**9)
    monkeypatch.setattr(checkpoint, "_COMMITS", 10**9)

    endless = longest_log(tmp_path / "y.db")

    assert kept_short < endless / 2


def test_a_reader_that_holds_the_log_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def play() -> float:
        database = await Database.open(path)
        await database.write(lambda c: fill(c, 10))
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM facts").fetchone()
        started = time.monotonic()
        for _ in range(30):
            await database.write(lambda c: fill(c, 100))
        took = time.monotonic() - started
        reader.close()
        for _ in range(11):
            await database.write(lambda c: fill(c, 100))
        await asyncio.wait_for(until(path, 3_500), 10)
        await database.close()
        return took

    # SQLite would wait five seconds for a lock that somebody else holds.
    assert asyncio.run(play()) < 5


def test_a_closed_database_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def play() -> None:
        database = await Database.open(path)
        for _ in range(12):
            await database.write(lambda c: fill(c, 100))
        await database.close()

    asyncio.run(play())

    assert not path.with_name("x.db-wal").exists()
