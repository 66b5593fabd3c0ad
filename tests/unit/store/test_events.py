"""The event log: one order, no gap, no double, no secret."""

import asyncio
import json
from pathlib import Path

import pytest

from perpetualcc.domain.events import (
    EVENT_TYPES,
    EngineStarted,
    QuestionAsked,
    SessionStatusChanged,
    TextSaid,
    ToolRequested,
    UsageReported,
)
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock

A, B = SessionId("aaaaaa"), SessionId("bbbbbb")
SECRET = "sk-ant-" + "x" * 40


def play(tmp_path: Path, scene) -> None:
    async def run() -> None:
        async with await Database.open(tmp_path / "x.db") as database:
            await scene(EventLog(database, FakeClock()), database)

    asyncio.run(run())


def said(session: SessionId, *texts: object) -> list[TextSaid]:
    return [TextSaid(session=session, text=str(text)) for text in texts]


def test_what_is_read_is_what_was_appended(tmp_path: Path) -> None:
    async def scene(log: EventLog, _: Database) -> None:
        question = QuestionAsked(session=A, request="q", questions=[{"question": "Which?"}])

        last = await log.append([*said(A, "one"), question])
        read = await log.tail(None, 500)

        assert [recorded.event for recorded in read] == [*said(A, "one"), question]
        assert read[-1].seq == last == await log.last()
        assert read[0].at == FakeClock().now()

    play(tmp_path, scene)


def test_secrets_are_redacted_wherever_they_are(tmp_path: Path) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        questions = [{SECRET: [{"deep": f"use {SECRET} now"}]}]

        await log.append([QuestionAsked(request="q", questions=questions), *said(A, SECRET)])

        raw = await database.read(
            lambda c: " ".join(row["data"] for row in c.execute("SELECT data FROM events"))
        )
        assert SECRET not in raw
        assert "use [redacted] now" in raw

    play(tmp_path, scene)


def test_events_are_chosen_by_session_kind_level_and_number(tmp_path: Path) -> None:
    async def scene(log: EventLog, _: Database) -> None:
        request = ToolRequested(session=A, request="r", tool="Bash", summary="ls")
        await log.append([*said(A, 1), *said(B, 2), request, *said(A, 3, 4)])

        def texts(read):
            return [getattr(one.event, "text", one.event.kind) for one in read]

        assert texts(await log.tail(A, 9)) == ["1", "ToolRequested", "3", "4"]
        assert texts(await log.tail(None, 9, kinds=["ToolRequested"])) == ["ToolRequested"]
        assert texts(await log.tail(A, 9, levels=["info"])) == ["1", "3", "4"]
        assert texts(await log.tail(A, 2)) == ["3", "4"]
        assert texts(await log.tail(None, 2, levels=["debug"])) == ["ToolRequested"]
        assert texts(await log.tail(A, 2, before=5)) == ["ToolRequested", "3"]
        assert texts(await log.tail(None, 9, before=1)) == []

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("kind", "data"), [("FromTheFuture", {"a": 1}), ("TextSaid", {"renamed": "x"})]
)
def test_an_event_of_another_version_is_passed_over(tmp_path: Path, kind: str, data: dict) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        await database.write(
            lambda c: c.execute(
                "INSERT INTO events (at, kind, data) VALUES (0, ?, ?)", (kind, json.dumps(data))
            )
        )
        await log.append(said(A, "known"))

        assert [one.event for one in await log.tail(None, 500)] == said(A, "known")
        async for one in log.follow():
            assert one.event == said(A, "known")[0]
            break

    play(tmp_path, scene)


def test_a_field_that_a_newer_version_added_is_left_out(tmp_path: Path) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        data = json.dumps({"text": "hello", "tone": "warm"})
        await database.write(
            lambda c: c.execute(
                "INSERT INTO events (at, kind, data) VALUES (0, 'TextSaid', ?)", (data,)
            )
        )

        assert [one.event for one in await log.tail(None, 500)] == [TextSaid(text="hello")]

    play(tmp_path, scene)


def test_followers_see_each_event_once_and_in_order_while_others_append(tmp_path: Path) -> None:
    async def scene(log: EventLog, _: Database) -> None:
        await log.append(said(A, *range(700)))

        async def write(session: SessionId) -> None:
            for number in range(100):
                await log.append(said(session, number))

        async def follow(since: int, session: SessionId | None, count: int) -> list[int]:
            seen: list[int] = []
            async for one in log.follow(since, session=session):
                seen.append(one.seq)
                if len(seen) == count:
                    return seen
            return seen

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            everything = group.create_task(follow(0, None, 1000))
            rest = group.create_task(follow(650, None, 350))
            one_session = group.create_task(follow(0, B, 100))
            for session in (A, B, SessionId("cccccc")):
                group.create_task(write(session))

        assert everything.result() == list(range(1, 1001))
        assert rest.result() == list(range(651, 1001))
        assert sorted(set(one_session.result())) == one_session.result()

    play(tmp_path, scene)


def test_following_ends_when_the_database_closes(tmp_path: Path) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        seen: list[int] = []
        came = asyncio.Event()

        async def follow() -> None:
            async for one in log.follow():
                seen.append(one.seq)
                came.set()

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            group.create_task(follow())
            await log.append(said(A, "last"))
            await came.wait()
            await database.close()

        assert seen == [1]

    play(tmp_path, scene)


def test_a_status_event_and_the_session_row_cannot_disagree(tmp_path: Path) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        store = SessionStore(database, FakeClock())
        session = await store.create(name="x", project=tmp_path, options=SessionOptions())
        changed = SessionStatusChanged(
            session=session.id,
            before="IDLE",
            after="RATE_LIMITED",
            detail=f"limit, key {SECRET}",
            resumes_at=5.0,
        )

        await log.append(
            [changed, UsageReported(session=session.id, context_tokens=7, context_window=9)]
        )

        found = await store.get(session.id)
        assert (found.status, found.resumes_at) == (SessionStatus.RATE_LIMITED, 5.0)
        assert found.detail == "limit, key [redacted]"
        assert (found.tokens, found.context_window) == (7, 9)

    play(tmp_path, scene)


def test_events_are_never_edited(tmp_path: Path) -> None:
    async def scene(log: EventLog, database: Database) -> None:
        await log.append([EngineStarted(version="1")])

        with pytest.raises(Exception, match="never edited"):
            await database.write(lambda c: c.execute("UPDATE events SET kind = 'x'"))

    play(tmp_path, scene)


def test_a_text_that_is_not_quite_unicode_is_kept(tmp_path: Path) -> None:
    async def scene(log: EventLog, _: Database) -> None:
        text = "broken \ud83d stream \x00"

        await log.append(said(A, text))

        assert [one.event.text for one in await log.tail(None, 500)] == [text]

    play(tmp_path, scene)


def test_every_kind_of_event_has_a_level_that_logs_knows() -> None:
    assert {kind.level for kind in EVENT_TYPES.values()} <= {"debug", "info", "warn", "error"}
