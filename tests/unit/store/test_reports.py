"""What a report reads from the tables."""

import time
from pathlib import Path

import pytest

from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.events import (
    BudgetUsedUp,
    CheckEnded,
    DiscardBegan,
    HandoverDone,
    LimitReached,
    MergeBegan,
    MergeDone,
    ProblemNoticed,
    QuestionAnswered,
    RunEnded,
    RunStarted,
    SessionCreated,
    SessionStatusChanged,
    TaskSettled,
    TextSaid,
    ToolFinished,
)
from perpetualcc.domain.ids import (
    ClaudeSessionId,
    MessageId,
    RequestId,
    RunId,
    SessionId,
    TaskId,
)
from perpetualcc.domain.session_status import TAKEN_OVER
from perpetualcc.domain.sessions import Run, SessionOptions
from perpetualcc.domain.tasks import NewTask
from perpetualcc.domain.tools import Risk
from perpetualcc.sessions.budget import BudgetRequest
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.reports import SqliteReports
from perpetualcc.store.results import Results
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore
from perpetualcc.store.words import SqliteWords
from tests.fakes.clock import FakeClock
from tests.fakes.tables import on_tables

PROJECT = Path("/home/someone/project")
HOUR = 3600.0


class World:
    """The tables, and a clock that only goes when it is told to."""

    def __init__(self, database):
        self.database, self.clock = database, FakeClock()
        self.events = EventLog(database, self.clock)
        self.decisions = DecisionJournal(database, self.clock)
        self.sessions = SessionStore(database, self.clock)
        self.budget = SqliteBudget(database)
        self.runs = RunStore(database)
        self.calls = 0

    async def session(self, name, *prompts):
        def begin(session):
            tasks = [NewTask(id=TaskId(f"t-{p}"), group=session.id, prompt=p) for p in prompts]
            told = SessionCreated(session=session.id, name=name, project=str(PROJECT))
            return tasks, [told]

        made = await self.sessions.create(
            name=name, project=PROJECT, options=SessionOptions(), begin=begin
        )
        return made.id

    async def settle(self, session, prompt, state, result=""):
        settled = TaskSettled(
            session=session, task=TaskId(f"t-{prompt}"), state=state, result=result
        )
        await self.events.append([settled])

    async def decide(
        self, session, tool, given, verdict=Verdict.ALLOW, reason="why", is_error=False
    ):
        """`is_error` None: it was cut off, and has no result."""
        self.calls += 1
        request = RequestId(f"q-{self.calls}")
        decision = Decision(
            request=request,
            run=RunId("r"),
            verdict=verdict,
            risk=Risk.HIGH,
            confidence=1.0,
            reason=reason,
            decided_by=DecidedBy.POLICY,
        )
        work = self.decisions.writing(
            decision, session=session, tool=tool, summary="it", tool_input=given
        )
        await self.database.write(work)
        if verdict is Verdict.ALLOW and is_error is not None:
            ended = ToolFinished(session=session, request=request, is_error=is_error)
            await self.events.append([ended])

    async def report(self, hours=24.0, session=None):
        now = self.clock.now()
        return await SqliteReports(self.database).since(now - hours * HOUR, now, session)


@pytest.fixture
def play(tmp_path):
    return lambda scene: on_tables(tmp_path, lambda database: scene(World(database)))


def test_nothing_happened(play):
    assert play(lambda world: world.report()) == []


def test_each_session_says_what_ended_last_and_not_what_was_before(play):
    async def scene(world):
        first = await world.session("first", "old", "tried", "new")
        await world.settle(first, "old", "done", "long ago")
        world.clock.move(48 * HOUR)
        second = await world.session("second", "b")
        await world.settle(first, "tried", "failed", "no")
        await world.settle(first, "new", "done", "yes")
        await world.settle(first, "tried", "queued")
        await world.settle(first, "tried", "done", "at last")
        return first, second, await world.report(), await world.report(session=second)

    first, second, both, only = play(scene)

    assert [one.session for one in both] == [first, second]
    ended = [(task.prompt, task.state, task.result) for task in both[0].tasks]
    assert ended == [("new", "done", "yes"), ("tried", "done", "at last")]
    assert both[1].tasks == []
    assert [one.session for one in only] == [second]


def merge(kind, session):
    facts = {"branch": "worktree-x", "into": "main", "before": "1", "after": "2", "files": 3}
    return kind(session=session, by="ana", **facts)


def test_a_merge_is_told_once_and_what_was_only_begun_is_not_done(play):
    async def scene(world):
        first, second = [await world.session(name) for name in ("first", "second")]
        await world.events.append([merge(MergeBegan, first), merge(MergeDone, first)])
        await world.events.append([DiscardBegan(session=first, branch="worktree-x", kept="undo-1")])
        await world.events.append([merge(MergeDone, second), merge(MergeBegan, second)])
        return await world.report()

    first, second = play(scene)

    told = [(one.act, one.to, one.files, one.by, one.is_done) for one in first.dealt_with]
    assert told == [("merge", "main", 3, "ana", True), ("discard", "undo-1", 0, "", False)]
    assert [one.is_done for one in second.dealt_with] == [False]


WORKTREE = PROJECT / ".claude" / "worktrees" / "x"


@pytest.mark.parametrize(
    ("project", "then", "is_taken"),
    [
        (WORKTREE, (MergeBegan,), False),
        (WORKTREE, (MergeDone,), True),
        (WORKTREE, (MergeDone, RunStarted, RunEnded), False),
        (WORKTREE, (RunStarted, RunEnded, MergeDone), True),
        (PROJECT, (MergeDone,), False),
    ],
)
def test_what_was_merged_is_taken_until_something_runs_there_again(play, project, then, is_taken):
    async def scene(world):
        made = [
            await world.sessions.create(name=name, project=project, options=SessionOptions())
            for name in ("first", "beside")
        ]
        first, beside = (one.id for one in made)
        facts = {
            MergeBegan: merge(MergeBegan, first),
            MergeDone: merge(MergeDone, first),
            RunStarted: RunStarted(session=beside, claude_session="c"),
            RunEnded: RunEnded(session=beside, outcome="done"),
        }
        await world.events.append([facts[kind] for kind in then])
        return [first, beside], await Results(world.database).taken([first, beside])

    both, taken = play(scene)

    assert taken == (frozenset(both) if is_taken else frozenset())


def test_what_was_given_up_is_told_with_what_comes_after_it_and_is_left_out(play):
    async def scene(world):
        session = await world.session("s", "build", "tidy up")
        ledger = SqliteLedger(world.database, world.clock, owner="me")
        for first, then in (("build", "ship"), ("ship", "announce"), ("tidy up", "rest")):
            after = (TaskId(f"t-{first}"),)
            await ledger.add(
                NewTask(id=TaskId(f"t-{then}"), group=session, prompt=then, after=after)
            )
        await ledger.cancel(TaskId("t-build"))
        await world.settle(session, "build", "cancelled")
        return await world.report()

    (one,) = play(scene)

    assert [(task.prompt, task.state, task.result) for task in one.tasks] == [
        ("build", "cancelled", ""),
        ("ship", "cancelled", "Comes after t-build, which is cancelled"),
        ("announce", "cancelled", "Comes after t-build, which is cancelled"),
    ]


def test_it_counts_what_else_happened(play):
    async def scene(world):
        it = await world.session("s", "a")
        answered = QuestionAnswered(
            session=it, request=RequestId("q"), answers={"Which?": "This", "How?": "So"},
            decided_by="brain", reason="R.md:3",
        )  # fmt: skip
        limit = LimitReached(session=it, window="five_hour", resets_at=None)
        spent = BudgetUsedUp(session=it, name="tokens_per_day", used=5, allowed=5)
        failed = CheckEnded(session=it, command="make", trouble="exit code 2")
        handed = HandoverDone(
            session=it, iteration=1, manner="written", reason="full", tokens=1, minutes=1.0,
            findings=[],
        )  # fmt: skip
        problem = ProblemNoticed(session=it, text="It broke")
        await world.events.append(
            [answered, limit, limit, spent, spent, failed, CheckEnded(session=it, command="make"),
             handed, problem, problem, TextSaid(session=it, text="Hm"),
             *(SessionStatusChanged(session=it, before="PROCESSING", after="IDLE", detail=detail)
               for detail in (TAKEN_OVER, "", TAKEN_OVER))]
        )  # fmt: skip
        return await world.report()

    (one,) = play(scene)

    assert [(a.question, a.answer, a.by, a.because) for a in one.answers] == [
        ("Which?", "This", "brain", "R.md:3"), ("How?", "So", "brain", "R.md:3"),
    ]  # fmt: skip
    assert (one.limits, one.checks, one.handovers) == (["five_hour", "five_hour"], 1, 1)
    assert one.problems == ["It broke"]
    assert one.restarts == 2
    assert one.budgets == ["tokens_per_day"]


def test_files_are_those_that_were_written_and_refusals_are_counted(play):
    async def scene(world):
        it = await world.session("s", "a")
        ours = ".claude-handover/handover.md"
        for path in ("src/a.py", "src/a.py", "/etc/passwd", ours, "notes.md"):
            inside = path if path.startswith("/") else str(PROJECT / path)
            await world.decide(it, "Write", {"file_path": inside, "content": "x" * 9_000})
        await world.decide(it, "NotebookEdit", {"notebook_path": str(PROJECT / "b.ipynb")})
        await world.decide(it, "Write", {"file_path": str(PROJECT / "no.py")}, Verdict.DENY)
        await world.decide(it, "Edit", {"file_path": str(PROJECT / "failed.py")}, is_error=True)
        await world.decide(it, "Write", {"file_path": str(PROJECT / "killed.py")}, is_error=None)
        await world.decide(it, "Bash", {"command": "rm -rf /"}, Verdict.DENY, "gone")
        await world.decide(it, "Bash", {"command": "rm -rf /"}, Verdict.DENY, "gone")
        await world.decide(SessionId("others"), "Bash", {}, Verdict.DENY)
        return await world.report()

    (one,) = play(scene)

    assert one.files == ["src/a.py", "notes.md", "b.ipynb"]
    assert one.allowed == 8
    assert [(call.tool, call.reason, call.times) for call in one.refused] == [
        ("Write", "why", 1), ("Bash", "gone", 2),
    ]  # fmt: skip


def test_costs_are_those_of_runs_that_worked_in_that_time(play):
    async def scene(world):
        it = await world.session("s", "a")
        for hours, tokens in ((0, 1_000), (30, 200), (1, 30)):
            world.clock.move(hours * HOUR)
            request = BudgetRequest(session=it, task=TaskId("t-a"), is_unattended=False)
            began = world.clock.now()
            run = Run(
                id=RunId(f"r-{hours}"), session=it, task=TaskId("t-a"), fence=1, started_at=began,
                claude_session=ClaudeSessionId("c"),
            )  # fmt: skip
            await world.runs.begin(run)
            await world.runs.end(run.id, ended_at=began, outcome="done")
            await world.budget.reserve(request, began)
            await world.budget.close(TaskId("t-a"), tokens, tokens / 1_000, world.clock.now())
        # A task that is looked at, and needs no run.
        await world.budget.reserve(request, world.clock.now())
        await world.budget.close(TaskId("t-a"), 0, 0.0, world.clock.now())
        await world.settle(it, "a", "done")
        return await world.report()

    (one,) = play(scene)

    assert (one.runs, one.tokens, round(one.usd, 3)) == (2, 230, 0.23)


def test_a_clock_that_was_set_back_hides_nothing_of_what_came_after(play):
    async def scene(world):
        world.clock.move(10 * HOUR)
        it = await world.session("s", "a", "b")
        await world.settle(it, "a", "done")
        world.clock.move(-9 * HOUR)
        await world.settle(it, "b", "done")
        return await world.report(hours=0.5)

    (one,) = play(scene)

    assert "b" in [task.prompt for task in one.tasks]


def test_an_hour_in_a_log_of_hundreds_of_thousands_is_found_at_once(play):
    async def scene(world):
        it = await world.session("s", "a")
        for _ in range(40):
            await world.events.append([TextSaid(session=it, text="Hm")] * 5_000)
            world.clock.move(HOUR)
        await world.settle(it, "a", "done")
        took = {1.5: [], 100.0: []}
        for hours in [*took] * 5:
            began = time.perf_counter()
            (found,) = await world.report(hours=hours)
            took[hours].append(time.perf_counter() - began)
            assert [task.prompt for task in found.tasks] == ["a"]
        return took

    took = play(scene)

    assert min(took[1.5]) < min(took[100.0]) / 8


def test_what_was_said_is_told_with_how_far_it_has_come(play):
    async def scene(world):
        it = await world.session("s", "old", "ended", "open")
        words = SqliteWords(world.database, world.clock)

        async def say(prompt, text, state=None):
            word = await words.add(it, TaskId(f"t-{prompt}"), text, by="me")
            if state == "given":
                await words.give([word.number], MessageId("m"), ClaudeSessionId("c"))
            elif state == "used":
                await words.use([word.number])

        await say("old", "heard long ago", "used")
        await say("old", "never, long ago")
        await say("open", "still on its way", "given")
        world.clock.move(48 * HOUR)
        await say("ended", "too late")
        await say("open", "heard", "used")
        await say("open", "waits")
        ledger = SqliteLedger(world.database, world.clock, owner="me")
        for task in ("t-old", "t-ended"):
            await ledger.cancel(TaskId(task))
        return await world.report()

    (one,) = play(scene)

    assert [(word.text, word.heard.value) for word in one.words] == [
        ("still on its way", "given"), ("too late", "never"), ("heard", "heard"),
        ("waits", "waiting"),
    ]  # fmt: skip
