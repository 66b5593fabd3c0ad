"""One thread, one file: what is committed stays, and what cannot be is said in words."""

import asyncio
import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.database import Database
from perpetualcc.store.inspection import trouble_of
from perpetualcc.store.schema import migrations

T = TypeVar("T")
LATEST = int(max(migrations())[:4])


def use(path: Path, work: Callable[[Database], Awaitable[T]], **options) -> T:
    """Open, work, close."""

    async def play() -> T:
        async with await Database.open(path, **options) as database:
            return await work(database)

    return asyncio.run(play())


async def look(database: Database) -> int:
    return await database.read(lambda c: c.execute("PRAGMA user_version").fetchone()[0])


def note(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("INSERT INTO task_groups (name) VALUES (?)", (name,))


def names(connection: sqlite3.Connection) -> list[str]:
    return [row["name"] for row in connection.execute("SELECT name FROM task_groups ORDER BY name")]


def test_a_commit_on_macos_is_flushed_from_the_disk_s_own_memory_too(tmp_path: Path) -> None:
    async def flushes(database: Database) -> tuple[int, int]:
        return await database.read(
            lambda c: tuple(
                c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "fullfsync")
            )
        )

    assert use(tmp_path / "x.db", flushes) == (2, 1)


def test_a_new_file_and_its_directories_are_private(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.db"

    version = use(path, look)

    assert version == LATEST
    assert (path.parent.parent.stat().st_mode & 0o777) == 0o700
    assert (path.parent.stat().st_mode & 0o777) == 0o700
    assert all((file.stat().st_mode & 0o077) == 0 for file in path.parent.iterdir())


def test_a_file_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch(mode=0o644)

    use(path, look)

    assert (path.stat().st_mode & 0o777) == 0o600


def test_the_file_is_in_wal_mode_with_foreign_keys(tmp_path: Path) -> None:
    async def work(database: Database) -> tuple[str, int]:
        return await database.read(
            lambda c: (
                c.execute("PRAGMA journal_mode").fetchone()[0],
                c.execute("PRAGMA foreign_keys").fetchone()[0],
            )
        )

    assert use(tmp_path / "x.db", work) == ("wal", 1)


def test_writes_that_wait_together_fail_apart(tmp_path: Path) -> None:
    async def work(database: Database) -> list:
        def broken(connection: sqlite3.Connection) -> None:
            note(connection, "undone")
            raise ValueError("mine")

        writes = [lambda c, n=name: note(c, n) for name in "abcde"]
        writes.insert(2, broken)
        told = await asyncio.gather(*map(database.write, writes), return_exceptions=True)
        return [told, await database.read(names)]

    told, kept = use(tmp_path / "x.db", work)

    assert [type(one) for one in told] == [type(None)] * 2 + [ValueError] + [type(None)] * 3
    assert kept == list("abcde")


def test_a_constraint_that_is_broken_is_a_bug_and_passes_through(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await database.write(lambda c: note(c, "a"))
        await database.write(lambda c: note(c, "a"))

    with pytest.raises(sqlite3.IntegrityError):
        use(tmp_path / "x.db", work)


def test_a_read_sees_what_was_written_before_it_was_asked_for(tmp_path: Path) -> None:
    async def work(database: Database) -> list[str]:
        async with asyncio.TaskGroup() as group:
            for name in "abc":
                group.create_task(database.write(lambda c, n=name: note(c, n)))
            seen = group.create_task(database.read(names))
        return seen.result()

    assert use(tmp_path / "x.db", work) == ["a", "b", "c"]


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_durable_write_waits_for_the_disk(tmp_path: Path, durable: bool, level: int) -> None:
    async def work(database: Database) -> int:
        return await database.write(
            lambda c: c.execute("PRAGMA synchronous").fetchone()[0], durable=durable
        )

    assert use(tmp_path / "x.db", work) == level


def test_a_commit_is_announced_and_a_write_that_changes_nothing_is_not(tmp_path: Path) -> None:
    async def work(database: Database) -> list[bool]:
        first = database.next_commit()
        await database.write(names)
        await asyncio.sleep(0.01)
        quiet = first.is_set()
        await database.write(lambda c: note(c, "a"))
        async with asyncio.timeout(5):
            await first.wait()
        return [quiet, first.is_set()]

    assert use(tmp_path / "x.db", work) == [False, True]


def test_a_commit_is_told_to_those_whom_it_concerns(tmp_path: Path) -> None:
    async def work(database: Database) -> list[bool]:
        ours, others = database.next_commit(["ours", "more"]), database.next_commit(["others"])
        await database.write(lambda c: (database.touch("ours"), note(c, "a")))
        await database.write(lambda c: note(c, "b"))
        return [ours.is_set(), others.is_set()]

    assert use(tmp_path / "x.db", work) == [True, False]


def test_a_write_whose_caller_left_before_it_began_is_not_made(tmp_path: Path) -> None:
    goes_on = threading.Event()

    async def work(database: Database) -> list[str]:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(database.read(lambda _: goes_on.wait(5)))
            leaving = tasks.create_task(database.write(lambda c: note(c, "left")))
            await asyncio.sleep(0.01)
            leaving.cancel()
            await asyncio.sleep(0)
            goes_on.set()
        return await database.read(names)

    assert use(tmp_path / "x.db", work) == []


def test_a_second_engine_on_the_file_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await Database.open(database.path)

    with pytest.raises(PerpetualError, match=f"pid {os.getpid()}") as caught:
        use(tmp_path / "x.db", work)

    assert "pcc daemon" in caught.value.hint


def test_a_lock_file_left_by_a_dead_engine_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    code = (
        "import asyncio, os, pathlib, sys; from perpetualcc.store.database import Database\n"
        "async def main():\n"
        "    await Database.open(pathlib.Path(sys.argv[1]))\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )

    died = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=30)

    assert died.returncode == -9
    assert path.with_name("x.db.lock").exists()
    assert use(path, look) == LATEST


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    use(path, look)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = path.read_bytes()

    with pytest.raises(PerpetualError, match="newer version") as caught:
        use(path, look)

    assert "Upgrade" in caught.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"this is a diary\n" * 400, b"SQLite format 3\0" + b"x" * 4000]
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)

    with pytest.raises(PerpetualError, match="damaged") as caught:
        use(path, look)

    assert "Nothing was changed" in caught.value.hint
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE photos (id)")

    with pytest.raises(PerpetualError, match="another program"):
        use(path, look)


def test_damage_found_later_is_said_in_words(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    use(path, look)
    pages = path.stat().st_size // 4096
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * (pages - 1))

    async def work(database: Database) -> None:
        await database.write(lambda c: note(c, "a"))

    with pytest.raises(PerpetualError, match="damaged"):
        use(path, work)


def test_a_path_that_cannot_be_a_file_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(PerpetualError, match="cannot be opened") as caught:
        use(tmp_path / "file" / "x.db", look)

    assert "permissions" in caught.value.hint


def test_a_directory_that_cannot_be_written_is_said_in_words(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)

    with pytest.raises(PerpetualError, match="Permission denied"):
        use(tmp_path / "x.db", look)


def test_a_full_disk_undoes_the_write_and_the_rest_goes_on(tmp_path: Path) -> None:
    async def work(database: Database) -> list[str]:
        await database.write(lambda c: note(c, "before"))
        await database.read(
            lambda c: c.execute(
                f"PRAGMA max_page_count = {c.execute('PRAGMA page_count').fetchone()[0]}"
            )
        )
        with pytest.raises(PerpetualError, match="disk is full"):
            await database.write(lambda c: [note(c, f"{n} " + "x" * 2000) for n in range(50)])
        return await database.read(names)

    assert use(tmp_path / "x.db", work) == ["before"]


async def fill(database: Database, pages: int | None = None) -> None:
    """Let there be no room for more than so many pages; by default for none beyond those used."""
    await database.read(
        lambda c: c.execute(
            f"PRAGMA max_page_count = {pages or c.execute('PRAGMA page_count').fetchone()[0]}"
        )
    )


@pytest.mark.parametrize("together", [False, True])
def test_what_nobody_waits_for_is_kept_until_there_is_room(
    tmp_path: Path, together: bool, monkeypatch, caplog
) -> None:
    monkeypatch.setattr("perpetualcc.store.database._MOST_OWED", 20)
    large = "x" * 5000

    async def work(database: Database) -> list[str]:
        await fill(database)
        for number in range(23):
            database.write_soon(lambda c, n=number: note(c, f"{n:02} {large}"))
            if not together:
                await database.read(names)
        with pytest.raises(PerpetualError, match="disk is full"):
            await database.write(lambda c: note(c, large))
        await fill(database, 1_000_000)
        await database.write(lambda c: note(c, "99"))
        return await database.read(names)

    kept = [name[:2] for name in use(tmp_path / "x.db", work)]

    assert kept == [f"{number:02}" for number in range(3, 23)] + ["99"]
    assert "3 writes are lost" in caplog.text
    assert caplog.text.count("not written yet") == 1


def test_what_is_not_written_in_the_end_is_counted(tmp_path: Path, caplog) -> None:
    async def work(database: Database) -> None:
        await fill(database)
        for number in range(4):
            database.write_soon(lambda c, n=number: note(c, f"{n} " + "x" * 5000))

    use(tmp_path / "x.db", work)

    assert "4 writes are lost" in caplog.text


def test_a_file_that_another_program_locks_is_said_in_words(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("perpetualcc.store.database._BUSY_SECONDS", 0.05)
    path = tmp_path / "x.db"
    use(path, look)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def work(database: Database) -> None:
        await database.write(lambda c: note(c, "a"))

    with pytest.raises(PerpetualError, match="locked by another program"):
        use(path, work)
    other.close()


def test_reads_do_not_wait_for_the_writes_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    async def work(database: Database) -> tuple[float, list[str], list[str]]:
        await database.write(lambda c: note(c, "before"))
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.TaskGroup() as group:
            for name in ("first", "second"):
                group.create_task(database.write(lambda c, name=name: note(c, name)))
                await asyncio.sleep(0.01)
            begun = time.monotonic()
            seen = [await database.read(names) for _ in range(5)]
            took = time.monotonic() - begun
            other.execute("ROLLBACK")
        return took, seen[-1], await database.read(names)

    took, meanwhile, afterwards = use(path, work)

    other.close()
    assert took < 2.0, "the lock would have been waited for, for five seconds"
    assert meanwhile == ["before"]
    assert afterwards == ["before", "first", "second"]


def test_a_migration_that_fails_leaves_nothing_of_itself(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.db"
    broken = {**migrations(), "9999_broken": "CREATE TABLE half (id); CREATE TABLE half (id);"}
    monkeypatch.setattr("perpetualcc.store.schema.migrations", lambda: broken)

    with pytest.raises(sqlite3.OperationalError):
        use(path, look)
    monkeypatch.undo()

    assert use(path, look) == LATEST


def test_the_guard_is_let_go_when_opening_fails(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"diary" * 1000)

    with pytest.raises(PerpetualError):
        use(path, look)

    with path.with_name("x.db.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_closed_database_takes_nothing_more_and_closes_again(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await database.close()
        await database.close()
        with pytest.raises(RuntimeError, match="closed"):
            await database.read(names)

    use(tmp_path / "x.db", work)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_removed_takes_nothing_until_it_is_back(tmp_path: Path, replaced) -> None:
    """SQLite would go on in it, and all that is said to be kept is gone with the process."""
    path, away = tmp_path / "test.db", tmp_path / "away.db"

    async def story(database: Database) -> list[str]:
        path.rename(away)
        if replaced:
            path.touch()
        with pytest.raises(PerpetualError, match="removed or replaced") as refused:
            await database.write(lambda c: note(c, "lost"))
        assert "pcc daemon restart" in (refused.value.hint or "")
        away.rename(path)
        await database.write(lambda c: note(c, "kept"))
        return await database.read(names)

    assert use(path, story) == ["kept"]


def test_a_device_in_the_place_of_the_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    os.mkfifo(path.with_name("pipe"))
    path.with_name("pipe").chmod(0o644)
    path.symlink_to("pipe")

    with pytest.raises(PerpetualError, match="it is no file"):
        use(path, look)

    assert path.stat().st_mode & 0o777 == 0o644


def test_a_database_that_lost_all_its_bytes_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    use(path, look)
    os.truncate(path, 0)
    log = path.with_name("x.db-wal")
    log.write_bytes(b"what may hold the sessions")

    with pytest.raises(PerpetualError, match="is empty, and was not") as refused:
        use(path, look)

    assert trouble_of(path) is not None
    assert (path.stat().st_size, log.read_bytes()) == (0, b"what may hold the sessions")
    assert f"rm {path}" in (refused.value.hint or "")
    log.unlink()
    path.unlink()
    assert use(path, look) == LATEST


def test_an_empty_file_that_never_held_anything_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch()

    assert use(path, look) == LATEST
    assert trouble_of(path) is None


@pytest.mark.parametrize("name", ["x.db", "x.db.lock"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(10)
def test_what_is_no_file_in_the_place_of_ours_is_named_at_once(tmp_path, name, make) -> None:
    path = tmp_path / "x.db"
    make(tmp_path / name)

    with pytest.raises(PerpetualError, match="cannot be opened"):
        use(path, look)
    if name == "x.db":
        assert "it is no file" in str(trouble_of(path))
