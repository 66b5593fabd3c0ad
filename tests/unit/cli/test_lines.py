"""Every kind of event can be shown, whatever its data."""

import re
import time

import pytest
from hypothesis import given, settings

from perpetualcc.cli.lines import shown
from perpetualcc.cli.options import Detail
from perpetualcc.domain.escalations import ALWAYS
from perpetualcc.domain.events import EVENT_TYPES, Event
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.session_status import TAKEN_OVER
from perpetualcc.domain.times import moment
from perpetualcc.sessions.budget import BudgetScope, Refusal
from tests.unit.domain.test_events import events

AT = {
    "seq": 1,
    "level": "info",
    "session": "abc123",
    "run": None,
    "task": None,
}


def sent(event: Event) -> dict:
    """An event as clients get it."""
    return {**AT, "at": time.time(), "kind": event.kind, **event.data()}


@pytest.mark.parametrize("detail", Detail)
@pytest.mark.parametrize(
    "kind",
    [
        kind
        for name, kind in EVENT_TYPES.items()
        if name not in {"QuestionAsked", "EscalationRaised"}
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_event_is_shown_as_plain_lines(kind: type[Event], detail: Detail) -> None:
    @settings(max_examples=15)
    @given(events(kind))
    def plain(event: Event) -> None:
        for line in shown(sent(event), detail):
            assert re.match(r"\[(\d\d:\d\d:\d\d|--:--:--)\] | {11}", line)
            assert "\x1b" not in line
            assert "\n" not in line

    plain()


def test_what_happened_on_another_day_says_on_which():
    told = sent(EVENT_TYPES["TextSaid"](text="One\nTwo")) | {"at": 1_800_000_000.0}

    first, second = shown(told)

    assert re.match(r"\[2027-01-\d\d \d\d:\d\d:\d\d\] Claude: One", first)
    assert second.index("Two") == first.index("One")


QUESTION = {
    "question": "Which \x1b[31mdatabase?",
    "header": "DB",
    "multiSelect": False,
    "options": [{"label": "PostgreSQL", "description": "standard"}, {"label": "SQLite"}],
}


def event(kind: str, **data) -> list[str]:
    made = EVENT_TYPES[kind](**data)
    return [re.sub(r"^\[[\d:]+\]", "[T]", line) for line in shown(sent(made))]


REQUEST = {"request": RequestId("q")}
DECIDED = {**REQUEST, "tool": "Bash", "summary": "rm -rf /", "risk": "HIGH", "reason": "it deletes"}
ANSWERED = {"answers": {"Which?": "SQLite"}, "decided_by": "brain", "reason": "line 3 says so"}
INDENT = " " * 11


@pytest.mark.parametrize(
    ("kind", "data", "lines"),
    [
        (
            "EscalationSettled",
            {**REQUEST, "number": 1, "decided_by": "withdrawn", "answer": "the task is over"},
            ["[T] Request #1 is withdrawn: the task is over"],
        ),
        (
            "ToolFailed",
            {
                **REQUEST,
                "tool": "Write",
                "summary": "src/x.py",
                "text": "<tool_use_error>No room\nleft</tool_use_error>",
            },
            ["[T] [TOOL] Write → src/x.py ✗ (did not work: No room left)"],
        ),
        (
            "ToolFailed",
            {**REQUEST, "tool": "mcp__a__b", "summary": "", "text": "no"},
            ["[T] [TOOL] mcp__a__b ✗ (did not work: no)"],
        ),
        (
            "QuestionAsked",
            {**REQUEST, "questions": [QUESTION]},
            [
                '[T] ⚠  QUESTION from Claude: "Which �[31mdatabase?"',
                f"{INDENT}   Options: [1] PostgreSQL  [2] SQLite",
            ],
        ),
        (
            "QuestionAnswered",
            {**REQUEST, **ANSWERED, "confidence": 0.85},
            ["[T] Brain answered: SQLite (confidence: 85%) — line 3 says so"],
        ),
        (
            "QuestionAnswered",
            {
                **REQUEST,
                "answers": {"Which?": "neither:\n\nuse C", "How many?": "2"},
                "decided_by": "person",
            },
            ["[T] You answered: neither: use C; 2"],
        ),
        (
            "ToolDecided",
            {**DECIDED, "verdict": "allow", "decided_by": "policy"},
            ["[T] [TOOL] Bash → rm -rf / ✓ (auto-approved)"],
        ),
        (
            "ToolDecided",
            {
                **DECIDED,
                "verdict": "allow",
                "decided_by": "rule",
                "reason": "x; allowed by a rule of a person: rule-1a2b3c (Allows kind 'x'), rule-0",
            },
            ["[T] [TOOL] Bash → rm -rf / ✓ (by your rule rule-1a2b3c, rule-0)"],
        ),
        (
            "ToolDecided",
            {**DECIDED, "verdict": "deny", "decided_by": "person"},
            ["[T] [TOOL] Bash → rm -rf / ✗ (refused: it deletes)"],
        ),
        ("TextSaid", {"text": "\none\ntwo\n"}, ["[T] Claude: one", f"{INDENT}        two"]),
        (
            "SessionStatusChanged",
            {"before": "PROCESSING", "after": "COMPLETED"},
            ["[T] ✓ Session completed"],
        ),
        ("SessionStatusChanged", {"before": "IDLE", "after": "PROCESSING"}, []),
        (
            "SessionStatusChanged",
            {"before": "PROCESSING", "after": "IDLE", "detail": TAKEN_OVER},
            ["[T] ⚠  Cut off, and taken over after a restart of the daemon"],
        ),
        (
            "SessionStatusChanged",
            {"before": "IDLE", "after": "PAUSED", "detail": "by a person"},
            ["[T] ⏸  Paused. Go on with: pcc resume abc123"],
        ),
        ("TaskStarted", {"prompt": "The walls\n\nOf stone", "attempt": 1}, ["[T] Task: The walls"]),
        (
            "ProblemNoticed",
            {"text": "no key", "hint": "claude /login"},
            ["[T] ✗ no key", f"{INDENT}  hint: claude /login"],
        ),
        (
            "LimitReached",
            {"window": "unreachable", "resets_at": None, "text": "Connection refused"},
            ["[T] ⏳ The API cannot be reached: Connection refused"],
        ),
        (
            "ApiUnanswered",
            {"text": "The API does not answer", "attempt": 3, "http_status": None},
            ["[T] ⚠  The API does not answer"],
        ),
        (
            "MemoryOutgrown",
            {"text": "It held 9.1 GB", "held": 9_100_000_000, "largest": "node"},
            ["[T] ✗ It held 9.1 GB"],
        ),
        (
            "BackgroundAwaited",
            {"text": "Claude waits for 1 agent in the background"},
            ["[T] ⏳ Claude waits for 1 agent in the background"],
        ),
        (
            "ConditionMet",
            {"command": "ls inbox/*.md"},
            ["[T] It succeeds, and the task is due: ls inbox/*.md"],
        ),
        (
            "TaskAdded",
            {"prompt": "Sort", "due": 0.0, "when": "ls inbox/*.md"},
            ["[T] Begins when it succeeds: ls inbox/*.md"],
        ),
        (
            "PlanProposed",
            {"lines": ["1. The walls", "   check: make walls"]},
            ["[T] Plan:", f"{' ' * 13}1. The walls", f"{' ' * 16}check: make walls"],
        ),
        (
            "ChecksBegan",
            {"commands": ["make", "make test"]},
            ["[T] Claude says it is done; checking: make; make test"],
        ),
        (
            "CheckEnded",
            {"command": "make test", "trouble": "", "seconds": 75.0, "text": ""},
            ["[T] [CHECK] make test ✓ (1m 15s)"],
        ),
        (
            "CheckEnded",
            {"command": "make test", "trouble": "exit code 2", "seconds": 1.0, "text": "1 failed"},
            ["[T] [CHECK] make test ✗ (exit code 2: 1 failed)"],
        ),
        (
            "AskedInPassing",
            {"question": "Shall I go on?"},
            ["[T] Claude ends its turn with a question, and is told to ask it: Shall I go on?"],
        ),
        ("UsageReported", {"context_tokens": 1, "context_window": 2}, []),
        ("TaskAdded", {"prompt": "Tidy up"}, []),
        (
            "TaskAdded",
            {"prompt": "Tidy up", "due": 3_000_000_000.0},
            [f"[T] Begins {moment(3_000_000_000.0)}: Tidy up"],
        ),
        (
            "TaskSettled",
            {"state": "parked", "result": "it fails the same way each time", "due": None},
            ["[T] ✗ Task parked: it fails the same way each time"],
        ),
        ("TaskSettled", {"state": "queued", "result": "", "due": 5.0}, []),
        ("TaskSettled", {"state": "waiting", "result": "the 5-hour limit", "due": 3e9}, []),
        (
            "TaskSettled",
            {"state": "waiting", "result": "waits for your review: 2 results", "due": None},
            ["[T] ⏳ Waits for your review: 2 results"],
        ),
        (
            "BudgetUsedUp",
            {"name": "tokens_per_day", "used": 997.0, "allowed": 500.0},
            ["[T] ✗ A budget is used up: tokens_per_day: 997 of 500"],
        ),
        (
            "BudgetUsedUp",
            {"name": "task_tokens", "used": 997.0, "allowed": 500.0},
            [
                "[T] ✗ A budget is used up: task_tokens: 997 of 500",
                f"{' ' * 13}hint: pcc budget set task_tokens …",
            ],
        ),
        (
            "TaskSettled",
            {
                "state": "waiting",
                "result": Refusal(
                    scope=BudgetScope.DAY, limit="usd_per_day", used=3, allowed=2
                ).reason,
                "due": 3e9,
            },
            [
                (
                    f"[T] Will go on at {moment(3e9)}, or once there is more:"
                    " pcc budget set usd_per_day …"
                )
            ],
        ),
        (
            "TaskSettled",
            {
                "state": "waiting",
                "result": Refusal(
                    scope=BudgetScope.RESERVED, limit="usd_per_day", used=1, allowed=2
                ).reason,
                "due": 3e9,
            },
            [
                (
                    f"[T] Will go on at {moment(3e9)}: the budget usd_per_day is all set aside for"
                    " the runs at work"
                )
            ],
        ),
        (
            "TaskSettled",
            {"state": "waiting", "result": "waits with the others", "due": 3e9},
            [f"[T] Will go on at {moment(3e9)}: waits with the others"],
        ),
    ],
)
def test_an_event_reads_as_the_manual_says(kind: str, data: dict, lines: list[str]) -> None:
    assert event(kind, **data) == lines


def test_an_escalation_says_how_to_answer_and_whether_it_can_be_here() -> None:
    asked = sent(
        EVENT_TYPES["EscalationRaised"](
            number=7,
            request=RequestId("t"),
            type="permission",
            title="Approve: Bash rm -rf build",
            options=[{"label": "Approve"}, {"label": "Deny"}],
        )
    )

    logged, watched = shown(asked), shown(asked, here=True)

    assert logged[0].endswith("Human input needed (#7): Approve: Bash rm -rf build")
    assert logged[1].strip() == "Answer with: pcc respond 7 --approve (or --deny)"
    assert watched[1].strip() == "Answer here, or with: pcc respond 7 --approve (or --deny)"


def test_a_reason_names_what_lies_in_the_project_from_there() -> None:
    refused = sent(
        EVENT_TYPES["ToolDecided"](
            request=RequestId("t"), tool="Bash", summary="make", verdict="deny", risk="HIGH",
            decided_by="policy", reason="/shop/.env is guarded, not /my/shop/.env",
        )
    )  # fmt: skip

    [line] = shown(refused, project="/shop")

    assert line.endswith("(refused: .env is guarded, not /my/shop/.env)")


def test_what_is_asked_and_came_of_it_is_named_from_the_project_and_a_call_as_it_is() -> None:
    said = {"number": 7, "request": RequestId("t"), "options": []}
    raised = EVENT_TYPES["EscalationRaised"]
    call = raised(**said, type="permission", title="Approve: Bash rm /shop/a")
    question = raised(**said, type="question", title="Change /shop/a?")
    failed = EVENT_TYPES["TaskSettled"](state="failed", result="/shop/a is no file", due=None)

    told = [shown(sent(event), project="/shop")[0] for event in (call, question, failed)]

    assert [line.partition("] ")[2] for line in told] == [
        "⚠  Human input needed (#7): Approve: Bash rm /shop/a",
        "⚠  Human input needed (#7): Change a?",
        "✗ Task failed: a is no file",
    ]


def test_the_offer_of_a_rule_is_told_where_it_is_asked() -> None:
    offer = {"label": ALWAYS, "description": "you approved 'make' 3 times here"}
    asked = sent(
        EVENT_TYPES["EscalationRaised"](
            number=7, request=RequestId("t"), type="permission", title="Run make?", options=[offer]
        )
    )

    logged, watched = shown(asked), shown(asked, here=True)

    assert [line.strip() for line in logged[1:]] == [
        "Offer: you approved 'make' 3 times here",
        "Answer with: pcc respond 7 --approve (or --always, --deny)",
    ]
    assert len(watched) == 2, "the prompt tells of it"


def test_what_is_agreed_to_says_so_where_it_is_asked() -> None:
    lines = event(
        "EscalationRaised",
        number=7,
        request=RequestId("t"),
        type="question",
        title="Begin?",
        options=[],
        questions=[QUESTION | {"yes_or_no": True}],
    )

    assert lines[1].endswith("Options: [1] PostgreSQL  [2] SQLite")
    assert lines[2].endswith('pcc respond 7 --approve (or --deny, or "…")')


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"here": True}, ["Answer here, or with: pcc respond 7 --approve (or --deny)"]),
        ({}, ["Answer with: pcc respond 7 --approve (or --deny)"]),
        ({"here": True, "staged": True}, ["Answer here"]),
        ({"staged": True}, []),
    ],
)
def test_only_where_one_can_answer_it_says_here(place: dict[str, bool], told: list[str]) -> None:
    asked = sent(
        EVENT_TYPES["EscalationRaised"](
            number=7, request=RequestId("t"), type="permission", title="Run make?", options=[]
        )
    )

    assert [line.strip() for line in shown(asked, **place)[1:]] == told


def test_quiet_shows_what_needs_a_person_and_the_end() -> None:
    said = sent(EVENT_TYPES["TextSaid"](text="hello"))
    problem = sent(EVENT_TYPES["ProblemNoticed"](text="bad"))

    assert shown(said, Detail.QUIET) == []
    assert len(shown(problem, Detail.QUIET)) == 1


def test_verbose_shows_events_that_have_no_line_of_their_own() -> None:
    usage = sent(EVENT_TYPES["UsageReported"](context_tokens=1, context_window=2))

    [line] = shown(usage, Detail.VERBOSE)

    assert line.endswith('UsageReported {"context_tokens": 1, "context_window": 2}')


def test_what_is_said_in_any_script_is_said_as_it_is() -> None:
    text = "100\u00a0% \u3000終わり 👩\u200d💻 نمی\u200cخواهم"

    [line] = shown(sent(EVENT_TYPES["TextSaid"](text=text)))

    assert line.endswith("Claude: 100 %  終わり 👩\u200d💻 نمی\u200cخواهم")
