"""What `pcc start`, `pcc list` and `pcc status` say of a session."""

import pytest

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
        ("IDLE", "waits for a place: 5 of 5 taken", "Idle"),
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
    assert lines[:2] == ["  ✗ t-0  Task 0", "  ✓ t-2981  Task 2981"]
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


def test_of_many_sessions_the_newest_are_listed_and_whatever_is_not_over():
    over = [{"id": n, "status": "STOPPED" if n % 2 else "COMPLETED"} for n in range(60)]
    repeats, broken = {"id": "r", "status": "IDLE"}, {"id": "b", "status": "ERROR"}

    every = [*over[:40], repeats, *over[40:], broken]

    assert _newest(every, 20) == [*over[:20], repeats, broken]
    assert _newest([repeats, broken, *over], 1) == [repeats, broken]
