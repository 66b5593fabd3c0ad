"""Sessions, runs and decisions as rows."""

import asyncio
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import SessionCreated, SessionStatusChanged, TextSaid, ToolDecided
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Run, SessionOptions
from perpetualcc.domain.tasks import Lane, NewTask
from perpetualcc.domain.tools import Risk
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.handovers import SqliteHandovers
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import AmbiguousSessionError, SessionStore, UnknownSessionError
from perpetualcc.work.outcomes import Failed
from tests.fakes.clock import FakeClock

PROJECT = Path("/home/someone/project")


def play(tmp_path: Path, scene) -> None:
    async def run() -> None:
        async with await Database.open(tmp_path / "x.db") as database:
            await scene(database)

    asyncio.run(run())


def fix_ids(monkeypatch: pytest.MonkeyPatch, *ids: str) -> None:
    following = iter(ids)
    monkeypatch.setattr("perpetualcc.store.sessions.new_session_id", lambda: next(following))


def test_a_session_comes_back_as_it_was_created(tmp_path: Path) -> None:
    options = SessionOptions(
        brain="gemini",
        model="m",
        claude_model="c",
        auto_approve=False,
        confidence=0.5,
        max_turns=9,
        requirements="r.md",
        authority=Authority(
            level=AuthorityLevel.ISOLATED_WRITES, writable=(Path("out"),), allow_network=False
        ),
    )

    async def scene(database: Database) -> None:
        store = SessionStore(database, FakeClock())

        created = await store.create(name=" mine ", project=PROJECT, options=options)

        assert created.options == options
        assert (created.name, created.project) == ("mine", PROJECT)
        assert created.status is SessionStatus.IDLE
        assert await store.get(created.id) == created

    play(tmp_path, scene)


def test_names_and_ids_that_are_taken_become_others(tmp_path: Path, monkeypatch) -> None:
    fix_ids(monkeypatch, "aaaaaa", "aaaaaa", "bbbbbb", "cccccc", "dddddd")

    async def scene(database: Database) -> None:
        store = SessionStore(database, FakeClock())
        created = [
            await store.create(name=name, project=PROJECT, options=SessionOptions())
            for name in ("web", "web", "web-app", "web")
        ]

        assert [session.id for session in created] == ["aaaaaa", "aaaaaabb", "cccccc", "dddddd"]
        assert [session.name for session in created] == ["web", "web-2", "web-app", "web-3"]

    play(tmp_path, scene)


@pytest.mark.parametrize("over", ["COMPLETED", "STOPPED"])
def test_a_session_that_is_over_gives_its_name_up(tmp_path: Path, monkeypatch, over: str) -> None:
    fix_ids(monkeypatch, "aaaaaa", "bbbbbb", "cccccc", "dddddd", "eeeeee")

    async def scene(database: Database) -> None:
        store, events = SessionStore(database, FakeClock()), EventLog(database, SystemClock())

        async def start(name: str) -> str:
            session = await store.create(name=name, project=PROJECT, options=SessionOptions())
            return session.name

        async def end(session: str) -> None:
            gone = SessionStatusChanged(session=SessionId(session), before="IDLE", after=over)
            await events.append([gone])

        assert await start("slow") == "slow"
        await end("aaaaaa")
        assert (await store.find("slow")).id == "aaaaaa", "nobody else wants it"

        assert [await start("slow"), await start("slow")] == ["slow", "slow-2"]
        assert (await store.find("slow")).id == "bbbbbb"
        assert (await store.find("slow.aaaaaa")).id == "aaaaaa"
        assert (await store.find("aaaaaa")).name == "slow.aaaaaa"

        await end("bbbbbb")
        await end("cccccc")
        assert [await start("slow"), await start("slow")] == ["slow", "slow-2"]
        assert (await store.find("slow")).id == "dddddd"
        names = [session.name for session in await store.list()]
        assert names == ["slow-2", "slow", "slow-2.cccccc", "slow.bbbbbb", "slow.aaaaaa"]

    play(tmp_path, scene)


def test_a_session_that_failed_keeps_its_name_because_a_person_may_resume_it(tmp_path) -> None:
    async def scene(database: Database) -> None:
        store, events = SessionStore(database, FakeClock()), EventLog(database, SystemClock())
        first = await store.create(name="slow", project=PROJECT, options=SessionOptions())
        await events.append([SessionStatusChanged(session=first.id, before="IDLE", after="ERROR")])

        other = await store.create(name="slow", project=PROJECT, options=SessionOptions())

        assert other.name == "slow-2"
        assert await store.find("slow") == await store.get(first.id)

    play(tmp_path, scene)


def test_a_name_given_up_is_never_the_name_of_another(tmp_path: Path, monkeypatch) -> None:
    fix_ids(monkeypatch, "aaaaaa", "bbbbbb", "cccccc")

    async def scene(database: Database) -> None:
        store, events = SessionStore(database, FakeClock()), EventLog(database, SystemClock())
        for name in ("slow", "slow.aaaaaa"):
            await store.create(name=name, project=PROJECT, options=SessionOptions())
        await events.append(
            [SessionStatusChanged(session=SessionId("aaaaaa"), before="IDLE", after="STOPPED")]
        )

        await store.create(name="slow", project=PROJECT, options=SessionOptions())

        found = {session.id: session.name for session in await store.list()}
        assert found == {
            "aaaaaa": "slow.aaaaaa.aaaaaa",
            "bbbbbb": "slow.aaaaaa",
            "cccccc": "slow",
        }

    play(tmp_path, scene)


def test_a_session_is_found_by_id_name_or_the_beginning_of_its_id(
    tmp_path: Path, monkeypatch
) -> None:
    fix_ids(monkeypatch, "ab1111", "ab1222", "cd3333")

    async def scene(database: Database) -> None:
        store = SessionStore(database, FakeClock())
        for name in ("one", "two", "ab"):
            await store.create(name=name, project=PROJECT, options=SessionOptions())

        meant = {"ab1111": "one", "two": "two", "ab12": "two", "cd3": "ab", "ab": "ab"}
        assert {ref: (await store.find(ref)).name for ref in meant} == meant
        with pytest.raises(AmbiguousSessionError, match=r"ab1222 \(two\), ab1111 \(one\)"):
            await store.find("ab1")
        for nobody in ("", "zzz", "%%%", "ab*", "on", "c", "cd"):
            with pytest.raises(UnknownSessionError) as caught:
                await store.find(nobody)
            assert "pcc list" in caught.value.hint
        for typed in ("tow", "tw"):
            with pytest.raises(UnknownSessionError) as caught:
                await store.find(typed)
            assert caught.value.hint == "Did you mean 'two'? See them with: pcc list"

    play(tmp_path, scene)


def test_a_session_begins_with_its_whole_plan_or_is_not_there_at_all(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        store, ledger = (
            SessionStore(database, SystemClock()),
            SqliteLedger(database, FakeClock(), "me"),
        )

        def begin(session, *, twice=False):
            tasks = [
                NewTask(id=TaskId(f"t-{0 if twice else n}"), group=session.id, prompt="go")
                for n in range(3)
            ]
            created = SessionCreated(session=session.id, name="a", project="/", brain="rules")
            return tasks, [created]

        with pytest.raises(sqlite3.IntegrityError):
            await store.create(
                name="a",
                project=PROJECT,
                options=SessionOptions(),
                begin=partial(begin, twice=True),
            )
        assert (await store.list(), await ledger.list()) == ([], [])

        session = await store.create(
            name="a", project=PROJECT, options=SessionOptions(), begin=begin
        )
        assert [task.id for task in await ledger.list(session.id)] == ["t-0", "t-1", "t-2"]
        [created] = await EventLog(database, SystemClock()).tail(session.id, 9)
        assert isinstance(created.event, SessionCreated)

    play(tmp_path, scene)


def test_what_is_parked_behind_another_task_says_what_to_type(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        ledger = SqliteLedger(database, FakeClock(), "me")
        first, second = TaskId("t-1"), TaskId("t-2")
        await ledger.add(NewTask(id=first, group="s", prompt="go", max_attempts=1))
        await ledger.add(NewTask(id=second, group="s", prompt="then", after=(first,)))
        [claimed] = await ledger.claim(dict.fromkeys(Lane, 1), 1)

        async def ways() -> list[str]:
            return (await ledger.get(second)).packet["options"]

        await ledger.settle(first, claimed.fence, Failed(result="no"))
        back = "Bring that task back, and this one follows, with: pcc resume s"
        assert await ways() == [back, "Leave it: pcc stop s t-2"]

        await ledger.cancel(first)
        again = 'Queue it again, after nothing, with: pcc add s "…"'
        assert await ways() == [again, "Leave it: pcc stop s t-2"]

    play(tmp_path, scene)


def test_an_empty_name_is_refused(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        with pytest.raises(PerpetualError):
            await SessionStore(database, SystemClock()).create(
                name=" ", project=PROJECT, options=SessionOptions()
            )

    play(tmp_path, scene)


def test_sessions_are_listed_newest_first_by_status_and_project(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        store = SessionStore(database, FakeClock())
        ids = {}
        other = PROJECT.with_name(f"{PROJECT.name}-2")
        for name, project in (("a", PROJECT / "web"), ("b", other), ("c", PROJECT)):
            session = await store.create(name=name, project=project, options=SessionOptions())
            ids[name] = session.id
        await EventLog(database, SystemClock()).append(
            [SessionStatusChanged(session=ids["c"], before="IDLE", after="PAUSED")]
        )

        async def listed(**options) -> list[str]:
            return [session.name for session in await store.list(**options)]

        async def become(name: str, status: str) -> None:
            event = SessionStatusChanged(session=ids[name], before="IDLE", after=status)
            await EventLog(database, SystemClock()).append([event])

        assert await listed() == ["c", "b", "a"]
        assert await listed(limit=1) == ["c"]
        assert await listed(project=PROJECT) == ["c", "a"]
        assert await listed(statuses=[SessionStatus.PAUSED]) == ["c"]
        assert await listed(statuses=[]) == []
        await become("c", "COMPLETED")
        await become("b", "ERROR")
        assert await listed() == ["a", "b", "c"], "what is alive, what failed, what is over"
        assert await listed(limit=1) == ["a"], "and no limit hides it"

    play(tmp_path, scene)


def test_another_task_forgets_the_conversation_and_the_same_keeps_it(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        store = SessionStore(database, FakeClock())
        session = await store.create(name="a", project=PROJECT, options=SessionOptions())

        conversations = []
        for task in ("t1", "t1", "t2"):
            await store.set_current_task(session.id, TaskId(task))
            conversations.append((await store.get(session.id)).claude_session)
            await store.set_claude_session(session.id, ClaudeSessionId(f"of {task}"))

        assert conversations == [None, "of t1", None]

    play(tmp_path, scene)


async def session_with_run(database: Database, fence: int = 1) -> Run:
    session = await SessionStore(database, SystemClock()).create(
        name="a", project=PROJECT, options=SessionOptions()
    )
    run = Run(
        id=RunId("r-1"),
        session=session.id,
        task=TaskId("t"),
        claude_session=ClaudeSessionId("c"),
        fence=fence,
        started_at=1.0,
    )
    await RunStore(database).begin(run)
    return run


async def of_run(database: Database, columns: str) -> tuple[object, ...]:
    """Of the only run there is."""
    return await database.read(lambda c: tuple(c.execute(f"SELECT {columns} FROM runs").fetchone()))


def test_a_run_is_known_before_its_process_and_ends_once(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        runs = RunStore(database)
        run = await session_with_run(database)
        assert await runs.count(run.session) == 1

        await runs.process_started(run.id, 42)
        told = [
            await runs.end(run.id, ended_at=2.0, outcome=outcome, turns=3, cost_usd=0.5)
            for outcome in ("completed", "lost")
        ]

        assert told == [True, False]
        assert await of_run(database, "outcome, turns, cost_usd, pid") == ("completed", 3, 0.5, 42)

    play(tmp_path, scene)


def test_a_run_has_worked_no_longer_for_a_clock_that_leapt(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        runs = RunStore(database)
        run = await session_with_run(database)
        night = 8 * 3600.0
        await runs.leapt(night)
        await runs.end(run.id, ended_at=run.started_at + night + 60, outcome="done")
        await runs.leapt(night)

        handovers = SqliteHandovers(database, EventLog(database, SystemClock()))
        assert await handovers.seconds_worked(run.claude_session) == 60.0

    play(tmp_path, scene)


def test_a_run_whose_engine_died_ended_with_the_last_that_was_heard_of_it(tmp_path: Path) -> None:
    """Its minutes count for its iteration; those of a machine that was off do not."""

    async def scene(database: Database) -> None:
        runs = RunStore(database)
        run = await session_with_run(database)
        clock = FakeClock()
        clock.move(600 - clock.now())
        said = TextSaid(session=run.session, run=run.id, task=run.task, text="Hm.")
        await EventLog(database, clock).append([said])
        await runs.end_lost(90_000.0)

        assert await of_run(database, "outcome, ended_at") == ("lost", 600.0)
        handovers = SqliteHandovers(database, EventLog(database, SystemClock()))
        assert await handovers.seconds_worked(run.claude_session) == 599.0

    play(tmp_path, scene)


DECISION = Decision(
    request=RequestId("q1"),
    run=RunId("r-1"),
    verdict=Verdict.DENY,
    risk=Risk.HIGH,
    confidence=0.0,
    reason="it deletes",
    decided_by=DecidedBy.POLICY,
    message="use trash",
)
SESSION = SessionId("aaaaaa")
AGAIN = {"id": RunId("r-2"), "task": TaskId("t"), "fence": 2}


def test_a_decision_comes_back_redacted_with_a_digest_of_what_it_was_about(tmp_path: Path) -> None:
    secret = "ghp_" + "a" * 36

    async def scene(database: Database) -> None:
        journal = DecisionJournal(database, FakeClock())
        for command in (secret, secret[:-1] + "b"):
            about = {"command": command}
            await database.write(
                journal.writing(DECISION, session=SESSION, tool="Bash", tool_input=about)
            )

        second, first = await journal.read()

        assert first.decision == DECISION
        assert first.input == second.input == {"command": "[redacted]"}
        assert first.digest != second.digest

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ({}, 2),
        ({"session": SESSION}, 2),
        ({"session": SessionId("other")}, 0),
        ({"risk": Risk.HIGH}, 1),
        ({"verdict": Verdict.ALLOW}, 1),
        ({"verdict": Verdict.ALLOW, "risk": Risk.HIGH}, 0),
        ({"decided_by": DecidedBy.PERSON}, 1),
        ({"request": RequestId("q2")}, 1),
        ({"since": FakeClock().now() + 1}, 1),
        ({"limit": 1}, 1),
    ],
)
def test_decisions_are_found_by_what_one_knows(tmp_path: Path, question: dict, found: int) -> None:
    allowed = Decision(
        request=RequestId("q2"),
        run=RunId("r-1"),
        verdict=Verdict.ALLOW,
        risk=Risk.LOW,
        confidence=1.0,
        reason="",
        decided_by=DecidedBy.PERSON,
    )

    async def scene(database: Database) -> None:
        clock = FakeClock()
        journal = DecisionJournal(database, clock)
        for decision in (DECISION, allowed):
            await database.write(journal.writing(decision, session=SESSION, tool="Bash"))
            clock.move(1)

        assert len(await journal.read(**question)) == found

    play(tmp_path, scene)


def test_what_a_rule_let_through_is_not_its_persons_word_in_old_records_either(
    tmp_path: Path,
) -> None:
    named = "frob is not known; allowed by a rule of a person: rule-f18645 (Allows kind 'frob')"
    by_rule = replace(
        DECISION, verdict=Verdict.ALLOW, decided_by=DecidedBy.PERSON, reason=named, message=""
    )
    by_person = replace(by_rule, request=RequestId("q2"), reason="A person approved it.")

    async def scene(database: Database) -> None:
        journal, log = DecisionJournal(database, FakeClock()), EventLog(database, FakeClock())
        for one in (by_rule, by_person):
            await database.write(journal.writing(one, session=SESSION, tool="Bash"))
            told = {"tool": "Bash", "summary": "frob", "risk": "MEDIUM", "verdict": "allow"}
            event = ToolDecided(request=one.request, **told, reason=one.reason, decided_by="person")
            await log.append([event])

        for by, request in [(DecidedBy.RULE, "q1"), (DecidedBy.PERSON, "q2")]:
            found = await journal.read(decided_by=by)
            assert [one.decision.request for one in found] == [request]
        assert [one.decision.decided_by for one in await journal.read()] == ["person", "rule"]
        assert await journal.counts(SESSION) == {"allow/rule": 1, "allow/person": 1}
        assert [one.event.data()["decided_by"] for one in await log.tail(None, 500)] == [
            "rule",
            "person",
        ]

    play(tmp_path, scene)


def test_of_a_long_call_the_beginning_is_kept_and_two_of_them_are_told_apart(
    tmp_path: Path,
) -> None:
    async def scene(database: Database) -> None:
        journal = DecisionJournal(database, FakeClock())
        for end in "xy":
            about = {"file_path": "a.json", "edits": [{"new_string": "n" * 1_000_000 + end}]}
            await database.write(
                journal.writing(DECISION, session=SESSION, tool="MultiEdit", tool_input=about)
            )

        second, first = await journal.read()

        assert first.input == second.input
        assert first.input["file_path"] == "a.json"
        assert 1_000 < len(first.input["edits"][0]["new_string"]) < 10_000
        assert first.digest != second.digest

    play(tmp_path, scene)


def test_a_call_is_new_when_no_earlier_run_of_its_task_made_it(tmp_path: Path) -> None:
    async def scene(database: Database) -> None:
        journal, ledger = (
            DecisionJournal(database, SystemClock()),
            SqliteLedger(database, FakeClock(), "me"),
        )
        await ledger.add(NewTask(id=TaskId("t"), group="g", prompt=""))
        session = (await session_with_run(database)).session
        runs = RunStore(database)
        again = Run(**AGAIN, session=session, claude_session=ClaudeSessionId("c"), started_at=2.0)
        await runs.begin(again)

        async def decide(request: str, run: str, command: str) -> None:
            decision = replace(DECISION, request=RequestId(request), run=RunId(run))
            tool_input = {"command": command}
            await database.write(
                journal.writing(decision, session=session, tool="Bash", tool_input=tool_input)
            )

        await decide("q1", "r-1", "make")
        await decide("q2", again.id, "make")
        await decide("q3", again.id, "make test")
        await decide("q4", again.id, "make test")

        new = [await journal.is_new(RequestId(f"q{n}"), again.id, TaskId("t")) for n in range(2, 6)]
        assert new == [False, True, True, False], "q5 was never decided"
        assert await journal.is_new(RequestId("q2"), again.id, TaskId("another")), "not its task's"

    play(tmp_path, scene)


@pytest.mark.parametrize("sql", ["UPDATE decisions SET reason = 'x'", "DELETE FROM decisions"])
def test_the_database_itself_refuses_to_change_a_decision(tmp_path: Path, sql: str) -> None:
    async def scene(database: Database) -> None:
        journal = DecisionJournal(database, SystemClock())
        await database.write(journal.writing(DECISION, session=SESSION, tool="Bash"))

        with pytest.raises(sqlite3.IntegrityError, match="a decision is never"):
            await database.write(lambda c: c.execute(sql))

        assert len(await journal.read()) == 1

    play(tmp_path, scene)
