"""One run's way to its handover, second by second, with a clock that the test moves."""

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.handover.handovers import Handovers
from perpetualcc.agent.inbox import (
    ClockTicked,
    Gone,
    Inbox,
    Order,
    Said,
    Started,
    Told,
    ToolEnded,
    ToolWanted,
    TroubleReported,
)
from perpetualcc.agent.ports import Launch
from perpetualcc.domain.events import (
    ContextMeasured,
    HandoverDone,
    HandoverDue,
    ProblemNoticed,
    ToolDecided,
    ToolFinished,
)
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Perpetual, Session, SessionOptions
from perpetualcc.domain.tasks import Again, Done, Lane, Later, Parked, Task, TaskState
from perpetualcc.sessions.handover.document import HandoverDocument, Heading, render_document
from perpetualcc.sessions.handover.records import Manner
from perpetualcc.sessions.handover.thresholds import HandoverSettings
from tests.fakes.clock import FakeClock


class FakeClaude:
    """Remembers what it was told."""

    def __init__(self, window=None):
        self.reminders, self.interrupts, self.window, self.asked = [], 0, window, 0

    def remind(self, text):
        self.reminders.append(text)

    async def interrupt(self):
        self.interrupts += 1

    async def context_window(self):
        self.asked += 1
        return self.window


@dataclass
class FakeRecords:
    """Handovers in memory, with the same laws as the table."""

    rows: dict = field(default_factory=dict)
    events: list = field(default_factory=list)
    recorded: list = field(default_factory=list)
    settled: bool = True
    """The run that made the newest handover lived to its end."""
    began: float = 0.0
    """When the task's first run began."""
    lost: bool = True
    """A run that left a handover undone died."""

    async def begin(self, handover):
        self.rows.setdefault(handover.iteration, handover)

    async def finish(self, handover, *events):
        self.rows[handover.iteration] = handover
        self.recorded += events

    async def drop(self, session):
        self.rows = {n: one for n, one in self.rows.items() if one.done_at is not None}

    async def history(self, session):
        return [self.rows[n] for n in sorted(self.rows, reverse=True)]

    async def is_settled(self, handover):
        return self.settled

    async def was_lost(self, handover):
        return self.lost

    async def is_new(self, task, conversation, calls):
        return True

    async def evidence(self, conversation):
        return self.events

    async def began_at(self, task):
        return self.began

    async def seconds_worked(self, conversation):
        return 0.0

    async def record(self, *events):
        self.recorded += events


class Stage:
    """A watch with everything around it faked but the files."""

    def __init__(self, project: Path, *, perpetual=None, settings=None, window=None):
        self.clock, self.steady = FakeClock(), FakeClock()
        self.records, self.inbox = FakeRecords(), Inbox()
        self.claude = FakeClaude(window)
        self.project = project
        self.handovers = Handovers(
            self.records, self.records, settings or HandoverSettings(), self.clock, self.steady
        )
        self.session = Session(
            id=SessionId("abc123"), name="s", project=project, status=SessionStatus.PROCESSING,
            options=SessionOptions(perpetual=perpetual), created_at=0, updated_at=0,
        )  # fmt: skip
        self.task = Task(
            id=TaskId("t-1"), group="abc123", prompt="Build it", priority=0, after=(), due=0,
            lane=Lane.INTERACTIVE, state=TaskState.RUNNING, attempts=1, max_attempts=3, fence=1,
            payload={}, signal=None, answer=None, result="", packet=None, created_at=0,
            updated_at=0,
        )  # fmt: skip
        self.watch = None

    async def begin(self, conversation="c-1", *, resume=False):
        iteration = await self.handovers.current(self.session, self.task)
        launch = Launch(
            session=self.session, run=RunId("r-1"), claude_session=ClaudeSessionId(conversation),
            resume=resume, prompt="Build it",
        )  # fmt: skip
        self.watch = self.handovers.watch(iteration, launch)
        await self.watch.begin()
        return iteration

    async def see(self, arrival, *, is_held=False):
        await self.watch.seen(arrival, self.claude, self.inbox, is_held=is_held)

    async def tick(self, seconds=1.0, *, is_held=False):
        self.clock.move(seconds)
        self.steady.move(seconds)
        await self.see(ClockTicked(), is_held=is_held)

    def kinds(self, kind):
        return [event for event in self.records.recorded if isinstance(event, kind)]

    def orders(self):
        found = []
        while not self.inbox._queue.empty():
            found.append(self.inbox._queue.get_nowait())
        return found


def play(story):
    asyncio.run(asyncio.wait_for(story, 20))


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path, perpetual=Perpetual())


def folder(stage):
    return stage.project / ".claude-handover"


def write_document(stage, **more):
    heading = Heading(generated="", iteration=1, duration="", reason="")
    document = HandoverDocument(**{"summary": "Half is done.", **more})
    (folder(stage) / "handover.md").write_text(render_document(document, "x", heading))


def test_claude_is_reminded_once_and_the_handover_is_on_file_first(stage):
    async def story():
        await stage.begin()
        await stage.see(Said(text="Hm.", context_tokens=89_999))
        assert stage.claude.reminders == []
        await stage.see(Said(text="Hm.", context_tokens=90_000))
        await stage.see(Said(text="Hm.", context_tokens=95_000))

        assert len(stage.claude.reminders) == 1
        assert str(folder(stage) / "trigger.flag") in stage.claude.reminders[0]
        assert stage.records.rows[1].done_at is None
        assert stage.orders() == []

    play(story())


IMAGE = TroubleReported(kind="invalid_request", text="Image was too large.")
NO_RESULT = TroubleReported(kind="unknown", text="API Error: 400 tool_use ids were found without")
SERVER = TroubleReported(kind="unknown", text="API Error: 500 Internal server error")


@pytest.mark.parametrize(
    ("resume", "before", "trouble", "hands_over"),
    [
        (True, [], IMAGE, True),
        (True, [], NO_RESULT, True),
        (True, [], SERVER, False),
        (True, [Said(text="I can", context_tokens=100)], IMAGE, True),
        (True, [ToolEnded(request=RequestId("r"), is_error=False)], IMAGE, False),
        (False, [], IMAGE, False),
    ],
)
def test_a_conversation_that_is_refused_when_it_is_gone_on_with_is_handed_over(
    stage, resume, before, trouble, hands_over
):
    async def story():
        await stage.begin(resume=resume)
        for arrival in [*before, trouble]:
            await stage.see(arrival)

        assert stage.orders() == ([Told(order=Order.HAND_OVER)] if hands_over else [])
        for due in stage.kinds(HandoverDue):
            assert due.reason == f"the conversation cannot go on: {trouble.text}"

    play(story())


def test_status_txt_is_written_at_changes_and_every_thirty_seconds(stage):
    async def story():
        await stage.begin()
        status = folder(stage) / "status.txt"
        await stage.see(Said(text="", context_tokens=20_000))
        first = status.stat().st_ino
        for _ in range(29):
            await stage.tick()
        assert status.stat().st_ino == first
        await stage.tick()
        assert status.stat().st_ino != first
        assert status.read_text().startswith("TOKENS: 20,000 / 120,000 (17%) - NORMAL")
        await stage.see(Said(text="", context_tokens=21_000))
        assert "21,000" in status.read_text()
        assert json.loads((folder(stage) / "state.json").read_text())["iteration"] == 1
        assert len(stage.kinds(ContextMeasured)) == 2

    play(story())


def test_time_does_not_count_before_the_start_or_while_a_person_is_asked(stage):
    async def story():
        await stage.begin()
        await stage.tick(3600)
        await stage.see(Started(model="m", permission_mode="default"))
        await stage.tick(17 * 60)
        await stage.tick(1, is_held=True)
        await stage.tick(3600, is_held=True)
        await stage.tick(1)
        assert stage.claude.reminders == []
        await stage.tick(60)
        assert len(stage.claude.reminders) == 1

    play(story())


@pytest.mark.parametrize("hours", [8, -8])
def test_a_clock_that_leaps_is_no_work(stage, hours):
    """A laptop slept, or somebody set the time."""

    async def story():
        await stage.begin()
        await stage.see(Started(model="m", permission_mode="default"))
        await stage.tick(60)
        stage.clock.move(hours * 3600)
        await stage.tick()
        assert stage.claude.reminders == []
        await stage.see(Said(text="", context_tokens=120_000))
        stage.clock.move(hours * 3600)
        await stage.tick()
        assert stage.claude.interrupts == 0
        await stage.tick(6)
        assert stage.claude.interrupts == 1

    play(story())


def test_the_trigger_counts_while_a_person_is_asked_too(stage):
    async def story():
        await stage.begin()
        (folder(stage) / "trigger.flag").touch()
        await stage.tick(1, is_held=True)
        assert stage.orders() == [Told(order=Order.HAND_OVER)]
        assert not (folder(stage) / "trigger.flag").exists()

    play(story())


def test_a_claude_that_does_not_stop_is_interrupted_again_and_then_ended(stage):
    async def story():
        await stage.begin()
        await stage.see(Said(text="", context_tokens=120_000))
        assert stage.orders() == [Told(order=Order.HAND_OVER)]
        for _ in range(25):
            await stage.tick()
        assert stage.claude.interrupts >= 10
        assert isinstance(stage.orders()[0], Gone)

    play(story())


def test_the_real_window_counts_and_is_asked_for_once(tmp_path):
    async def story():
        stage = Stage(tmp_path, window=1_000_000)
        await stage.begin()
        for tokens in (10_000, 100_000, 190_000, 700_000):
            await stage.see(Said(text="", context_tokens=tokens))
        assert (stage.claude.asked, stage.claude.reminders) == (1, [])
        assert not folder(stage).exists(), "an ordinary project stays as it is until it matters"
        await stage.see(Said(text="", context_tokens=800_000))
        assert len(stage.claude.reminders) == 1
        assert folder(stage).exists()

    play(story())


def test_an_ordinary_session_hands_over_without_its_folder_too(tmp_path):
    async def story():
        stage = Stage(tmp_path, window=200_000)
        folder(stage).write_text("a file in its place")
        await stage.begin()
        await stage.see(Said(text="", context_tokens=160_000))
        assert "plain text" in stage.claude.reminders[0]
        assert len(stage.kinds(ProblemNoticed)) == 1
        await stage.see(Said(text="Half is done.", context_tokens=176_000))
        outcome = await stage.watch.conclude(
            Later(due=0, reason="x"), RunFacts(order=Order.HAND_OVER)
        )
        assert isinstance(outcome, Again)
        assert stage.records.rows[1].manner is Manner.FORCED

    play(story())


def test_with_handovers_off_an_ordinary_session_is_left_alone(tmp_path):
    async def story():
        stage = Stage(tmp_path, settings=HandoverSettings(enabled=False))
        iteration = await stage.begin()
        launch = Launch(
            session=stage.session, run=RunId("r"), claude_session=ClaudeSessionId("c"),
            resume=False, prompt="", may_compact=True,
        )  # fmt: skip
        stage.watch = stage.handovers.watch(iteration, launch)
        await stage.see(Said(text="", context_tokens=199_000))
        assert stage.records.rows == {}

    play(story())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("invalid_request", "Prompt is too long"),
        ("unknown", "API Error: The model has reached its context window limit."),
    ],
)
def test_a_full_context_is_the_hard_limit_whatever_was_counted(stage, kind, text):
    async def story():
        await stage.begin()
        await stage.see(TroubleReported(kind=kind, text=text))
        assert stage.orders() == [Told(order=Order.HAND_OVER)]
        assert stage.kinds(HandoverDue)[0].reason == "the context is full"

    play(story())


def test_without_figures_the_files_are_counted(stage):
    async def story():
        await stage.begin()
        (stage.project / "big.py").write_text("x" * 79 + "\n")
        for number in range(90):
            content = "y" * 4_000
            wanted = ToolWanted(
                request=RequestId(str(number)), tool="Write", input={"content": content}
            )
            await stage.see(wanted)
            await stage.see(ToolEnded(request=wanted.request, is_error=False, text="ok"))
        assert len(stage.claude.reminders) == 1
        assert stage.kinds(HandoverDue)[0].reason.endswith("tokens of context")

    play(story())


@pytest.mark.parametrize(
    ("is_warned", "open_steps", "is_triggered", "expected"),
    [
        (False, ("Go on",), False, Done),
        (True, (), False, Done),
        (True, ("Go on",), False, Again),
        (True, (), True, Again),
        (False, (), True, Again),
    ],
)
def test_a_turn_that_ended_well_is_the_end_unless_a_handover_is_pending(
    stage, is_warned, open_steps, is_triggered, expected
):
    async def story():
        await stage.begin()
        await stage.see(Said(text="", context_tokens=95_000 if is_warned else 100))
        write_document(stage, next_steps=open_steps)
        if is_triggered:
            (folder(stage) / "trigger.flag").touch()
            await stage.tick()
        outcome = await stage.watch.conclude(Done(result="ok"), RunFacts())
        assert isinstance(outcome, expected)
        assert bool(stage.records.rows) is (expected is Again)

    play(story())


def test_a_pause_waits_and_the_interrupted_handover_is_made_when_work_goes_on(stage):
    async def story():
        await stage.begin()
        await stage.see(Said(text="", context_tokens=95_000))
        paused = Later(due=0, counts=False, reason="paused")
        assert await stage.watch.conclude(paused, RunFacts(order=Order.PAUSE)) is paused

        iteration = await stage.begin("c-2")

        assert iteration.number == 2
        assert stage.records.rows[1].manner is Manner.EMERGENCY
        assert stage.kinds(HandoverDone)[0].manner == "emergency"
        assert "RECOVERY" in iteration.opening("Build it", HandoverSettings())

    play(story())


def test_the_same_blocker_three_times_stops_and_keeps_the_task_as_it_was(stage):
    async def story():
        outcomes = []
        for number in range(1, 4):
            await stage.begin(f"c-{number}")
            await stage.see(Said(text="", context_tokens=95_000))
            write_document(
                stage, summary=f"Try {number}", next_steps=("Go on",), blockers=("No key",)
            )
            (folder(stage) / "trigger.flag").touch()
            await stage.tick()
            outcomes.append(
                await stage.watch.conclude(
                    Later(due=0, reason="x"), RunFacts(order=Order.HAND_OVER)
                )
            )
        assert [type(one) for one in outcomes] == [Again, Again, Parked]
        assert outcomes[0].prompt == "Build it"
        assert "blocked: No key" in outcomes[2].result
        assert "Try 3" in outcomes[2].packet["document"]

    play(story())


def test_a_limit_that_is_met_before_the_first_reply_is_said_to_be_too_low(tmp_path):
    async def story():
        stage = Stage(tmp_path, perpetual=Perpetual(warn_tokens=10_500, hard_tokens=14_000))
        for number in range(1, 4):
            await stage.begin(f"c-{number}")
            await stage.see(Started(model="m", permission_mode="default"))
            assert stage.orders() == [Told(order=Order.HAND_OVER)]
            outcome = await stage.watch.conclude(
                Later(due=0, reason="x"), RunFacts(order=Order.HAND_OVER)
            )

        assert isinstance(outcome, Parked)
        assert "already at the hard limit of 14,000 tokens" in outcome.result

    play(story())


@pytest.mark.parametrize("dies", ["in the handover", "before the task is settled"])
def test_an_iteration_that_was_cut_off_is_one_of_those_that_were_asked_for(tmp_path, dies):
    async def story():
        stage = Stage(tmp_path, perpetual=Perpetual(max_iterations=1))
        await stage.begin()
        await stage.see(Said(text="Hm.", context_tokens=90_000))
        if dies == "before the task is settled":
            await stage.watch.conclude(Later(due=0.0), RunFacts())
        stage.records.settled = False
        stopped = await stage.handovers.current(stage.session, stage.task)

        assert isinstance(stopped, Parked)
        assert "at most 1 were asked for" in stopped.result
        stage.records.settled = True
        one_more = await stage.handovers.current(stage.session, stage.task)
        assert one_more.number == 2, "a person resumed it"

    play(story())


@pytest.mark.parametrize(("lost", "did"), [(True, True), (False, True), (False, False)])
def test_iterations_that_were_paused_or_met_a_limit_after_the_warning_are_no_trouble(
    tmp_path, lost, did
):
    """Nor are they where they could do nothing before: what ended them was not theirs."""

    async def story():
        stage = Stage(tmp_path, perpetual=Perpetual())
        stage.records.lost = lost
        ids = {"session": stage.session.id, "run": RunId("r-1"), "task": stage.task.id}
        write = {"tool": "Write", "summary": "a.py", "risk": "LOW", "reason": ""}
        allowed = {**write, "verdict": "allow", "decided_by": "policy"}
        stage.records.events = [
            ToolDecided(**ids, request=RequestId("w"), **allowed),
            ToolFinished(**ids, request=RequestId("w"), is_error=False),
        ][: 2 * did]
        for number in range(1, 4):
            await stage.begin(f"c-{number}")
            await stage.see(Said(text="Hm.", context_tokens=90_000))
            await stage.watch.conclude(Later(due=0.0), RunFacts(order=Order.PAUSE))
            stage.records.settled = False
            went_on = await stage.handovers.current(stage.session, stage.task)
            stage.records.settled = True

        assert isinstance(went_on, Parked) is lost

    play(story())


def test_what_an_earlier_task_left_uncommitted_is_not_held_against_the_document(stage):
    subprocess.run(["git", "init", "--quiet", str(stage.project)], check=True)
    for name, written_at in (("of_the_task_before.py", 50.0), ("of_this_task.py", 150.0)):
        (stage.project / name).touch()
        os.utime(stage.project / name, (written_at, written_at))
    stage.records.began = 100.0

    async def story():
        await stage.begin()
        await stage.see(Said(text="Hm.", context_tokens=90_000))
        write_document(stage, next_steps=("The other half",))
        await stage.watch.conclude(Done(result=""), RunFacts())

    play(story())

    (finding,) = stage.records.rows[1].findings
    assert finding == "It does not mention these changed files: of_this_task.py."
