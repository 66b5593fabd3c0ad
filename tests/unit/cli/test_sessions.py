"""What the commands say of a session."""

import re
from contextlib import nullcontext
from typing import Any

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import sessions
from perpetualcc.cli.session_page import _figures, _tasks, _tokens, page, row, session_panel
from perpetualcc.cli.sessions import _newest


@pytest.mark.parametrize(
    ("window", "perpetual", "listed", "told"),
    [
        (0, None, "45K", "Token Usage: 45,231 in the context window"),
        (200_000, None, "45K/200K", "Token Usage: 45,231 / 200,000 (22%) of the context window"),
        (0, {"hard_tokens": 120_000}, "45K/120K ∞", "Token Usage: 45,231 in the context window"),
    ],
)
def test_tokens_are_of_the_context_whose_size_is_told_once_it_is_known(
    window, perpetual, listed, told
):
    session = {
        "tokens": 45_231, "context_window": window, "perpetual": perpetual, "counts": {},
        "answered": {}, "runs": 2, "spent": {"tokens": 81_000, "usd": 1.5},
    }  # fmt: skip

    assert _tokens(session) == listed
    assert _figures(session)[:2] == [
        told,
        "In all runs: 81,000 tokens that were not cached, $1.50",
    ]


def test_what_a_rule_let_through_is_no_approval_of_a_person():
    session = {
        "tokens": 0, "context_window": 0, "answered": {}, "runs": 1,
        "spent": {"tokens": 0, "usd": 0.0},
        "counts": {"allow/policy": 2, "allow/rule": 3, "allow/person": 1, "deny/person": 4},
    }  # fmt: skip

    assert "Tools Approved: 6 (5 auto, 3 of them by your rules, 1 human), refused: 4" in _figures(
        session
    )


def test_what_waits_for_an_answer_is_listed_with_the_number_to_answer():
    session = {
        "id": "4439a3", "name": "n", "task": "Go", "status": "WAITING_INPUT", "delay": "",
        "detail": "Claude waits for your answer to #5: pcc respond 5 --interactive",
        "resumes_at": None, "tokens": 0, "context_window": 0, "perpetual": None,
        "project": "/shop",
    }  # fmt: skip

    assert row(session)[3].split("\n") == ["Go", session["detail"]]


@pytest.mark.parametrize(
    ("status", "detail", "told"),
    [
        ("ERROR", "/shop/Makefile fails", ["Makefile fails; see: pcc status 4439a3"]),
        ("PAUSED", "after 3 turns", ["after 3 turns; go on with: pcc resume 4439a3"]),
        ("PAUSED", "by a person", []),
        ("IDLE", "taken over after a restart", []),
        ("COMPLETED", "2 tasks done", []),
    ],
)
def test_what_stands_still_is_listed_with_why_and_what_to_type(status, detail, told):
    session = {
        "id": "4439a3", "name": "n", "task": "Go", "status": status, "delay": "", "detail": detail,
        "resumes_at": None, "tokens": 0, "context_window": 0, "perpetual": None,
        "project": "/shop",
    }  # fmt: skip

    assert row(session)[3].split("\n") == ["Go", *told]


def test_what_is_tried_again_is_listed_with_why():
    session = {
        "id": "4439a3", "name": "n", "task": "Go", "status": "IDLE", "delay": "",
        "detail": "will try again: it is gone", "resumes_at": 1.0e9, "project": "/shop",
        "tokens": 0, "context_window": 0, "perpetual": None,
    }  # fmt: skip

    *_, word, task, _ = row(session)

    assert word == "○ Idle"
    assert task.startswith("Go\nResumes: ")
    assert task.endswith("\nwill try again: it is gone")


LATER = {
    "id": "74f52a", "name": "later", "project": "/shop", "status": "IDLE", "detail": "",
    "delay": "", "resumes_at": 4.0e9, "task": "x", "brain": "none", "confidence": 0.7,
    "created_at": 1.0e9, "updated_at": 1.0e9, "perpetual": None, "tasks": [], "tokens": 0,
    "context_window": 0, "counts": {}, "answered": {}, "runs": 0, "checkpoints": [],
    "spent": {"tokens": 0, "usd": 0.0},
}  # fmt: skip
CONDITION = "begins when it succeeds: ls"
BY_CONDITION = {"resumes_at": None, "delay": CONDITION, "detail": CONDITION}


@pytest.mark.parametrize("when", [{}, BY_CONDITION, {"delay": "stopped", "detail": "stopped"}])
def test_work_for_later_is_scheduled_and_lasts_no_time_before_it_begins(when):
    told = "\n".join(page(LATER | when))

    assert row(LATER | when)[2] == "○ Scheduled"
    assert "○ Scheduled" in told
    assert "Created: " in told
    assert "Started: " not in told
    assert "Duration: " not in told


def test_what_waits_for_a_limit_is_said_to_go_on_by_itself():
    limited = LATER | {"status": "RATE_LIMITED", "detail": "the 5-hour limit", "runs": 1}

    assert any(re.fullmatch(r"Resumes:     .*, by itself", line) for line in page(limited))
    assert row(limited)[3].endswith("\nthe 5-hour limit")


def test_between_two_times_it_is_scheduled_and_has_started():
    told = "\n".join(page(LATER | {"runs": 2}))

    assert "Started: " in told
    assert "Duration: " not in told


def test_what_begins_now_has_a_duration():
    assert "Duration: " in "\n".join(page(LATER | {"resumes_at": None}))


@pytest.mark.parametrize(
    ("status", "delay", "told"),
    [
        ("IDLE", "", "Running"),
        ("IDLE", "waits for a place: 5 of 5 taken", "Idle, waits for a place: 5 of 5 taken"),
        ("IDLE", "begins when it succeeds: true", "Scheduled, begins when it succeeds: true"),
        ("RATE_LIMITED", "", "Limited"),
    ],
)
def test_a_session_that_begins_is_said_to_run_unless_something_holds_it_up(status, delay, told):
    session = {
        "name": "n", "project": "/p", "brain": "none", "status": status, "delay": delay,
        "detail": "", "resumes_at": None,
    }  # fmt: skip

    assert f"Status: {told} " in session_panel(session)


def test_of_a_long_life_the_tasks_that_ended_last_are_listed_and_all_that_are_left():
    states = ["parked", *["done"] * 3_000, "running", *["queued"] * 40]
    tasks = [
        {
            "id": f"t-{n}", "prompt": f"Task {n}", "state": state, "after": [], "priority": 0,
            "lane": "interactive", "due": 0.0, "result": "",
        }
        for n, state in enumerate(states)
    ]  # fmt: skip

    title, hidden, *lines = _tasks(tasks, "/shop")

    assert (title, hidden) == ("Tasks:", "  … 2,980 tasks before that ended; all of them: --json")
    assert lines[:2] == ["     1 ✗ t-0  Task 0", "  2982 ✓ t-2981  Task 2981"]
    assert len(lines) == 1 + 20 + 1 + 40


@pytest.mark.parametrize(
    ("state", "packet", "told"),
    [
        ("parked", {"hint": "Sign in", "options": ["Mend it"]}, ["      hint: Sign in"]),
        ("failed", {"options": ["Mend it", "Leave it"]}, ["      hint: Mend it"]),
        ("parked", None, []),
        ("done", {"hint": "Sign in"}, []),
    ],
)
def test_a_task_that_stopped_says_what_a_person_can_do(state, packet, told):
    task = {
        "id": "t-1", "prompt": "Go", "state": state, "after": [], "priority": 0,
        "lane": "interactive", "due": 0.0, "result": "", "packet": packet,
    }  # fmt: skip

    assert _tasks([task], "/shop")[2:] == told


@pytest.mark.parametrize(
    ("came_to", "symbol"), [("cancelled", "■"), ("missed", "■"), ("failed", "✗"), ("parked", "✗")]
)
def test_what_comes_after_a_task_that_was_given_up_has_not_failed(came_to, symbol):
    task = {
        "id": "t-1", "prompt": "Go", "state": "parked", "after": ["t-0"], "priority": 0,
        "lane": "interactive", "due": 0.0, "result": "",
        "packet": {"reason": "after", "state": came_to},
    }  # fmt: skip

    assert _tasks([task], "/shop")[1] == f"  {symbol} t-1  Go  (after t-0)"


def test_of_many_sessions_the_newest_are_listed_and_whatever_is_not_over():
    over = [{"id": n, "status": "STOPPED" if n % 2 else "COMPLETED"} for n in range(60)]
    repeats, broken = {"id": "r", "status": "IDLE"}, {"id": "b", "status": "ERROR"}

    every = [*over[:40], repeats, *over[40:], broken]

    assert _newest(every, 20) == [*over[:20], repeats, broken]
    assert _newest([repeats, broken, *over], 1) == [repeats, broken]


class Daemon:
    """Answers for one session, and knows what was asked of it."""

    def __init__(self, before: str, after: str = "", resumes_at: float | None = None) -> None:
        self.asked: list[str] = []
        self._session = {
            "id": "805aa4", "name": "slow", "status": before, "detail": "",
            "updated_at": 0.0, "resumes_at": resumes_at,
            "tasks": [{"prompt": "Old", "state": "done"}, {"prompt": "New", "state": "queued"}],
        }  # fmt: skip
        self._after = after

    def call(self, method: str, **_params: Any) -> dict[str, Any]:
        self.asked.append(method)
        if method == "budget.show":
            return {"budgets": []}
        changed = {} if method == "session.get" else {"status": self._after}
        return self._session | changed


def typed(monkeypatch: pytest.MonkeyPatch, daemon: Daemon, *words: str) -> str:
    monkeypatch.setattr(sessions, "connect", lambda *_, **__: nullcontext(daemon))
    monkeypatch.setattr(sessions, "take_over", lambda _: None)
    monkeypatch.setattr(sessions, "tell_what_is_not_taken_over", lambda _: None)
    done = CliRunner().invoke(sessions.app, [*words, "slow"])
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.mark.parametrize("over", ["STOPPED", "COMPLETED"])
def test_what_is_over_is_not_said_to_be_stopped_now(monkeypatch, over):
    daemon = Daemon(over)

    told = typed(monkeypatch, daemon, "stop")

    assert told.startswith(f"slow (805aa4) was {over.lower()} already, ")
    assert daemon.asked == ["session.get"]
    assert (
        typed(monkeypatch, Daemon("PAUSED"), "stop") == "Stopped slow (805aa4); left undone: New\n"
    )


@pytest.mark.parametrize(
    ("before", "told"),
    [("PAUSED", "slow (805aa4) is paused already"), ("PROCESSING", "Paused slow (805aa4)")],
)
def test_what_is_paused_is_not_said_to_be_paused_now(monkeypatch, before, told):
    daemon = Daemon(before, "PAUSED")

    assert typed(monkeypatch, daemon, "pause") == f"{told}. Go on with: pcc resume 805aa4\n"


def test_what_is_for_later_is_said_to_begin_then_when_it_is_resumed(monkeypatch):
    later = Daemon("PAUSED", "IDLE", resumes_at=4e9)
    now = Daemon("PAUSED", "IDLE")

    told = typed(monkeypatch, later, "resume")

    assert re.fullmatch(
        r"Resumed slow \(805aa4\), begins .+\. Begin it now with: pcc resume 805aa4\n", told
    )
    assert "Watch it with" in typed(monkeypatch, now, "resume")


@pytest.mark.parametrize(
    ("project", "place"),
    [("/home/ana/notes", "notes"), ("/w/shop/.claude/worktrees/feat", "shop (worktree feat)")],
)
def test_of_several_projects_a_row_says_where_it_works(project, place):
    found = row(LATER | {"project": project}, is_placed=True)[3].split("\n")

    assert found[1] == f"in {place}"
