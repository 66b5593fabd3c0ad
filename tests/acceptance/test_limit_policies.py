"""What a person decided about limits and budgets beforehand, kept on the real Claude Code."""

import sqlite3
import time
from contextlib import closing

import pytest

from tests.acceptance.supervised import wait_until
from tests.acceptance.test_limits import (
    FIVE_HOURS,
    MovedClock,
    assert_went_on,
    limited,
    refused,
    story,
)

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]


def models(pcc, session) -> list[str]:
    return [event["model"] for event in pcc.events(session, "RunInitialized")]


def test_a_limit_of_one_model_is_escaped_with_the_fallback_when_the_policy_says_so(install):
    soon = time.strftime("%I:%M%p", time.localtime(time.time() + 7200)).lstrip("0").lower()
    pcc = limited(
        install,
        story(refused(f"You've hit your Opus limit · resets {soon}")),
        config='[limits]\nfallback_model = "claude-haiku-4-5"\n',
    )
    session = pcc.start("Write two files")

    assert pcc.wait(session, within=90)["status"] == "COMPLETED"

    assert "haiku" not in models(pcc, session)[0]
    assert models(pcc, session)[1:] == ["claude-haiku-4-5"]
    [planned] = pcc.events(session, "ResumePlanned")
    assert (planned["model"], planned["reason"]) == (
        "claude-haiku-4-5",
        "goes on with claude-haiku-4-5",
    )


@pytest.mark.parametrize("answer", ["1", pytest.param("leave it", marks=pytest.mark.soak)])
def test_a_person_who_wants_to_be_asked_is_asked_before_anything_goes_on(install, tmp_path, answer):
    pcc = limited(
        install, FIVE_HOURS, config="[sessions]\nauto_resume = false\n", subscription=True
    )
    session = pcc.start("Write two files")
    waiting = pcc.wait(session, "WAITING_INPUT")
    [asked] = pcc.json("pending")

    assert "a person must agree to go on" in waiting["detail"]
    assert asked["title"].endswith("go on after the limit?")
    assert (asked["type"], asked["default"]) == ("question", "the session goes on waiting")
    assert pcc.events(session, "ResumePlanned") == []
    assert pcc.claudes() == []
    (tmp_path / "other").mkdir()
    not_begun = pcc.start("Write two files", project=tmp_path / "other")
    limit = pcc.events(session, "LimitReached")[0]["resets_at"]
    time.sleep(max(0.0, limit + 3 - time.time()))
    assert len(pcc.events(session, "RunStarted")) == 1
    assert "a person must agree" in pcc.wait(not_begun, "WAITING_INPUT")["detail"]
    assert pcc.events(not_begun, "RunStarted") == []
    pcc.pcc("respond", str(asked["number"]), answer)

    ended = pcc.wait(session, within=90)
    if answer == "1":
        assert_went_on(pcc, session)
    else:
        assert (ended["status"], len(pcc.events(session, "RunStarted"))) == ("ERROR", 1)
        assert "decided not to go on" in ended["detail"]


@pytest.mark.soak
def test_nothing_resumes_in_quiet_hours_and_everything_after_them(install, tmp_path):
    start, end = (time.localtime(time.time() + hours * 3600) for hours in (-1, 2))
    quiet = f"{start.tm_hour:02}:00-{end.tm_hour:02}:30"
    pcc = limited(
        install, FIVE_HOURS, config=f'[limits]\nquiet_hours = "{quiet}"\n', subscription=True
    )
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    assert time.strftime("%H:%M", time.localtime(due)) == f"{end.tm_hour:02}:30"
    assert pcc.events(session, "ResumePlanned")[0]["reason"] == "after the quiet hours"
    # The limit itself is over by then, on the machine's clock.
    time.sleep(max(5.0, pcc.events(session, "LimitReached")[0]["resets_at"] + 1 - time.time()))
    assert len(pcc.events(session, "RunStarted")) == 1
    clock.move_to(due + 1)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


LONG = """
usage: {input: 1000, output: 50}
steps:
  - tools: [{Write: {file_path: "{project}/src/first.py", content: "one = 1"}}]
  - fail: {kind: usage_limit, in: 8s}
  - repeat: 12
    delay: 300ms
    tools: [{Write: {file_path: "{project}/src/part_{n}.py", content: "n = {n}"}}]
  - All parts are written.
"""


@pytest.mark.soak
def test_a_run_that_resumes_by_itself_may_use_only_so_much(install):
    pcc = limited(install, LONG, config="[limits]\nresume_tokens = 3500\n", subscription=True)
    session = pcc.start("Write the parts")

    stopped = pcc.wait(session, within=60)

    assert stopped["status"] == "ERROR"
    assert "limits.resume_tokens is used up" in stopped["detail"]
    assert len(pcc.events(session, "RunStarted")) == 2
    pcc.pcc("resume", session)  # a person who resumes knows what they do
    assert pcc.wait(session, "COMPLETED", within=60)["status"] == "COMPLETED"


def make_unattended(pcc, session) -> None:
    """As if no person had started it; what waits for its limit is in nobody's hands."""
    with closing(sqlite3.connect(pcc.locations.database)) as database, database:
        database.execute("UPDATE tasks SET lane = 'goal' WHERE group_name = ?", (session,))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("budget", "value"),
    [
        ("task_tokens", "4000"),
        pytest.param("task_minutes", "0.05", marks=pytest.mark.soak),
    ],
)
def test_an_unattended_task_is_parked_at_its_own_limits(install, budget, value):
    pcc = limited(install, LONG, subscription=True)
    pcc.pcc("budget", "set", budget, value)
    session = pcc.start("Write the parts")
    pcc.wait(session, "RATE_LIMITED")
    make_unattended(pcc, session)

    parked = pcc.wait(session, within=60)

    assert parked["status"] == "ERROR"
    assert f"{budget} is used up" in parked["detail"]
    assert [one["type"] for one in pcc.json("pending")] == ["error"]
    packet = parked["tasks"][0]["packet"]
    assert packet["analysis"] == f"budget {budget}"
    assert "src/first.py" in packet["progress"]
    pcc.pcc("budget", "set", budget, "0")
    assert pcc.wait(session, "COMPLETED", within=60)["status"] == "COMPLETED"


@pytest.mark.soak
def test_unattended_work_leaves_a_share_of_the_week_to_the_person(install, tmp_path):
    quota = "{status: allowed_warning, window: seven_day, used: 0.8, in: 3d}"
    steps = LONG.replace("  - tools: [{Write", f"  - quota: {quota}\n    tools: [{{Write", 1)
    pcc = limited(install, steps, subscription=True)
    pcc.pcc("budget", "set", "weekly_share", "0.3")
    session = pcc.start("Write the parts")
    pcc.wait(session, "RATE_LIMITED")
    make_unattended(pcc, session)
    week = time.time() + 3 * 86400

    wait_until(lambda: "weekly_share" in pcc.look(session)["detail"], within=60)

    waiting = pcc.status(session)
    assert waiting["status"] == "RATE_LIMITED"
    assert abs(waiting["resumes_at"] - week) < 120
    other = tmp_path / "other"
    other.mkdir()
    assert pcc.wait(pcc.start("Mine", project=other), within=60)["status"] == "COMPLETED"
    [asked] = pcc.json("pending")
    pcc.pcc("respond", str(asked["number"]), "Raise it for today")
    assert pcc.wait(session, within=60)["status"] == "COMPLETED"


def test_a_share_of_the_week_is_left_to_the_person_before_claude_code_warns(install):
    quota = "{status: allowed, used: 0.21, in: 1h, also: [{window: seven_day, used: 0.75, in: 3d}]}"
    pcc = limited(install, f"steps: [{{say: Done., quota: {quota}}}]", subscription=True)
    pcc.pcc("budget", "set", "weekly_share", "0.3")
    mine = pcc.start("Mine")
    assert pcc.wait(mine, within=60)["status"] == "COMPLETED"
    week = time.time() + 3 * 86400

    held = pcc.start("What can wait", "--unattended")
    wait_until(lambda: "weekly_share" in pcc.look(held)["detail"], within=60)

    waiting = pcc.status(held)
    assert waiting["status"] == "RATE_LIMITED"
    assert abs(waiting["resumes_at"] - week) < 120
    assert pcc.events(held, "RunStarted") == []
    assert pcc.events(mine, "LimitApproached") == []
    windows = {one["window"]: one for one in pcc.json("budget")["windows"]}
    assert {name: one["used"] for name, one in windows.items()} == {
        "five_hour": 0.21,
        "seven_day": 0.75,
    }
    assert abs(windows["seven_day"]["resets_at"] - week) < 120
    shown = pcc.pcc("budget").stdout
    assert "Subscription: 5-hour window 21% used, resets " in shown
    assert "; week 75% used, resets " in shown


PAID = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-overage-status": "allowed",
    "anthropic-ratelimit-unified-overage-in-use": "true",
}


@pytest.mark.soak
@pytest.mark.parametrize("allowed", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_paid_credits_are_used_only_when_they_are_allowed(install, tmp_path, allowed):
    reset = round(time.time()) + 3600
    told = {**PAID, "anthropic-ratelimit-unified-reset": str(reset)}
    steps = [
        {"tools": [{"Write": {"file_path": "{project}/src/first.py", "content": "1"}}]},
        {
            "headers": told,
            "once": True,  # after the reset no server would say so again
            "tools": [{"Write": {"file_path": "{project}/src/second.py", "content": "2"}}],
        },
        *(
            {
                "delay": "1s",
                "tools": [{"Write": {"file_path": f"{{project}}/src/more_{n}.py", "content": "3"}}],
            }
            for n in range(4)
        ),
        {"say": "Done."},
    ]
    word = str(allowed).lower()
    pcc = limited(
        install, {"steps": steps}, config=f"[limits]\noverage = {word}\n", subscription=True
    )
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write")

    ended = pcc.wait(session, "RATE_LIMITED", "COMPLETED", within=60)

    if allowed:
        assert ended["status"] == "COMPLETED"
        assert pcc.events(session, "LimitReached") == []
    else:
        assert ended["status"] == "RATE_LIMITED"
        assert abs(ended["resumes_at"] - reset) <= 1
        assert not (pcc.project / "src" / "more_3.py").exists()
        clock.move_to(reset + 2)
        assert pcc.wait(session, within=60)["status"] == "COMPLETED"


@pytest.mark.soak
def test_a_weekly_limit_is_waited_for_over_days(install, tmp_path):
    reset = round(time.time()) + 3 * 86400
    headers = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(reset),
        "anthropic-ratelimit-unified-representative-claim": "seven_day",
        "anthropic-ratelimit-unified-7d-status": "rejected",
        "anthropic-ratelimit-unified-7d-reset": str(reset),
        "x-should-retry": "false",
    }
    told = ", ".join(f'{name}: "{value}"' for name, value in headers.items())
    pcc = limited(
        install,
        story(f"{{kind: http, status: 429, type: rate_limit_error, headers: {{{told}}}}}"),
        subscription=True,
    )
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert (waiting["detail"], waiting["resumes_at"]) == ("the weekly limit", reset + 1)
    clock.move_to(reset - 3600)
    time.sleep(2)
    assert pcc.status(session)["status"] == "RATE_LIMITED"
    clock.move_to(reset + 2)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


@pytest.mark.soak
def test_a_run_that_only_looks_around_is_stopped_with_a_whole_packet(install):
    pcc = limited(
        install,
        """
        files: {notes.txt: "nothing new"}
        steps:
          - tools: [{Write: {file_path: "{project}/src/begun.py", content: "x"}}]
          - repeat: 60
            delay: 300ms
            say: Looking again ({n}).
            tools:
              - Bash: {command: "cat notes.txt | head -{n}"}
              - Read: {file_path: "{project}/none_{n}"}
          - Never said.
        """,
        config="[stuck]\nminutes = 0.1\n",
    )
    session = pcc.start("Make progress")

    stopped = pcc.wait(session, within=60)

    assert stopped["status"] == "ERROR"
    assert "nothing new was done for 0.1 minutes" in stopped["detail"]
    [asked] = pcc.json("pending")
    shown = pcc.pcc("pending", str(asked["number"])).stdout
    for part in ("Make progress", "src/begun.py", "Looking again", "Attempts: 1", "pcc resume"):
        assert part in shown
