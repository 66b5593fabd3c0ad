"""The lines of the morning's report."""

import pytest

from perpetualcc.cli import report
from perpetualcc.cli.look import width
from perpetualcc.domain.times import moment

QUESTION = "Which database should the notes of all the customers of the shop live in?"


@pytest.mark.parametrize("columns", [40, 80, None])
def test_a_long_question_never_hides_its_answer(columns, monkeypatch):
    monkeypatch.setattr(report, "terminal_width", lambda: columns)
    given = {"question": QUESTION, "answer": "SQLite", "by": "person", "because": ""}

    [line] = report._answer(given, "/shop")

    assert line.endswith("→ SQLite (by you)")
    assert width(line) <= (columns or 110)


def report_of(*, session=(), **more):
    usual = {"name": "night", "id": "abc", "status": "COMPLETED", "resumes_at": None}
    usual |= {"project": "/shop", "delay": "", "detail": ""}
    return {
        "session": usual | dict(session),
        **dict.fromkeys(("tasks", "files", "answers", "refused", "problems"), ()),
        **dict.fromkeys(("limits", "budgets"), ()),
        **dict.fromkeys(("checks", "handovers", "restarts", "runs", "allowed", "tokens", "usd"), 0),
    } | more


def told(**how):
    one = report_of(**how)
    return [*report.session_lines(one), *report._ways(one)]


def test_limits_and_budgets_have_the_names_that_they_have_everywhere():
    lines = told(limits=["five_hour", "five_hour", "overload"], budgets=["tokens_per_day"])

    assert "  Waited for the 5-hour limit 2 times" in lines
    assert "  Waited for a server that is overloaded or fails" in lines
    assert "  The budget tokens_per_day was used up" in lines
    assert not any("Stopped" in line for line in lines)


@pytest.mark.parametrize(
    ("detail", "before"),
    [
        (
            "the 5-hour limit",
            ["  Waited for the 5-hour limit", "  The budget daily_usd was used up"],
        ),
        ("the budget daily_usd is used up: 3 of 2", ["  Waited for the 5-hour limit 2 times"]),
    ],
)
def test_what_waits_goes_on_by_itself_and_is_not_told_as_what_has_stopped(detail, before):
    waiting = {"status": "RATE_LIMITED", "detail": detail, "resumes_at": 3e9}

    lines = told(session=waiting, limits=["five_hour", "five_hour"], budgets=["daily_usd"])

    assert lines[0].endswith("night (abc), limited")
    until = f"  Waits until {moment(3e9)}, then goes on by itself: {detail}"
    assert [line for line in lines if "aited" in line or "udget" in line or "aits" in line] == [
        *before, until,
    ]  # fmt: skip


def test_what_a_person_said_is_told_with_whether_it_was_heard(monkeypatch):
    monkeypatch.setattr(report, "terminal_width", lambda: 80)
    said = [
        {"text": "use v2", "at": 1.0, "heard": "heard"},
        {"text": "not \x1b[31mv1\nof all " + "x" * 99, "at": 2.0, "heard": "waiting"},
        {"text": "and v3", "at": 3.0, "heard": "never"},
    ]

    first, second, third = [line for line in told(words=said) if "You said" in line]

    assert first == '  You said: "use v2" (heard)'
    assert second.startswith('  You said: "not �[31mv1 of all')
    assert second.endswith('…" (not heard yet)')
    assert width(second) <= 80
    assert third == '  You said: "and v3" (never heard: its task was over)'


def test_why_a_call_was_refused_is_told_whole_and_without_the_call():
    reason = "git push --force: --force: Rewrites what others have. " + "Nobody was there. " * 5
    call = {"tool": "Bash", "summary": "git push --force", "reason": reason, "times": 2}

    lines = told(refused=[call], checks=1, tasks=[])

    assert "  ✗ Refused 2 times: Bash → git push --force" in lines
    assert any(line.startswith("      --force: Rewrites") and line.endswith("there.")
               for line in lines)  # fmt: skip
    assert "  1 check failed" in lines
    done = {"state": "done", "prompt": "Build", "result": "", "at": 1.0}
    assert "  1 check failed on the way" in told(checks=1, tasks=[done])


@pytest.mark.parametrize(("columns", "lines"), [(80, 1), (40, 2)])
def test_a_command_to_type_is_on_one_line(columns, lines, monkeypatch):
    monkeypatch.setattr(report, "terminal_width", lambda: columns)

    assert len([line for line in told(snapshots=1) if "pcc " in line]) == lines
