"""One run in hand: tools, questions, people and pauses, one arrival at a time."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.agent.costs import CostCount
from perpetualcc.agent.endings import RunFacts, outcome_of
from perpetualcc.agent.faculties import AgentSettings
from perpetualcc.agent.inbox import (
    ApiTriedAgain,
    Asked,
    ClockTicked,
    Gone,
    HoldExpired,
    Inbox,
    LimitReported,
    Order,
    Said,
    Settled,
    Started,
    TimeUp,
    Told,
    ToolEnded,
    ToolWanted,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.agent.ports import Launch
from perpetualcc.agent.supervision import SupervisedRun
from perpetualcc.daemon.habits import Habits
from perpetualcc.domain.decisions import DecidedBy, Verdict
from perpetualcc.domain.escalations import EscalationType
from perpetualcc.domain.events import ToolFailed
from perpetualcc.domain.ids import ClaudeSessionId, RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import Option, Question
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import Done, Lane, Later, Parked, Task, TaskState, Wait
from perpetualcc.domain.tools import Risk
from perpetualcc.memory import ProceduralMemory
from perpetualcc.sessions.budget import BudgetScope, Refusal
from perpetualcc.sessions.rate_limit import RateLimitMonitor
from perpetualcc.sessions.stuck import StuckSettings, StuckWatch
from tests.fakes.clock import FakeClock
from tests.fakes.faculties import (
    MemoryJournal,
    MemoryPeople,
    MemoryWords,
    OpenMeter,
    SettledAnswerer,
    SettledGatekeeper,
    ToldClaude,
)
from tests.fakes.memory import ProceduresInMemory

SESSION = Session(
    id=SessionId("abc123"),
    name="mine",
    project=Path("/tmp/project"),
    status=SessionStatus.PROCESSING,
    options=SessionOptions(confidence=0.7),
    created_at=0,
    updated_at=0,
)
TASK = Task(
    id=TaskId("t-1"), group="abc123", prompt="Build it", priority=0, after=(), due=0.0,
    lane=Lane.INTERACTIVE, state=TaskState.RUNNING, attempts=1, max_attempts=3, fence=1,
    payload={}, signal=None, answer=None, result="", packet=None, created_at=0, updated_at=0,
)  # fmt: skip
LAUNCH = Launch(
    session=SESSION,
    run=RunId("r-1"),
    claude_session=ClaudeSessionId("c"),
    resume=False,
    prompt="Build it",
)


@dataclass
class World:
    """A run with all it works with in memory."""

    claude: ToldClaude = field(default_factory=ToldClaude)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    gatekeeper: SettledGatekeeper = field(default_factory=SettledGatekeeper)
    answerer: SettledAnswerer = field(default_factory=SettledAnswerer)
    people: MemoryPeople = field(default_factory=MemoryPeople)
    words: MemoryWords = field(default_factory=MemoryWords)
    meter: OpenMeter = field(default_factory=OpenMeter)
    facts: RunFacts = field(default_factory=RunFacts)
    inbox: Inbox = field(default_factory=Inbox)
    settings: AgentSettings = field(default_factory=AgentSettings)
    clock: FakeClock = field(default_factory=FakeClock)
    steady: FakeClock = field(default_factory=FakeClock)
    run: SupervisedRun = field(init=False)

    def __post_init__(self) -> None:
        self.run = SupervisedRun(
            launch=LAUNCH,
            task=TASK,
            facts=self.facts,
            claude=self.claude,
            inbox=self.inbox,
            faculties=SimpleNamespace(
                journal=self.journal,
                gatekeeper=self.gatekeeper,
                answerer=self.answerer,
                people=self.people,
                words=self.words,
                clock=self.clock,
                steady=self.steady,
                meter=self.meter,
                limits=RateLimitMonitor(FakeClock()),
            ),
            stuck=StuckWatch(settings=StuckSettings(), since=self.steady.now()),
            settings=self.settings,
            costs=CostCount(
                claude=self.claude,
                meter=self.meter,
                session=SESSION.id,
                task=TASK.id,
                facts=self.facts,
            ),
        )

    def verdicts(self) -> dict[str, Verdict]:
        return {name: decision.verdict for name, decision in self.claude.permissions.items()}


def play(world: World, *arrivals) -> World:
    """Handle the arrivals in order."""

    async def scene() -> None:
        for arrival in arrivals:
            await world.run.handle(arrival)

    asyncio.run(scene())
    return world


def wants(request: str, tool: str = "Write", **tool_input: str) -> ToolWanted:
    return ToolWanted(request=RequestId(request), tool=tool, input=tool_input)


def ended(request: str) -> ToolEnded:
    return ToolEnded(request=RequestId(request), is_error=False, text="done")


ASKED = Asked(
    request=RequestId("q"),
    questions=(
        Question(text="Which?", options=(Option(label="A"), Option(label="B"))),
        Question(text="When?", options=(Option(label="Now"),)),
    ),
)


# -- tools


def refused_by_claude_code(n: int) -> list[Said | ToolEnded]:
    """A call that is none: it has a result, and nobody asked us."""
    call = wants(f"call-{n}", "NoSuchTool")
    result = ToolEnded(request=call.request, is_error=True, text="No such tool")
    return [Said(text="", message=f"m-{n}", calls=(call,)), result]


def test_calls_that_claude_code_refuses_by_itself_are_not_made_for_ever():
    world = play(World(), *refused_by_claude_code(0), wants("w"), ended("w"))
    assert world.facts.stuck == ""

    for n in range(1, 14):
        play(world, *refused_by_claude_code(n))

    assert world.facts.stuck == "12 replies in a row did nothing"
    assert world.run.is_over


def test_a_question_that_is_asked_again_and_again_is_a_circle():
    world = World()
    for n in range(6):
        play(world, replace(ASKED, request=RequestId(f"q-{n}")))

    assert "the same call 6 times in a row" in world.facts.stuck


def test_each_call_is_judged_written_down_and_answered():
    world = play(World(), wants("w", file_path="/tmp/project/a.py"), wants("x", "Odd"))

    assert world.verdicts() == {"w": Verdict.ALLOW, "x": Verdict.DENY}
    assert [call.tool for call in world.gatekeeper.judged] == ["Write", "Odd"]
    assert [(e.tool, e.summary, e.verdict) for e in world.journal.written] == [
        ("Write", "a.py", "allow"),
        ("Odd", "", "deny"),
    ]
    assert list(world.run.calls.at_work) == ["w"]


def test_a_call_that_was_let_through_and_did_not_work_is_told_and_a_refused_one_is_not():
    broken = [ToolEnded(request=RequestId(n), is_error=True, text="No room") for n in "wx"]
    world = play(World(), wants("w", file_path="/tmp/project/a.py"), wants("x", "Odd"), *broken)

    failed = [e for e in world.journal.written if isinstance(e, ToolFailed)]
    assert [(e.tool, e.summary, e.text) for e in failed] == [("Write", "a.py", "No room")]


def test_a_call_that_claude_code_refuses_before_it_asks_is_told():
    said = Said(text="", message="m1", calls=(wants("b", "Bash", command="sleep 60"), wants("w")))
    results = [ToolEnded(request=RequestId(n), is_error=True, text="No") for n in "bw"]
    world = play(World(), said, wants("w", "Odd"), *results)

    failed = [e for e in world.journal.written if isinstance(e, ToolFailed)]
    assert [(e.tool, e.summary, e.text) for e in failed] == [("Bash", "sleep 60", "No")]


def test_the_work_got_on_with_the_first_call_that_no_earlier_run_made():
    world = World()
    world.journal.repeated = frozenset({RequestId("1")})

    play(world, wants("1"), ended("1"))
    assert not world.run.facts.got_on
    play(world, wants("2"), ended("2"), wants("3"), ended("3"))

    assert world.run.facts.got_on
    assert world.journal.results == ["1", "2"]


def test_what_is_a_persons_to_decide_is_held_for_them_while_others_go_on():
    world = play(World(), wants("b", "Bash", command="make"), wants("w"), ended("w"))

    assert world.verdicts() == {"w": Verdict.ALLOW}
    [request] = world.people.asked
    assert (request.type, request.title) == (EscalationType.PERMISSION, "Approve: Bash make")
    assert world.journal.kinds()[0] == "ToolRequested"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"approve": True}, Verdict.ALLOW),
        ({"approve": False, "text": "not now"}, Verdict.DENY),
        ({"text": "yes"}, Verdict.DENY),
        ({}, Verdict.DENY),
    ],
)
def test_only_a_clear_approval_lets_a_call_through(answer, verdict):
    world = play(World(), wants("b", "Bash"), Settled(number=1, answer=answer))

    assert world.verdicts() == {"b": verdict}
    [decision] = world.journal.decisions
    assert decision.decided_by is DecidedBy.PERSON
    assert str(answer.get("text", "")) in decision.message + decision.reason


@pytest.mark.parametrize("risk", Risk)
@pytest.mark.parametrize("answer", [{"approve": True}, {"approve": False}, {"expired": True}])
def test_what_a_person_decides_keeps_the_risk_of_the_call(risk, answer):
    judging = SettledGatekeeper(risk=risk)

    held = play(World(gatekeeper=judging), wants("b", "Bash"), Settled(number=1, answer=answer))
    people = MemoryPeople()
    people.answer_before(held.people.asked[0], answer)
    stored = play(World(gatekeeper=judging, people=people), wants("b", "Bash"))

    assert [one.risk for one in held.journal.decisions] == [risk]
    assert [one.risk for one in stored.journal.decisions] == [risk]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ({"approve": False, "text": "never"}, [(DecidedBy.PERSON, "A person refused it: never.")]),
        ({"approve": False, "expired": True}, [(DecidedBy.TIMEOUT, "Nobody answered in time.")]),
        ({"approve": True}, []),
    ],
)
def test_a_refusal_that_claude_heard_of_in_its_prompt_is_on_record_once(answer, kept):
    high = World(gatekeeper=SettledGatekeeper(risk=Risk.HIGH))
    held = play(high, wants("b", "Bash", command="make"))
    people = MemoryPeople()
    people.answer_before(held.people.asked[0], answer)
    world = World(people=people)
    turn = TurnEnded(is_error=False, subtype="success", result="Done.")

    play(world, turn, turn)

    assert [(one.decided_by, one.reason) for one in world.journal.decisions] == kept
    assert {one.risk for one in world.journal.decisions} <= {Risk.HIGH}
    assert [event.summary for event in world.journal.written if event.kind == "ToolDecided"] == [
        "make" for _ in kept
    ]
    assert world.claude.permissions == {}


@pytest.mark.parametrize("is_repeated", [True, False])
def test_a_call_that_nobody_answered_while_nothing_ran_is_listed_for_review(is_repeated):
    held = play(World(), wants("b", "Bash"))
    people = MemoryPeople()
    people.answer_before(held.people.asked[0], {"approve": False, "expired": True})
    repeated = [wants("b", "Bash")] if is_repeated else []
    turn = TurnEnded(is_error=False, subtype="success", result="Done.")

    world = play(World(people=people), *repeated, turn)

    [review] = world.people.asked
    assert review.type is EscalationType.REVIEW
    assert len(world.journal.decisions) == 1


class Killed(BaseException):
    """Nothing after this is executed."""


async def killed(*_: object) -> None:
    raise Killed


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize(
    ("answer", "heard"),
    [({"approve": False}, {"b": Verdict.DENY}), ({"approve": True}, {})],
)
def test_a_kill_as_an_answer_is_used_repeats_no_approval_and_asks_for_no_refusal_again(
    answer, heard, is_stored
):
    """What was used and not heard of is asked for again; a refusal is better heard of twice."""
    people = MemoryPeople()
    if is_stored:
        held = play(World(), wants("b", "Bash"))
        people.answer_before(held.people.asked[0], answer)
    people.use = killed
    world = World(people=people)

    with pytest.raises(Killed):
        play(world, wants("b", "Bash"), Settled(number=1, answer=answer))

    assert world.verdicts() == heard


@pytest.mark.parametrize("is_expired", [True, False])
def test_what_nobody_approved_is_on_the_list_before_claude_hears_of_it(is_expired):
    """A kill between the two would leave it on no list: nobody would look at it."""
    people = MemoryPeople(is_attached=False)
    if is_expired:
        held = play(World(), wants("b", "Bash"))
        people.answer_before(held.people.asked[0], {"approve": False, "expired": True})
    people.escalate = killed
    world = World(people=people)

    with pytest.raises(Killed):
        play(world, wants("b", "Bash"))

    assert world.verdicts() == {}
    assert people.used == []


def test_what_a_person_approved_becomes_a_habit():
    habits = Habits(ProceduralMemory(ProceduresInMemory()))
    project = str(SESSION.project)
    medium = World(gatekeeper=SettledGatekeeper(risk=Risk.MEDIUM))

    async def learned():
        for event in medium.journal.written:
            await habits.learn(event, project)
        return await habits.for_call(project, "Bash", "git fetch origin a4")

    play(
        medium,
        wants("b", "Bash", command="git fetch origin a4"),
        Settled(number=1, answer={"approve": True}),
    )

    assert asyncio.run(learned()).action == Verdict.ALLOW


def test_a_second_answer_changes_nothing():
    first, second = (
        Settled(number=1, answer={"approve": False}),
        Settled(number=1, answer={"approve": True}),
    )

    world = play(World(), wants("b", "Bash"), first, second, Settled(number=9))

    assert world.verdicts() == {"b": Verdict.DENY}
    assert len(world.journal.decisions) == 1


def test_nobody_there_means_no_with_a_word_what_to_do_and_something_to_review():
    world = play(World(people=MemoryPeople(is_attached=False)), wants("b", "Bash"))

    assert world.verdicts() == {"b": Verdict.DENY}
    assert "do what you can without it" in world.claude.permissions["b"].message
    assert [request.type for request in world.people.asked] == [EscalationType.REVIEW]


def test_a_word_given_before_counts_for_exactly_that_call_and_once():
    before = play(World(), wants("b", "Bash", command="make"))
    people = MemoryPeople(is_attached=False)
    people.answer_before(before.people.asked[0], {"approve": True})

    world = play(
        World(people=people),
        wants("1", "Bash", command="make"),
        wants("2", "Bash", command="make"),
        wants("3", "Bash", command="make clean"),
    )

    assert world.verdicts() == {"1": Verdict.ALLOW, "2": Verdict.DENY, "3": Verdict.DENY}


# -- pauses


def test_a_pause_waits_for_every_tool_that_is_at_work():
    world = play(World(), wants("1"), wants("2"), Told(order=Order.PAUSE))
    assert not world.run.is_over

    play(world, ended("1"))
    assert not world.run.is_over
    play(world, ended("2"))

    assert world.run.is_over
    assert world.claude.interruptions == 0


def test_an_engine_that_stops_cuts_off_no_reply_and_begins_no_further_call():
    world = play(World(), wants("1"), Told(order=Order.LEAVE))
    assert not world.run.is_over, "its call is at work"

    play(world, ended("1"))

    assert world.run.is_over
    world = play(World(), Told(order=Order.LEAVE))
    assert not world.run.is_over, "a reply is on its way"
    play(world, wants("1"))
    assert world.run.is_over
    assert world.verdicts() == {}


def test_an_engine_that_stops_holds_no_claude_for_an_answer():
    world = play(World(), ASKED, Told(order=Order.LEAVE))
    assert world.run.is_over
    assert world.facts.question == 1

    world = play(World(), Told(order=Order.LEAVE), ASKED)
    assert world.run.is_over
    assert world.facts.question == 1

    world = play(World(), wants("b", "Bash"), Told(order=Order.LEAVE))
    assert world.run.is_over
    assert world.facts.question is None, "nobody has refused it: Claude asks again"
    assert world.verdicts() == {}


REFUSED = ApiTriedAgain(attempt=5, most=10, pause=8.0, http_status=529)


def test_an_engine_that_stops_waits_for_no_further_try_of_the_api():
    world = play(World(), Said(text="I begin."), REFUSED, Told(order=Order.LEAVE))
    assert world.run.is_over, "nothing is on its way"

    world = play(World(), Told(order=Order.LEAVE), REFUSED)
    assert world.run.is_over, "what was on its way came to nothing"

    world = play(World(), REFUSED)
    world.steady.move(8)
    play(world, Told(order=Order.LEAVE))
    assert not world.run.is_over, "it was sent again, and may be answered"

    world = play(World(), wants("1"), REFUSED, Told(order=Order.LEAVE))
    assert not world.run.is_over, "its call is at work"
    play(world, ended("1"))
    assert world.run.is_over


def test_an_engine_that_stops_leaves_a_pause_a_pause():
    world = play(World(), wants("1"), Told(order=Order.PAUSE), Told(order=Order.LEAVE))

    assert world.facts.order is Order.PAUSE


def test_a_call_that_comes_after_the_pause_is_neither_let_through_nor_refused():
    world = play(World(), wants("1"), Told(order=Order.PAUSE), wants("2"), ended("1"))

    assert world.verdicts() == {"1": Verdict.ALLOW}
    assert world.run.is_over
    assert len(world.gatekeeper.judged) == 1


def test_a_pause_with_nothing_at_work_is_at_once():
    world = play(World(), Told(order=Order.PAUSE))

    assert world.run.is_over
    outcome = outcome_of(world.facts, TASK, now=50.0)
    assert outcome == Later(due=50.0, counts=False, reason="paused")


def test_a_refused_call_is_not_at_work():
    assert play(World(), wants("x", "Odd"), Told(order=Order.PAUSE)).run.is_over


# -- agents that Claude calls

CALLS_AN_AGENT = (
    Said(text="", message="m1", tokens_out=1, calls=(wants("a"),)),
    wants("a", "Agent", prompt="Look around"),
    Said(text="", message="s1", tokens_out=1, is_beside=True),
)


@pytest.mark.parametrize("when", ["before its call", "while it calls", "after it called"])
def test_a_pause_does_not_wait_for_an_agent_that_claude_called(when):
    """Its next call would be held for ever, and it with it."""
    world = play(World(), *CALLS_AN_AGENT)

    match when:
        case "before its call":
            play(world, Told(order=Order.PAUSE))
        case "while it calls":
            play(world, wants("s"), Told(order=Order.PAUSE))
            assert not world.run.is_over
            play(world, ended("s"))
        case "after it called":
            play(world, wants("s"), ended("s"), Told(order=Order.PAUSE), wants("s2"))

    assert world.run.is_over
    assert "s2" not in world.verdicts()


def test_a_question_of_an_agent_waits_as_a_row_too():
    world = World(
        people=MemoryPeople(is_attached=False), settings=AgentSettings(waits_unattended=True)
    )

    play(world, *CALLS_AN_AGENT, wants("s", "Bash", command="make"), HoldExpired(number=1))

    assert world.run.is_over
    assert world.facts.question == 1


def test_an_agent_that_uses_the_budget_up_calls_what_its_reply_asked_for_and_nothing_more():
    world = play(World(meter=OpenMeter(allowed=10)), *CALLS_AN_AGENT)
    play(world, Said(text="", message="s2", tokens_out=11, is_beside=True), wants("s"))
    assert not world.run.is_over

    play(world, ended("s"))

    assert world.run.is_over
    assert world.verdicts() == {"a": Verdict.ALLOW, "s": Verdict.ALLOW}


def test_no_agent_is_called_once_the_budget_is_used_up():
    """What else its reply asked for is done."""
    said = Said(text="", message="m1", tokens_out=11, calls=(wants("a"), wants("w")))
    world = play(World(meter=OpenMeter(allowed=10)), said, wants("a", "Agent", prompt="Look"))
    assert not world.run.is_over, "the other call is on its way"

    play(world, wants("w"), ended("w"))

    assert world.run.is_over
    assert world.verdicts() == {"w": Verdict.ALLOW}


def test_an_agent_ends_when_the_time_of_the_task_is_up():
    assert play(World(), *CALLS_AN_AGENT, TimeUp()).run.is_over


# -- questions


def test_a_brain_that_is_sure_answers_for_the_person():
    world = play(World(answerer=SettledAnswerer(confidence=0.7)), ASKED)

    assert world.claude.answers == {"q": {"Which?": "A", "When?": "Now"}}
    assert world.people.asked == []
    assert world.journal.written[-1].confidence == 0.7


def test_one_that_may_not_answer_alone_only_suggests():
    world = World(
        answerer=SettledAnswerer(confidence=0.9), settings=AgentSettings(answers_alone=False)
    )

    play(world, ASKED)

    assert world.claude.answers == {}
    [request] = world.people.asked
    assert (request.suggestion, request.confidence) == ("A; Now", 0.9)


def test_one_that_is_not_sure_of_all_asks_the_person_with_its_opinion():
    world = play(World(answerer=SettledAnswerer(confidence=0.69)), ASKED)

    assert world.claude.answers == {}
    [request] = world.people.asked
    assert (request.type, request.title) == (EscalationType.QUESTION, "Which? / When?")
    assert (request.suggestion, request.confidence) == ("A; Now", 0.69)
    assert [option["label"] for option in request.options] == ["A", "B"]


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ({"text": "B"}, {"Which?": "B", "When?": "B"}),
        ({"answers": {"Which?": "B", "When?": "Later"}}, {"Which?": "B", "When?": "Later"}),
        ({"answers": {"When?": "Later"}, "text": "A"}, {"Which?": "A", "When?": "Later"}),
        ({"answers": "odd", "text": "A"}, {"Which?": "A", "When?": "A"}),
    ],
)
def test_a_persons_answer_reaches_claude_and_is_used_once_it_has_its_result(answer, given):
    world = play(World(), ASKED, Settled(number=1, answer=answer))
    assert world.claude.answers == {"q": given}
    assert world.people.used == []

    play(world, ended("q"))

    assert world.people.used == [1]


# -- holding


def test_a_question_that_nobody_answers_ends_the_run_and_waits_as_a_row():
    world = play(World(), ASKED, HoldExpired(number=1))

    assert world.run.is_over
    assert world.claude.answers == {}
    outcome = outcome_of(world.facts, TASK, now=0)
    assert outcome == Wait(signal="escalation:1", reason="a person must answer")


def test_a_question_whose_process_is_lost_waits_as_a_row():
    world = play(World(), ASKED, Gone(error="killed"))

    outcome = outcome_of(world.facts, TASK, now=0)
    assert outcome == Wait(signal="escalation:1", reason="a person must answer")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(Settled(number=1, answer={"text": "A"}), id="it was answered"),
        pytest.param(Told(order=Order.PAUSE), id="a person paused the session"),
        pytest.param(TroubleReported(kind="server_error", text="500"), id="the server failed"),
    ],
)
def test_a_process_that_ends_for_another_reason_is_tried_again(before):
    world = play(World(), ASKED, before, Gone(error="killed"))

    assert isinstance(outcome_of(world.facts, TASK, now=0), Later)


def test_a_permission_that_nobody_gives_is_settled_with_its_default():
    world = play(World(), wants("b", "Bash"), HoldExpired(number=1))
    assert list(world.people.expired) == [1]
    assert world.verdicts() == {}

    play(world, Settled(number=1, answer={"expired": True}))

    assert world.verdicts() == {"b": Verdict.DENY}
    assert world.journal.decisions[0].decided_by is DecidedBy.TIMEOUT


@pytest.mark.parametrize("held", [ASKED, wants("b", "Bash")])
def test_a_hold_that_runs_out_after_the_answer_does_nothing(held):
    world = play(World(), held, Settled(number=1, answer={"approve": True, "text": "A"}))

    play(world, HoldExpired(number=1))

    assert list(world.people.expired) == []
    assert world.facts.question is None
    assert not world.run.is_over


def test_the_hold_runs_out_by_itself():
    world = World(settings=AgentSettings(hold=timedelta(milliseconds=10)))

    async def scene() -> None:
        await world.run.handle(ASKED)
        async for arrival in world.inbox:
            assert arrival == HoldExpired(number=1)
            break

    asyncio.run(asyncio.wait_for(scene(), 5))


# -- what Claude Code reports


def test_the_start_is_told_once():
    started = Started(model="m", permission_mode="default")

    world = play(World(), started, started)

    assert world.facts.started
    assert world.journal.kinds() == ["RunInitialized"]


def test_what_is_said_and_how_full_the_context_is_are_written_when_they_change():
    world = play(
        World(),
        Said(text="Hello", context_tokens=10),
        Said(text=" ", context_tokens=10),
        Said(text="Again", context_tokens=None),
        Said(text="", context_tokens=20),
    )

    assert world.journal.kinds() == ["TextSaid", "UsageReported", "TextSaid", "UsageReported"]


def test_trouble_is_told_with_what_to_do():
    world = play(World(), TroubleReported(kind="authentication_failed", text="No login"))

    [problem] = world.journal.written
    assert (problem.kind, problem.text) == ("ProblemNoticed", "No login")
    assert "pcc login" in problem.hint
    assert world.facts.trouble is not None


def test_a_limit_that_is_near_is_told_and_one_that_stops_the_run_is_kept():
    near = LimitReported(
        status="allowed_warning", window="five_hour", resets_at=9.0, utilization=0.9
    )
    reached = LimitReported(status="rejected", window="five_hour", resets_at=9.0)

    world = play(World(), near, reached)

    assert world.journal.kinds() == ["LimitApproached"]
    assert world.facts.limit is reached


def test_a_window_that_is_only_told_of_is_no_limit_and_nobody_s_business():
    week = WindowUse(window="seven_day", used=0.97, resets_at=9.0)
    allowed = LimitReported(status="allowed", window="five_hour", resets_at=9.0, windows=(week,))
    world = World(meter=OpenMeter())

    play(world, allowed)

    assert world.meter.windows == [week]
    assert world.journal.kinds() == []
    assert world.facts.limit is None
    assert not world.claude.interruptions


def test_a_budget_that_is_used_up_ends_the_run_once_nothing_is_at_work():
    world = play(World(meter=OpenMeter(allowed=10)), wants("1"), Said(text="x", tokens_out=11))
    assert world.facts.over is not None

    # A second call of the same reply: none of its calls is cut in two.
    play(world, wants("2"), ended("1"))
    assert not world.run.is_over
    assert not world.claude.interruptions

    play(world, ended("2"))

    assert world.verdicts() == {"1": Verdict.ALLOW, "2": Verdict.ALLOW}
    assert world.run.is_over or world.claude.interruptions


def test_a_budget_waits_for_the_calls_of_its_reply_that_come_after_the_text():
    """A reply comes in parts: its text, then each call; the first part used the budget up."""
    world = World(meter=OpenMeter(allowed=10))
    text = Said(text="x", message="m1", tokens_out=11)
    first, second = (
        Said(text="", message="m1", tokens_out=5, calls=(wants(name),)) for name in "12"
    )
    play(world, text, first, second, wants("1"), ended("1"))

    assert not world.run.is_over, "the second call is on its way"
    assert not world.claude.interruptions

    play(world, wants("2"), ended("2"))

    assert world.verdicts() == {"1": Verdict.ALLOW, "2": Verdict.ALLOW}
    assert world.claude.last == ["1", "2"], "Claude Code ends the turn itself"
    assert world.facts.is_stopped
    assert not world.claude.interruptions


def test_a_turn_that_would_go_on_after_a_subagents_call_is_interrupted():
    world = play(
        World(meter=OpenMeter(allowed=10)),
        Said(text="x", message="m1", tokens_out=11),
        wants("1"),
        ended("1"),
    )

    assert not world.facts.is_stopped
    assert world.claude.interruptions == 1


def test_a_refused_call_of_the_last_reply_ends_the_turn_too():
    world = play(
        World(meter=OpenMeter(allowed=10)),
        Said(text="x", message="m1", tokens_out=11, calls=(wants("1"),)),
        wants("1", "Odd"),
        ToolEnded(request=RequestId("1"), is_error=True, text="refused"),
    )

    assert (world.verdicts(), world.claude.last) == ({"1": Verdict.DENY}, ["1"])
    assert not world.claude.interruptions


@pytest.mark.parametrize(("is_stopped", "outcome"), [(True, Parked), (False, Done)])
def test_a_turn_that_ends_by_our_word_is_not_the_end_of_the_task(is_stopped, outcome):
    turn = TurnEnded(is_error=False, subtype="success", result="Half of it.")
    over = Refusal(scope=BudgetScope.RUN, limit="run_tokens", used=11, allowed=10)
    facts = RunFacts(turn=turn, over=over, is_stopped=is_stopped)

    assert isinstance(outcome_of(facts, TASK, now=0), outcome)


def test_a_further_reply_over_the_budget_is_left_with_its_call_held():
    further = Said(text="y", message="m2", tokens_out=1, calls=(wants("2"),))
    world = play(
        World(meter=OpenMeter(allowed=10)),
        Said(text="x", message="m1", tokens_out=11, calls=(wants("1"),)),
        wants("1"),
        further,
    )
    assert not world.run.is_over, "a call is at work"

    world = play(World(meter=OpenMeter(allowed=10)), Said(text="x", message="m1", tokens_out=11))
    play(world, further)

    assert world.run.is_over
    assert not world.claude.interruptions


def test_a_call_held_for_a_person_is_not_interrupted_by_a_budget():
    world = play(
        World(meter=OpenMeter(allowed=10)),
        Said(text="x", message="m1", tokens_out=11, calls=(wants("1"), wants("b"))),
        wants("b", "Bash", command="make"),
        wants("1"),
        ended("1"),
    )

    assert not world.claude.interruptions
    assert not world.run.is_over


def test_a_pause_does_not_wait_for_the_calls_that_a_budget_would_wait_for():
    world = play(
        World(meter=OpenMeter(allowed=10)),
        Said(text="x", message="m1", tokens_out=11, calls=(wants("1"),)),
        Told(order=Order.PAUSE),
    )

    assert world.run.is_over
    assert not world.claude.interruptions


def test_the_end_is_kept_for_the_outcome():
    turn = TurnEnded(is_error=False, subtype="success", result="Done.", context_window=1_000_000)

    world = play(World(), turn, Gone(error="exit 1"))

    assert world.facts.turn is turn
    assert world.facts.error == "exit 1"
    assert world.run.context_window == 1_000_000


def test_what_arrives_for_a_run_that_is_over_is_read_by_nobody():
    inbox = Inbox()
    for arrival in (Said(text="a"), Gone(), Said(text="too late")):
        inbox.put(arrival)

    async def scene() -> list[object]:
        return [arrival async for arrival in inbox]

    assert asyncio.run(scene()) == [Said(text="a"), Gone()]


def test_after_the_reply_that_used_the_money_up_nothing_follows():
    """A call may come a moment before its reply has a price: that is waited for."""
    world = World(meter=OpenMeter(usd_allowed=3.0))
    world.claude.costs = [1.5, 1.5, 1.5, 3.0]

    play(world, Said(text="a", message="m1"), wants("1"), wants("1b"))
    assert (world.meter.usd, world.facts.over) == (1.5, None)
    play(world, Said(text="b", message="m2", calls=(wants("2"),)), wants("2"))

    assert world.facts.over is not None
    assert world.claude.last == ["2"]
    assert world.facts.usd == world.meter.usd == 3.0


def test_a_price_that_comes_late_is_seen_when_the_call_has_ended():
    world = World(meter=OpenMeter(usd_allowed=3.0))
    world.claude.costs = [1.5, 1.5, 1.5, 1.5, 1.5, 3.0]
    play(world, Said(text="a", message="m1"), wants("1"), ended("1"))
    play(world, Said(text="b", message="m2", calls=(wants("2"),)), wants("2"))
    assert world.facts.over is None

    play(world, ended("2"))

    assert world.facts.over is not None
    assert world.claude.interruptions == 1


def test_money_that_is_not_limited_is_counted_in_passing_and_at_the_end():
    world = World()
    world.claude.costs = [1.5, 2.5]

    play(world, ClockTicked(), Said(text="a", message="m1"), wants("1"))
    assert world.meter.usd == 0
    play(world, ClockTicked(), ClockTicked())
    assert world.meter.usd == 1.5
    play(world, Said(text="b", message="m2"))
    asyncio.run(world.run.costs.settle())

    assert world.facts.usd == world.meter.usd == 2.5


def test_a_claude_code_that_does_not_tell_is_left_alone_for_a_while():
    world = World()
    world.claude.costs = [None, 1.5]

    play(world, Said(text="a", message="m1"), *[ClockTicked()] * 5)
    assert world.meter.usd == 0
    play(world, TurnEnded(is_error=False, subtype="success", result="", cost_usd=2.0))

    assert world.facts.usd == 2.0


def test_what_subagents_used_is_known_beside_the_turn():
    """Its own figures leave them out."""
    said = Said(text="s", message="s1", tokens_fresh=40, tokens_out=2, is_beside=True)

    world = play(World(), Said(text="m", message="m1", tokens_fresh=7), said, said)

    assert world.facts.beside == 40 + 2 + 2
    assert (world.facts.tokens_in, world.facts.tokens_out) == (47, 4)


# -- what a run began with counts no longer


def test_a_run_that_began_with_what_counts_no_longer_is_left_without_an_answer():
    world = World(gatekeeper=SettledGatekeeper(why_outdated="the settings changed"))

    play(world, wants("w"))

    assert world.run.is_over
    assert (world.verdicts(), world.gatekeeper.judged) == ({}, [])
    assert outcome_of(world.facts, TASK, now=5.0) == Later(
        due=5.0, counts=False, reason="the settings changed"
    )
    assert [one.text for one in world.journal.written] == [
        "The run goes on in a new one: the settings changed"
    ]


def test_what_is_at_work_ends_before_such_a_run_is_left():
    world = play(World(), wants("w"), wants("v"))
    world.gatekeeper.why_outdated = "the settings changed"

    play(world, ended("w"))
    assert not world.run.is_over

    play(world, ended("v"))
    assert world.run.is_over
    assert len([one for one in world.journal.written if one.kind == "ProblemNoticed"]) == 1


def test_a_machine_that_was_asleep_is_no_standstill():
    """Its wall clock went on for a night, the steady one did not."""
    world = play(World(), Said(text="I begin."), wants("w"))
    world.clock.move(8 * 3600)

    play(world, ended("w"), Said(text="And on."), ClockTicked())

    assert world.facts.stuck == ""


@pytest.mark.parametrize(
    ("meanwhile", "is_lost"),
    [
        ((Said(text="I think."),), True),
        ((wants("w", "Bash"),), False),
        ((ApiTriedAgain(attempt=2, most=10, pause=1.0, http_status=529),), True),
    ],
)
def test_a_process_of_which_nothing_is_heard_is_given_up_unless_a_tool_works(meanwhile, is_lost):
    world = play(World(), *meanwhile)
    world.steady.move(29 * 60)
    play(world, ClockTicked())
    assert world.inbox._queue.empty()

    world.steady.move(60)
    play(world, ClockTicked())

    assert world.inbox._queue.empty() is not is_lost
    if is_lost:
        gone = world.inbox._queue.get_nowait()
        assert gone == Gone(error="Claude Code was silent for 30 minutes")
        play(world, gone)
        later = outcome_of(world.facts, TASK, now=0.0)
        assert isinstance(later, Later)
        assert (later.counts, later.reason) == (True, gone.error)


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_tool_at_work_hides_no_process_that_was_stopped(is_stopped):
    world = play(World(), wants("w", "Write"))
    world.claude.is_stopped = is_stopped
    world.steady.move(29 * 60)
    play(world, ClockTicked())
    assert world.inbox._queue.empty()

    world.steady.move(60)
    play(world, ClockTicked())

    assert world.inbox._queue.empty() is not is_stopped


def test_a_process_that_waits_for_a_person_does_not_hang():
    world = play(World(), ASKED)
    world.steady.move(45 * 60)

    play(world, ClockTicked())

    assert world.inbox._queue.empty()
