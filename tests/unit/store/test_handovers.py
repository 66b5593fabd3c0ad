"""Handovers as rows: begun once, done once, found again by whoever goes on."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.events import HandoverDone, TaskSettled, TextSaid
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, RunId, TaskId
from perpetualcc.domain.sessions import Perpetual, Run, SessionOptions
from perpetualcc.domain.tools import Risk
from perpetualcc.sessions.handover.records import Handover, Manner
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.handovers import SqliteHandovers
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore

DONE = HandoverDone(iteration=1, manner="written", reason="r", tokens=1, minutes=1, findings=[])


def with_store(tmp_path, play):
    """Run `play(handovers, session, database)` on a fresh database."""

    async def run():
        async with await Database.open(tmp_path / "db") as database:
            options = SessionOptions(perpetual=Perpetual(hard_tokens=7_000, max_iterations=3))
            session = await SessionStore(database, SystemClock()).create(
                name="s", project=Path("/p"), options=options
            )
            await play(
                SqliteHandovers(database, EventLog(database, SystemClock())), session, database
            )

    asyncio.run(run())


def due(session, **more):
    values = {
        "session": session.id,
        "task": TaskId("t-1"),
        "iteration": 1,
        "run": RunId("r-1"),
        "claude_session": ClaudeSessionId("c-1"),
        "reason": "90,000 tokens",
    }
    return Handover(**{**values, **more})


def test_a_handover_is_begun_once_and_done_once(tmp_path):
    async def play(handovers, session, database):
        begun = due(session)
        await handovers.begin(begun)
        await handovers.begin(replace(begun, reason="something else"))
        assert await handovers.history(session.id) == [begun]

        done = replace(
            begun, done_at=9.0, manner=Manner.WRITTEN, document="d", findings=("f",),
            completed=("one", "two"),
        )  # fmt: skip
        await handovers.finish(done, DONE)
        await handovers.finish(replace(done, document="again"), DONE)

        assert await handovers.history(session.id) == [done]
        assert (
            len(await EventLog(database, SystemClock()).tail(None, 9, kinds=["HandoverDone"])) == 1
        )

    with_store(tmp_path, play)


def test_what_another_conversation_left_undone_gives_way_and_what_is_done_stays(tmp_path):
    async def play(handovers, session, _):
        await handovers.begin(due(session))
        later = due(session, task=TaskId("t-2"), claude_session=ClaudeSessionId("c-2"))
        await handovers.begin(later)
        assert await handovers.history(session.id) == [later]

        await handovers.drop(session.id)
        assert await handovers.history(session.id) == []

        await handovers.finish(replace(due(session), done_at=1.0))
        await handovers.begin(later)
        await handovers.drop(session.id)
        assert [one.task for one in await handovers.history(session.id)] == ["t-1"]

    with_store(tmp_path, play)


def test_an_iteration_is_found_by_its_project(tmp_path):
    async def play(handovers, session, _):
        await handovers.finish(replace(due(session), done_at=1.0, document="first"))
        await handovers.begin(due(session, iteration=2))

        found = await handovers.left_by(Path("/p"), 1)
        assert found is not None
        assert found.document == "first"
        assert await handovers.left_by(Path("/p"), 2) is None
        assert await handovers.left_by(Path("/q"), 1) is None
        assert await handovers.iterations(Path("/p")) == [1]

    with_store(tmp_path, play)


def test_the_record_of_a_conversation_is_that_of_its_runs(tmp_path):
    async def play(handovers, session, database):
        runs, events = RunStore(database), EventLog(database, SystemClock())
        for number, conversation in enumerate(["c-1", "c-1", "c-2"]):
            run = Run(
                id=RunId(f"r-{number}"), session=session.id, task=TaskId("t"), fence=number,
                claude_session=ClaudeSessionId(conversation), started_at=10.0 * number,
            )  # fmt: skip
            await runs.begin(run)
            await events.append([TextSaid(session=session.id, run=run.id, text=str(number))])
            await runs.end(run.id, ended_at=10.0 * number + 3, outcome="again")

        found = await handovers.evidence(ClaudeSessionId("c-1"))
        assert [event.text for event in found] == ["0", "1"]
        assert await handovers.seconds_worked(ClaudeSessionId("c-1")) == 6.0
        assert await handovers.seconds_worked(ClaudeSessionId("c-9")) == 0.0
        assert await handovers.began_at(TaskId("t")) == 0.0

    with_store(tmp_path, play)


def test_a_call_is_new_when_no_other_conversation_of_the_task_was_let_through_with_it(tmp_path):
    async def play(handovers, session, database):
        runs, journal = RunStore(database), DecisionJournal(database, SystemClock())

        async def call(run, request, name, verdict=Verdict.ALLOW):
            decision = Decision(
                request=RequestId(request), run=RunId(run), verdict=verdict, risk=Risk.LOW,
                confidence=1.0, reason="", decided_by=DecidedBy.POLICY,
            )  # fmt: skip
            await database.write(
                journal.writing(
                    decision, session=session.id, tool="Write", tool_input={"file_path": name}
                )
            )

        async def is_new(*requests, task="t", conversation="c-3"):
            calls = [RequestId(one) for one in requests]
            return await handovers.is_new(TaskId(task), ClaudeSessionId(conversation), calls)

        for number, (task, conversation) in enumerate(
            [("t", "c-1"), ("t", "c-2"), ("t", "c-3"), ("t", "c-3"), ("other", "c-4")]
        ):
            run = Run(
                id=RunId(f"r-{number}"), session=session.id, task=TaskId(task), fence=number,
                claude_session=ClaudeSessionId(conversation), started_at=10.0 * number,
            )  # fmt: skip
            await runs.begin(run)
        await call("r-0", "1", "a")
        await call("r-1", "2", "refused", Verdict.DENY)
        await call("r-4", "3", "of another task")
        await call("r-2", "4", "a")
        await call("r-2", "5", "b")
        await call("r-3", "6", "b")
        await call("r-3", "7", "refused")
        await call("r-3", "8", "of another task")

        assert not await is_new()
        assert not await is_new("4")
        assert await is_new("4", "5")
        assert await is_new("6"), "its own earlier run does not count"
        assert await is_new("7")
        assert await is_new("8")

    with_store(tmp_path, play)


def test_the_settings_of_a_perpetual_session_are_kept_and_old_rows_have_none(tmp_path):
    async def play(_, session, database):
        store = SessionStore(database, SystemClock())
        assert (await store.get(session.id)).options == session.options

        await database.write(
            lambda c: c.execute("UPDATE sessions SET options = json_remove(options, '$.perpetual')")
        )
        assert (await store.get(session.id)).options.perpetual is None

    with_store(tmp_path, play)


def test_secrets_do_not_get_into_the_rows(tmp_path):
    async def play(handovers, session, _):
        key = "sk-ant-" + "a" * 40
        await handovers.finish(replace(due(session), done_at=1.0, document=key, findings=(key,)))

        found = (await handovers.history(session.id))[0]
        assert key not in found.document + "".join(found.findings)

    with_store(tmp_path, play)


def test_a_handover_whose_run_died_before_its_task_was_settled_is_known(tmp_path):
    async def play(handovers, session, database):
        log, task = EventLog(database, SystemClock()), TaskId("t-1")
        begun = due(session)
        await handovers.begin(begun)
        handed_over = replace(DONE, session=session.id, task=task)
        told = []
        for event in (
            TaskSettled(session=session.id, task=task, state="queued"),
            handed_over,
            TaskSettled(session=session.id, task=TaskId("t-2"), state="done"),
            TaskSettled(session=session.id, task=task, state="parked"),
        ):
            await log.append([event])
            told.append(await handovers.is_settled(begun))

        assert told == [True, False, False, True]

    with_store(tmp_path, play)


@pytest.mark.parametrize(
    ("outcome", "is_lost"),
    [(None, True), ("lost", True), ("halted", False), ("later", False), ("wait", False)],
)
def test_a_handover_whose_run_died_is_told_from_one_that_was_put_off(tmp_path, outcome, is_lost):
    async def play(handovers, session, database):
        runs, begun = RunStore(database), due(session)
        await runs.begin(
            Run(
                id=begun.run,
                session=session.id,
                task=begun.task,
                claude_session=begun.claude_session,
                fence=1,
                started_at=1.0,
            )
        )
        if outcome == "halted":
            await runs.end_lost(2.0, halted=True)
        elif outcome == "lost":
            await runs.end_lost(2.0)
        elif outcome:
            await runs.end(begun.run, ended_at=2.0, outcome=outcome)
        assert await handovers.was_lost(begun) is is_lost

    with_store(tmp_path, play)
