"""What is written of a run while another program holds the database's lock."""

import asyncio
import sqlite3
from datetime import timedelta
from types import SimpleNamespace

import pytest

from perpetualcc.agent import patience
from perpetualcc.agent.patience import until_written
from perpetualcc.daemon.people import HumanBridge
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import TextSaid
from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.store import database as databases
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.journal import SqliteJournal

SAID = TextSaid(session=SessionId("s"), run=RunId("r"), task=TaskId("t"), text="All done.")


def test_what_claude_says_is_written_once_the_lock_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "_BUSY_SECONDS", 0.1)
    tries = []

    class Counted(EventLog):
        async def append(self, events, **more):
            tries.append(1)
            if len(tries) == 2:
                other.execute("ROLLBACK")
            return await super().append(events, **more)

    async def main():
        async with await Database.open(tmp_path / "pcc.db") as database:
            log = Counted(database, SystemClock())
            journal = SqliteJournal(
                database, events=log, sessions=None, runs=None, decisions=None, ledger=None
            )
            other.execute("BEGIN IMMEDIATE")
            await journal.record(SAID)
            return [one.event.text for one in await log.tail(SAID.session, 9)]

    asyncio.run(_open_once(tmp_path))
    other = sqlite3.connect(tmp_path / "pcc.db", isolation_level=None)

    assert asyncio.run(main()) == ["All done."]
    assert len(tries) == 2
    other.close()


async def _open_once(tmp_path) -> None:
    await (await Database.open(tmp_path / "pcc.db")).close()


def test_patience_has_an_end_where_a_run_goes_on(monkeypatch):
    monkeypatch.setattr(patience, "_AGAIN", timedelta())

    async def never():
        raise PassingError("the disk is full")

    with pytest.raises(PassingError):
        asyncio.run(until_written(never, within=timedelta(milliseconds=20)))
    assert timedelta(seconds=12) < patience.PATIENCE


def test_what_nobody_waits_for_is_kept_while_the_database_is_locked(tmp_path, monkeypatch):
    """Tokens and what Claude said: nobody writes them again."""
    monkeypatch.setattr(databases, "_BUSY_SECONDS", 0.05)

    def said(text):
        return [TextSaid(session=SAID.session, run=SAID.run, task=SAID.task, text=text)]

    async def main():
        database = await Database.open(tmp_path / "pcc.db")
        log = EventLog(database, SystemClock())
        other.execute("BEGIN IMMEDIATE")
        log.append_soon(said("one"))
        await asyncio.sleep(0.2)
        log.append_soon(said("two"))
        with pytest.raises(PassingError):
            await log.append(said("in vain"))
        other.execute("ROLLBACK")
        await log.append(said("three"))
        found = [one.event.text for one in await log.tail(SAID.session, 9)]

        other.execute("BEGIN IMMEDIATE")
        log.append_soon(said("last"))
        await asyncio.sleep(0.2)
        other.execute("ROLLBACK")
        await database.close()
        return found

    asyncio.run(_open_once(tmp_path))
    other = sqlite3.connect(tmp_path / "pcc.db", isolation_level=None)

    assert asyncio.run(main()) == ["one", "two", "three"]
    assert other.execute("SELECT count(*) FROM events").fetchone() == (4,)
    other.close()


def test_a_person_is_asked_and_an_answer_used_once_the_lock_is_gone(monkeypatch):
    monkeypatch.setattr(patience, "_AGAIN", timedelta())
    failures = iter(range(3))

    async def locked_at_first(*_given):
        if next(failures, None) is not None:
            raise PassingError("the database is locked")
        return SimpleNamespace(number=7)

    async def as_it_is(request):
        return request

    people = HumanBridge(SimpleNamespace(with_offer=as_it_is))
    people.queue = SimpleNamespace(
        escalate=locked_at_first, store=SimpleNamespace(use=locked_at_first)
    )

    assert asyncio.run(people.escalate(SimpleNamespace())) == 7
    failures = iter(range(3))
    assert asyncio.run(people.use(7))
