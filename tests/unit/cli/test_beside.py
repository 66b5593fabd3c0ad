"""Who else works in the project where a session is started."""

from typing import Any

import pytest

from perpetualcc.cli.start import _beside, _called_otherwise


def one(name: str, status: str, resumes_at: float | None = None) -> dict[str, Any]:
    at = {"resumes_at": resumes_at, "delay": "", "project": "/shop"}
    return {"id": f"id-{name}", "name": name, "status": status, **at}


OWN = one("own", "IDLE")


@pytest.mark.parametrize(
    "others",
    [
        (),
        [one("a", "COMPLETED"), one("b", "STOPPED"), one("c", "ERROR")],
        [one("begins-tonight", "IDLE", resumes_at=1_900_000_000.0)],
        [one("in-a-worktree", "PROCESSING") | {"project": "/shop/.claude/worktrees/a"}],
        [one("begins-some-day", "IDLE") | {"delay": "begins when it succeeds: ls"}],
    ],
)
def test_nobody(others):
    assert _beside([OWN, *others], OWN) == ""


def test_one_that_waits_for_a_limit_is_named():
    found = _beside([OWN, one("a", "RATE_LIMITED", resumes_at=1_900_000_000.0)], OWN)

    assert found == (
        "Session 'a' (id-a) has unfinished work on the same files. What comes after it:"
        ' pcc add id-a "…"; what goes on beside it: pcc start --worktree NAME'
    )


def test_those_that_have_not_ended_are_counted_and_one_is_named():
    found = _beside([OWN, one("a", "RATE_LIMITED"), one("b", "ERROR"), one("c", "IDLE")], OWN)

    assert found.startswith("Session 'a' (id-a) and 1 more have unfinished work on the same")
    assert 'pcc add id-a "…"' in found


@pytest.mark.parametrize(
    ("name", "wanted", "is_told"),
    [("night-2", "night", True), ("night", "night", False), ("add-a-flag", "", False)],
)
def test_a_name_that_is_taken_is_told(name, wanted, is_told):
    told = "'night' is the name of a session that is not over; this one is called 'night-2'"

    assert _called_otherwise(name, wanted) == (told if is_told else "")
