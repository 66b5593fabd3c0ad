"""What goes on and what stands, as the rows say it."""

import asyncio
import math

import pytest

from perpetualcc.domain.events import SessionStatusChanged
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import NewTask
from perpetualcc.human.all_work import Stands
from perpetualcc.store.all_work import SqliteAllWork
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock

CLOCK = FakeClock()
LATER = CLOCK.now() + 86_400


async def looked(path, *sessions):
    """Each: status, detail, and its tasks' `due` and payload."""
    async with await Database.open(path / "x.db") as database:
        store, events = SessionStore(database, CLOCK), EventLog(database, CLOCK)
        for number, (status, detail, *tasks) in enumerate(sessions):
            made = await store.create(
                name=f"s{number}",
                project=path / str(number),
                options=SessionOptions(),
                begin=lambda session, tasks=tasks: (
                    [
                        NewTask(
                            id=TaskId(f"{session.id}-{place}"),
                            group=session.id,
                            prompt="p",
                            due=due,
                            payload=payload,
                            after=tuple(
                                TaskId(f"{session.id}-{first}")
                                for first in [payload.get("after")]
                                if first is not None
                            ),
                        )
                        for place, (due, payload) in enumerate(tasks)
                    ],
                    [],
                ),
            )
            if status != "IDLE":
                change = SessionStatusChanged(
                    session=made.id, before="IDLE", after=status, detail=detail, resumes_at=LATER
                )
                await events.append([change])
        work = SqliteAllWork(database, CLOCK)
        assert await work.seen_from(made.id, told=0) is None, "of turn 0 it was told"
        return await work.seen_from(made.id)


@pytest.mark.parametrize(
    ("sessions", "goes_on", "why"),
    [
        ([("WAITING_INPUT", "")], False, [Stands.PERSON]),
        ([("RATE_LIMITED", "the weekly limit")], False, [Stands.LIMIT]),
        ([("RATE_LIMITED", "the budget daily_usd is used up")], False, [Stands.BUDGET]),
        ([("RATE_LIMITED", "waits for your review: 2 results")], False, [Stands.REVIEW]),
        ([("RATE_LIMITED", "the server is overloaded or fails")], True, [Stands.LIMIT]),
        ([("ERROR", ""), ("COMPLETED", ""), ("PAUSED", "")], False, [Stands.PAUSED, Stands.PERSON]),
        ([("IDLE", "", (0.0, {}))], True, []),
        ([("IDLE", "", (LATER, {}))], True, []),
        ([("IDLE", "", (math.inf, {"when": "test -f x"}))], True, []),
        ([("IDLE", "", (LATER, {"every": "1d"}))], False, []),
        ([("IDLE", "", (0.0, {"every": "1d"}))], True, []),
        ([("COMPLETED", "")], False, []),
        # What begins within a day goes on; what begins later does not keep anybody from hearing it.
        ([("IDLE", "", (LATER + 1, {}))], False, [Stands.LATER]),
        ([("IDLE", "", (LATER + 1, {}), (LATER, {}))], True, []),
        ([("IDLE", "", (LATER + 1, {}), (LATER, {"every": "1d"}))], False, [Stands.LATER]),
        ([("IDLE", "", (LATER + 1, {}), (0.0, {"after": 0}))], False, [Stands.LATER]),
        ([("IDLE", "", (LATER + 1, {"when": "test -f x"}))], False, [Stands.LATER]),
    ],
)
def test_what_goes_on_by_itself_and_what_stands(tmp_path, sessions, goes_on, why):
    found = asyncio.run(looked(tmp_path, *sessions))

    assert found.goes_on is goes_on
    assert sorted(one.why for one in found.standing) == sorted(why)
    assert found.is_done is (not goes_on and not why)


def test_where_something_runs_nothing_else_is_looked_at(tmp_path):
    assert asyncio.run(looked(tmp_path, ("WAITING_INPUT", ""), ("PROCESSING", ""))) is None


def test_what_begins_next_is_named_what_comes_again_and_again_included(tmp_path):
    found = asyncio.run(
        looked(
            tmp_path,
            ("COMPLETED", ""),
            ("IDLE", "", (LATER + 9, {})),
            ("IDLE", "", (LATER - 9, {"every": "1d"})),
        )
    )

    assert found.next is not None
    assert (found.next.who.whole, found.next.at) == ("2: s2", LATER - 9)
    assert not found.begins_later, "it is the last session that is seen from, and that comes again"


def test_a_session_whose_work_is_for_later_is_known_to_rest(tmp_path):
    found = asyncio.run(looked(tmp_path, ("WAITING_INPUT", ""), ("IDLE", "", (LATER + 1, {}))))

    assert found.begins_later
    assert not found.alone
