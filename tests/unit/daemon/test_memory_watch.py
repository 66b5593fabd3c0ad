"""A run that takes too much memory: ended once, and what follows."""

import asyncio
import os
import subprocess
import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from perpetualcc.agent.inbox import Gone, Inbox
from perpetualcc.daemon.memory_watch import MemoryWatch, told_to_claude
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import MemoryOutgrown
from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.domain.tasks import Done, Later, Parked
from perpetualcc.sessions.run_memory import Resident
from perpetualcc.sessions.settings import LoadSettings
from perpetualcc.sessions.system_load import Memory
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.run_memory import SqliteRunMemory
from tests.fakes.clock import FakeClock
from tests.unit.daemon.test_limits import task

RUN = RunId("r-1")
WHY = "The run held 15.0 GB of memory, the most in hog; load.run_memory is 50% of 16.0 GB"
TWICE = f"{WHY}. It was the second time in a row"
SOON = Later(due=1002.0, reason=WHY, got_on=True)


@pytest.fixture
def hog():
    process = subprocess.Popen(["/bin/sleep", "60"])
    yield process
    process.kill()
    process.wait()


def launched():
    session = SimpleNamespace(id=SessionId("s"), current_task=TaskId("t-1"))
    return SimpleNamespace(run=RUN, session=session)


async def watched(hog, record, *, times: int = 0) -> tuple[MemoryWatch, Inbox]:
    """After it was looked at a few times."""
    watch = MemoryWatch(
        data=None,
        settings=LoadSettings(),
        record=record,
        past=SimpleNamespace(in_a_row=_always(times)),
        clock=FakeClock(),
        look=lambda: Memory(16 * 10**9, 10**9),
        measure=lambda: {RUN: [Resident(hog.pid, 15 * 10**9, "hog")], RunId("other"): []},
    )
    inbox = Inbox()
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(watch.run(timedelta(milliseconds=5)))
        with watch.watching(launched(), inbox):
            deadline = time.monotonic() + 20
            while hog.poll() is None:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
        looking.cancel()
    return watch, inbox


def _always(times):
    async def in_a_row(_task):
        return times

    return in_a_row


def test_it_is_written_down_given_up_once_and_what_grows_is_ended(hog, monkeypatch):
    told = []
    # Its true share is a sleep's.
    monkeypatch.setattr("perpetualcc.claude.memory.shared_out", lambda found: found)

    async def record(*events):
        told.extend(events)

    async def scene():
        _, inbox = await watched(hog, record)
        return [arrival async for arrival in inbox]

    arrivals = asyncio.run(scene())

    assert arrivals == [Gone(error=WHY)]
    [event] = told
    assert event == MemoryOutgrown(
        session="s", run=RUN, task="t-1", text=WHY, held=15 * 10**9, largest="hog"
    )


def test_a_number_that_is_somebody_elses_by_now_is_not_ended(hog, monkeypatch):
    monkeypatch.setattr("perpetualcc.claude.memory._proportional", lambda _pid: None)
    at_work = [{RUN: [Resident(hog.pid, 15 * 10**9, "hog")]}, {RUN: []}]

    async def scene():
        watch = MemoryWatch(
            data=None,
            settings=LoadSettings(),
            record=_nothing,
            past=None,
            clock=FakeClock(),
            look=lambda: Memory(16 * 10**9, 10**9),
            measure=lambda: at_work.pop(0),
        )
        with watch.watching(launched(), inbox := Inbox()):
            await watch._look()
        return await anext(aiter(inbox))

    assert isinstance(asyncio.run(scene()), Gone)
    assert at_work == []
    assert hog.poll() is None


async def _nothing(*_events):
    """It was written down."""


def test_what_only_seems_to_hold_so_much_is_left_alone(hog):
    async def record(*_events):
        pytest.fail("it shares what it holds")

    async def scene():
        async with asyncio.timeout(0.5):
            await watched(hog, record)

    with pytest.raises(TimeoutError):
        asyncio.run(scene())
    assert hog.poll() is None


def test_a_full_disk_ends_it_too(hog, monkeypatch):
    monkeypatch.setattr("perpetualcc.claude.memory.shared_out", lambda found: found)

    async def record(*_events):
        os.kill(hog.pid, 9)  # so that the scene ends
        raise PassingError("The disk is full")

    async def scene():
        _, inbox = await watched(hog, record)
        return [arrival async for arrival in inbox]

    assert asyncio.run(scene()) == [Gone(error=WHY)]


@pytest.mark.parametrize(
    ("times", "outcome", "becomes"),
    [
        (1, SOON, replace(SOON, counts=False)),
        (1, Parked(result=WHY), Later(due=1000.0, counts=False, reason=WHY)),
        (
            2,
            SOON,
            Later(due=1300.0, counts=False, reason=TWICE),
        ),
        (1, Later(due=5.0, reason="paused"), Later(due=5.0, reason="paused")),
        (9, Done(result="well"), Done(result="well")),
    ],
)
def test_what_follows_depends_on_how_often(times, outcome, becomes):
    async def scene():
        watch = MemoryWatch(
            data=None,
            settings=LoadSettings(),
            record=None,
            past=SimpleNamespace(in_a_row=_always(times)),
            clock=SimpleNamespace(now=lambda: 1000.0),
        )
        watch._ended[TaskId("t-1")] = WHY
        first = await watch.settle(task("t-1"), outcome)
        return first, await watch.settle(task("t-1"), outcome)

    first, second = asyncio.run(scene())

    assert first == becomes
    assert second == outcome  # a later run's end has its own reasons


def test_the_third_time_in_a_row_is_a_persons():
    async def scene():
        watch = MemoryWatch(
            data=None, settings=LoadSettings(), record=None, clock=FakeClock(),
            past=SimpleNamespace(in_a_row=_always(3)),
        )  # fmt: skip
        watch._ended[TaskId("t-1")] = WHY
        return await watch.settle(task("t-1"), SOON)

    parked = asyncio.run(scene())

    assert isinstance(parked, Parked)
    assert parked.result == WHY
    assert "pcc config set load.run_memory" in parked.packet["hint"]


@pytest.mark.parametrize(
    ("runs", "in_a_row", "last"),
    [
        # newest last: minutes, and whether it was ended for its memory
        ([], 0, ""),
        ([(1, False)], 0, ""),
        ([(1, False), (2, True)], 1, "why 1"),
        ([(2, True), (3, True), (4, True)], 3, "why 2"),
        ([(2, True), (3, False), (4, True)], 1, "why 2"),
        ([(2, True), (3, True), (400, True)], 1, "why 2"),
        ([(2, True), (400, True), (3, True)], 2, "why 2"),
        ([(2, True), (3, False)], 0, ""),
    ],
)
def test_only_runs_that_ended_so_soon_and_without_another_between_are_in_a_row(
    tmp_path, runs, in_a_row, last
):
    async def scene():
        database = await Database.open(tmp_path / "pcc.db")
        for made in (
            "INSERT INTO projects VALUES (1, '/p', 0)",
            (
                "INSERT INTO sessions (id, name, project, status, options, created_at, updated_at)"
                " VALUES ('s', 's', 1, 'IDLE', '{}', 0, 0)"
            ),
        ):
            await database.write(lambda c, made=made: c.execute(made))
        events = EventLog(database, FakeClock())
        for number, (minutes, was_ended) in enumerate(runs):
            values = (f"r-{number}", minutes * 60.0)
            await database.write(
                lambda c, values=values: c.execute(
                    "INSERT INTO runs (id, session, task, claude_session, fence, started_at,"
                    " ended_at) VALUES (?, 's', 't-1', 'c', 1, 0, ?)",
                    values,
                )
            )
            if was_ended:
                ids = {"session": "s", "run": f"r-{number}", "task": "t-1"}
                text = f"why {number}"
                await events.append([MemoryOutgrown(**ids, text=text, held=1, largest="x")])
        past = SqliteRunMemory(database)
        found = await past.in_a_row(TaskId("t-1")), await past.last(TaskId("t-1"))
        await database.close()
        return found

    assert asyncio.run(scene()) == (in_a_row, last)


def test_claude_is_told_why_it_was_ended_and_nothing_where_it_was_not():
    assert told_to_claude("") == ""
    assert WHY in told_to_claude(WHY)
