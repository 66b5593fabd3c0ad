"""One thing that happened is one entry, whatever number of events tells of it."""

import re
import time

import pytest

from perpetualcc.cli.options import Detail
from perpetualcc.cli.telling import Telling
from perpetualcc.domain.events import EVENT_TYPES

ASKED = {"question": "Which database?", "multiSelect": False, "options": [
    {"label": "SQLite", "description": ""}, {"label": "PostgreSQL", "description": ""},
]}  # fmt: skip
QUESTION = {"request": "q", "questions": [ASKED]}
RAISED = {"number": 2, "type": "question", "title": "Which database?", "options": [], **QUESTION}
CALL = {"number": 1, "request": "c", "type": "permission", "title": "Approve: Bash rm -rf build"}
DECIDED = {
    "request": "c", "tool": "Bash", "summary": "rm -rf build", "verdict": "allow",
    "risk": "HIGH", "reason": "", "decided_by": "person",
}  # fmt: skip
SETTLED = {"request": "q", "number": 2, "answer": "PostgreSQL", "decided_by": "ana@box pts/3"}
ANSWERED = {"request": "q", "answers": {"Which database?": "PostgreSQL"}, "decided_by": "person"}
AT = 3e9
LIMIT = {"window": "five_hour", "resets_at": AT - 1}


def sent(kind, *, task="t-1", run="r-1", **data):
    place = {"seq": 1, "at": time.time(), "level": "info", "session": "abc", "run": run}
    return {**place, "task": task, "kind": kind, **EVENT_TYPES[kind](**data).data()}


def told(*events, **how):
    telling = Telling(**how)
    lines = [line for event in events for line in telling.lines(sent(event[0], **event[1]))]
    return [re.sub(r"^\[[\d:]+\]|^ {10}", lambda m: "[T]" if m[0][0] == "[" else "   ", line)
            for line in lines]  # fmt: skip


def test_a_question_that_a_person_must_answer_is_one_entry_and_its_answer_is_told_once():
    events = [
        ("QuestionAsked", QUESTION), ("EscalationRaised", RAISED),
        ("EscalationSettled", SETTLED), ("QuestionAnswered", ANSWERED),
    ]  # fmt: skip

    assert told(*events) == [
        '[T] ⚠  QUESTION from Claude: "Which database?"',
        "       Options: [1] SQLite  [2] PostgreSQL",
        '       Waits for you (#2): answer with: pcc respond 2 1 (or 2, or "…")',
        "[T] You answered #2: PostgreSQL (from ana@box pts/3)",
    ]
    assert told(*events[:2], here=True)[1:] == [
        '       Waits for you (#2): answer here, or with: pcc respond 2 1 (or 2, or "…")'
    ]
    assert told(*events[:2], staged=True)[2:] == ["       Waits for you (#2)"]


def test_what_is_told_without_what_came_before_it_says_it_all():
    assert told(("EscalationRaised", RAISED)) == [
        "[T] ⚠  Human input needed (#2): Which database?",
        "       Options: [1] SQLite  [2] PostgreSQL",
        '       Answer with: pcc respond 2 1 (or 2, or "…")',
    ]
    assert told(("QuestionAnswered", ANSWERED)) == ["[T] You answered: PostgreSQL"]
    assert told(("ToolDecided", DECIDED)) == ["[T] [TOOL] Bash → rm -rf build ✓ (approved by you)"]


def test_between_two_entries_nothing_hangs_in_the_air():
    between = ("TextSaid", {"text": "Meanwhile."})

    lines = told(("QuestionAsked", QUESTION), between, ("EscalationRaised", RAISED))

    assert "[T] ⚠  Human input needed (#2): Which database?" in lines
    assert (
        told(("LimitReached", LIMIT), between, ("ResumePlanned", {"resumes_at": AT}))[-1]
        == (told(("ResumePlanned", {"resumes_at": AT}))[0])
    )


@pytest.mark.parametrize(
    ("answer", "by", "line"),
    [
        ("approved", "ana@box", "[T] You approved #1: Bash rm -rf build (from ana@box)"),
        ("denied", "ana@box", "[T] You denied #1: Bash rm -rf build (from ana@box)"),
        (
            "denied: no, move it",
            "ana@box",
            "[T] You denied #1: Bash rm -rf build: no, move it (from ana@box)",
        ),
        ("denied: nobody answered in time", "timeout",
         "[T] Nobody answered #1 in time: Bash rm -rf build"),
    ],
)  # fmt: skip
def test_what_is_said_about_a_call_is_not_told_again_with_the_call(answer, by, line):
    decided = DECIDED | {"decided_by": "timeout" if by == "timeout" else "person"}
    settled = SETTLED | {"number": 1, "request": "c", "answer": answer, "decided_by": by}
    asked, again = ("EscalationRaised", CALL | {"options": []}), ("ToolDecided", decided)

    assert told(asked, ("EscalationSettled", settled), again)[2:] == [line]
    unknown = told(("EscalationSettled", settled), again)
    assert unknown[-1].startswith("[T] [TOOL] Bash → rm -rf build ✓")
    repeated = ("ToolDecided", decided | {"request": "another"})
    assert len(told(asked, ("EscalationSettled", settled), repeated)) == 4


def test_an_answer_about_a_task_that_stopped_and_a_withdrawal_are_said_as_they_are():
    retry = SETTLED | {"answer": "approved: retry"}
    over = SETTLED | {"answer": "the task is over", "decided_by": "withdrawn"}

    assert told(("EscalationSettled", retry)) == ["[T] You answered #2: retry (from ana@box pts/3)"]
    assert told(("EscalationSettled", over)) == ["[T] Request #2 is withdrawn: the task is over"]


def test_a_limit_is_one_entry_with_what_follows_from_it():
    planned = ("ResumePlanned", {"resumes_at": AT})

    first, second = told(("LimitReached", LIMIT), planned)

    assert first.startswith("[T] ⏳ Usage limit reached (5-hour); resets ")
    assert second == "       Goes on by itself then; prevent it with: pcc pause abc"
    quiet = ("ResumePlanned", {"resumes_at": AT + 3600, "reason": "quiet hours"})
    assert re.search(r"   Goes on by itself at .*\(quiet hours\); prevent",
                     told(("LimitReached", LIMIT), quiet)[1])  # fmt: skip
    away = ("LimitReached", {"window": "unreachable", "resets_at": None})
    assert told(away, planned)[1].startswith("       Goes on by itself at ")
    assert "pcc pause" not in told(away, planned)[1]


def test_a_task_that_goes_on_says_so_once():
    started, resumed = ("TaskStarted", {"prompt": "Build\nit"}), {"claude_session": "s"}
    fresh = ("RunStarted", resumed)
    again = ("RunStarted", resumed | {"resumed": True})

    assert told(started, fresh) == ["[T] Task: Build", "    Starting Claude Code session..."]
    assert told(started, again) == ["[T] Task: Build", "    Resuming Claude Code session..."]
    assert told(started, fresh, started, again)[2:] == ["[T] Task goes on: Build"]
    assert told(started, fresh, started, fresh)[2:] == [
        "[T] Task goes on: Build", "    Starting Claude Code session...",
    ]  # fmt: skip
    tried = ("TaskStarted", {"prompt": "Build", "attempt": 2})
    assert told(started, fresh, tried)[2:] == ["[T] Task goes on (attempt 2): Build"]
    over = ("TaskSettled", {"state": "done"})
    assert told(started, over, started)[-1] == "[T] Task: Build", "the next time of several"


STOPPED = ("TaskSettled", {"state": "parked", "result": "Check failed, exit code 1: make"})
IN_ERROR = ("SessionStatusChanged", {
    "before": "PROCESSING", "after": "ERROR", "detail": "Check failed, exit code 1: make",
    "task": None,
})  # fmt: skip
DECIDE = ("EscalationRaised", {
    "number": 3, "request": "settled:9", "type": "error", "title": "Parked: Build", "options": [],
})  # fmt: skip


@pytest.mark.parametrize("order", [[IN_ERROR, DECIDE], [DECIDE, IN_ERROR]])
def test_a_task_that_stops_and_its_session_with_it_are_one_entry(order):
    stopped, *lines = told(STOPPED, *order)

    assert stopped == "[T] ✗ Task parked: Check failed, exit code 1: make"
    assert set(lines) == {
        "    ✗ Session stopped working",
        "       Human input needed (#3): Parked: Build",
        '       Answer with: pcc respond 3 retry (or "give up")',
    }


def test_a_session_that_stops_for_another_reason_says_it():
    other = ("SessionStatusChanged", IN_ERROR[1] | {"detail": "two tasks stopped"})

    assert told(STOPPED, other)[1] == "    ✗ Session stopped working: two tasks stopped"
    assert told(IN_ERROR) == ["[T] ✗ Session stopped working: Check failed, exit code 1: make"]
    mine = ("SessionStatusChanged", {"before": "PROCESSING", "after": "STOPPED", "task": None})
    assert told(STOPPED, mine)[-1] == "[T] ■ Session stopped"


def test_what_a_session_came_to_is_told_with_its_tasks_where_they_are_several():
    done = ("TaskSettled", {"state": "done", "result": "It counts."})
    change = {"before": "PROCESSING", "after": "COMPLETED", "task": None}
    one = ("SessionStatusChanged", change | {"detail": "1 task done in 3s\n✓ Build: It counts."})
    two = ("SessionStatusChanged", change | {"detail": "2 tasks done in 3s\n✓ Build\n✓ Test"})

    assert told(done, one) == [
        "[T] ✓ Task completed", "    ✓ Session completed: 1 task done in 3s",
    ]  # fmt: skip
    assert told(one) == [
        "[T] ✓ Session completed: 1 task done in 3s", "      ✓ Build: It counts.",
    ]  # fmt: skip
    assert told(done, two)[1:] == [
        "    ✓ Session completed: 2 tasks done in 3s", "      ✓ Build", "      ✓ Test",
    ]  # fmt: skip


def test_a_budget_is_one_entry_with_what_can_be_done():
    budget = {"name": "tokens_per_day", "used": 9.0, "allowed": 5.0}
    near, used_up = ("BudgetApproached", budget), ("BudgetUsedUp", budget)
    asked = ("EscalationRaised", RAISED | {"request": "b", "title": "It is used up. What now?"})
    settled = (
        "TaskSettled",
        {
            "state": "waiting",
            "result": "the budget tokens_per_day is used up: 9 of 5",
            "due": AT,
        },
    )

    first, options, waits, later = told(used_up, asked, settled)

    assert first == "[T] ✗ A budget is used up: tokens_per_day: 9 of 5"
    assert options == "       Options: [1] SQLite  [2] PostgreSQL"
    assert waits.startswith("       Waits for you (#2): answer with: pcc respond 2 1")
    assert later.startswith("    Will go on at ")
    both = told(near, used_up, asked, settled)
    assert both == [first.replace("✗", "⚠ "), options, waits, later], "once"
    nearly = ("BudgetApproached", budget | {"used": 4.0})
    assert len(told(nearly, used_up)) == 2
    task = {"name": "task_tokens", "used": 9.0, "allowed": 5.0}
    assert len(told(("BudgetApproached", task), ("BudgetUsedUp", task))) == 3, "with its hint"


def test_who_looks_for_a_fault_sees_every_event():
    events = [("QuestionAsked", QUESTION), ("EscalationSettled", SETTLED),
              ("QuestionAnswered", ANSWERED)]  # fmt: skip

    assert "[T] You answered: PostgreSQL" in told(*events, detail=Detail.VERBOSE)


def test_what_was_printed_between_has_the_next_line_begin_anew():
    telling = Telling()
    telling.lines(sent("LimitReached", **LIMIT))
    telling.interrupt()

    [line] = telling.lines(sent("ResumePlanned", resumes_at=AT))

    assert line.startswith("[")
