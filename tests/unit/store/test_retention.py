"""What is old and done with leaves the database, and nothing else."""

import asyncio
from datetime import timedelta

import pytest

from perpetualcc.domain.events import (
    EngineStarted,
    ProblemNoticed,
    QuestionAnswered,
    SessionStatusChanged,
    TaskSettled,
)
from perpetualcc.domain.ids import RequestId, TaskId
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import Done, Lane, NewTask
from perpetualcc.human.notifications.outbox import Kind, NewNotice, NoticeState
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.outbox import SqliteOutbox
from perpetualcc.store.retention import Retention
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock

DAY = 86_400


def play(tmp_path, scene) -> None:
    async def played():
        async with await Database.open(tmp_path / "db") as database:
            await scene(database, FakeClock())

    asyncio.run(played())


async def forget(database, clock) -> dict[str, int]:
    return await Retention(database, clock, keep=timedelta(days=90)).forget_old()


async def read_for_people(database, events) -> None:
    await SqliteOutbox(database, FakeClock()).put([], seen=await events.last())


def test_old_events_of_finished_sessions_go_and_those_of_others_stay(tmp_path):
    async def scene(database, clock):
        sessions, events = SessionStore(database, clock), EventLog(database, clock)
        ids = {}
        for name in ("over", "waiting"):
            options = SessionOptions()
            session = await sessions.create(name=name, project=tmp_path / name, options=options)
            ids[name] = session.id
            await events.append([ProblemNoticed(session=session.id, text="x", hint="")])
        await events.append(
            [SessionStatusChanged(session=ids["over"], before="IDLE", after="STOPPED")]
        )
        await read_for_people(database, events)
        clock.move(100 * DAY)
        await events.append([EngineStarted(version="1", recovered=0, orphans=0)])

        gone = await forget(database, clock)

        left = [(one.event.kind, one.event.session) for one in await events.tail(None, 500)]
        assert gone["events"] > 0
        assert not [kind for kind, session in left if session == ids["over"]]
        assert ("ProblemNoticed", ids["waiting"]) in left
        assert left[-1] == ("EngineStarted", None)

    play(tmp_path, scene)


def test_old_events_of_a_session_that_never_ends_go_with_the_tasks_they_were_about(tmp_path):
    async def scene(database, clock):
        events, ledger = EventLog(database, clock), SqliteLedger(database, clock, owner="me")
        session = await SessionStore(database, clock).create(
            name="long", project=tmp_path, options=SessionOptions()
        )
        for name in ("t-old", "t-open"):
            await ledger.add(NewTask(id=TaskId(name), group=session.id, prompt="x"))
            said = ProblemNoticed(session=session.id, task=TaskId(name), text=name, hint="")
            busy = SessionStatusChanged(session=session.id, before="IDLE", after="PROCESSING")
            await events.append([busy, said])
        [task] = await ledger.claim({Lane.INTERACTIVE: 1}, limit=1)
        await ledger.settle(task.id, task.fence, Done(result=""))
        await read_for_people(database, events)
        clock.move(100 * DAY)

        await forget(database, clock)

        [left] = await events.tail(None, 500)
        assert left.event.task == "t-open"
        assert not any((await forget(database, clock)).values())

    play(tmp_path, scene)


def test_what_was_answered_stays_with_what_was_decided(tmp_path):
    async def scene(database, clock):
        sessions, events = SessionStore(database, clock), EventLog(database, clock)
        session = await sessions.create(
            name="over", project=tmp_path / "over", options=SessionOptions()
        )
        answered = QuestionAnswered(
            session=session.id,
            request=RequestId("q"),
            answers={"Which?": "SQLite"},
            decided_by="person",
            confidence=1.0,
            reason="",
        )
        over = SessionStatusChanged(session=session.id, before="IDLE", after="STOPPED")
        await events.append([answered, over])
        await read_for_people(database, events)
        clock.move(100 * DAY)

        await forget(database, clock)

        assert [one.event.kind for one in await events.tail(None, 500)] == ["QuestionAnswered"]

    play(tmp_path, scene)


def test_an_event_that_people_have_not_been_told_of_stays_however_old_it_is(tmp_path):
    async def scene(database, clock):
        events = EventLog(database, clock)
        await events.append([EngineStarted(version="1", recovered=0, orphans=0)])
        clock.move(100 * DAY)

        assert (await forget(database, clock))["events"] == 0
        await read_for_people(database, events)
        assert (await forget(database, clock))["events"] == 1

    play(tmp_path, scene)


def test_receipts_go_and_what_is_still_to_be_sent_stays(tmp_path):
    async def scene(database, clock):
        outbox = SqliteOutbox(database, clock)
        notices = [
            NewNotice(cause=f"event:{n}", channel="json:1", kind=Kind.QUESTION, title="t", body="b")
            for n in range(2)
        ]
        await outbox.put(notices)
        [first, second] = await outbox.due()
        await outbox.end(first.id, NoticeState.SENT)
        clock.move(100 * DAY)

        assert (await forget(database, clock))["notifications"] == 1
        assert [one.id for one in await outbox.list(10)] == [second.id]

    play(tmp_path, scene)


def test_a_signal_stays_as_long_as_a_task_could_ask_for_it(tmp_path):
    async def scene(database, clock):
        ledger = SqliteLedger(database, clock, owner="me")
        await ledger.signal("nobody waits for it", {"text": "yes"})
        clock.move(DAY)
        assert (await forget(database, clock))["signals"] == 0
        clock.move(100 * DAY)

        assert (await forget(database, clock))["signals"] == 1

    play(tmp_path, scene)


def test_of_what_repeats_the_newest_hundred_times_stay(tmp_path):
    async def scene(database, clock):
        sessions, events = SessionStore(database, clock), EventLog(database, clock)
        ledger = SqliteLedger(database, clock, "me")
        session = await sessions.create(
            name="nightly", project=tmp_path / "p", options=SessionOptions()
        )
        for number in range(130):
            payload = {"every": "hour"} if number else {}
            await ledger.add(
                NewTask(id=f"t-{number}", group=session.id, prompt="x", payload=payload)
            )
            [task] = await ledger.claim({Lane.INTERACTIVE: 1}, 1)
            told = TaskSettled(session=session.id, task=task.id, state="done")
            await ledger.settle(task.id, task.fence, Done(result="ok"), [told])
        await ledger.add(NewTask(id="t-next", group=session.id, prompt="x", payload=payload))
        await read_for_people(database, events)
        clock.move(100 * DAY)

        gone = await forget(database, clock)

        assert gone["tasks"] == 29
        left = [task.id for task in await ledger.list()]
        assert left == ["t-0", *(f"t-{number}" for number in range(30, 130)), "t-next"]

    play(tmp_path, scene)


@pytest.mark.parametrize(("days", "left"), [(90, 0), (0, 1)])
def test_without_an_end_all_is_kept(tmp_path, days, left):
    async def scene(database, clock):
        events = EventLog(database, clock)
        await events.append([EngineStarted(version="1", recovered=0, orphans=0)])
        await read_for_people(database, events)
        clock.move(100 * DAY)

        await Retention(database, clock, keep=timedelta(days=days)).forget_old()

        assert len(await events.tail(None, 500)) == left

    play(tmp_path, scene)
