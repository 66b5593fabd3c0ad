"""Usage limits on the real Claude Code: hit in mid-task, waited out without a process, gone on."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]


def story(fail: str) -> str:
    return f"""
    steps:
      - tools: [{{Write: {{file_path: "{{project}}/src/first.py", content: "one = 1"}}}}]
      - fail: {fail}
      - tools: [{{Write: {{file_path: "{{project}}/src/second.py", content: "two = 2"}}}}]
      - Both files are written.
    """


FIVE_HOURS = story("{kind: usage_limit, in: 4s}")


def limited(install, scenario, *flags, config="", **signed_in_as):
    """An installation whose engine sleeps at once when nothing is to be done."""
    pcc = install(scenario, *(flags or ("--idle-exit", "0.5")), **signed_in_as)
    path = Path(pcc.environment["PERPETUALCC_CONFIG"])
    path.write_text(path.read_text() + config)
    return pcc


def assert_went_on(pcc, session, *, runs=2) -> None:
    """Each file written once, the task done once, in one conversation."""
    written = [
        event["summary"]
        for event in pcc.events(session, "ToolDecided")
        if event["tool"] == "Write" and event["verdict"] == "allow"
    ]
    assert written == ["src/first.py", "src/second.py"]
    states = [event["state"] for event in pcc.events(session, "TaskSettled")]
    assert states == ["waiting"] * (runs - 1) + ["done"]
    started = pcc.events(session, "RunStarted")
    assert [event["resumed"] for event in started] == [False] + [True] * (runs - 1)
    assert len({event["claude_session"] for event in started}) == 1
    assert pcc.claudes() == []


def test_a_session_waits_for_its_five_hours_and_goes_on_where_it_was(install):
    pcc = limited(install, FIVE_HOURS, subscription=True)
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"] == "the 5-hour limit"
    assert waiting["tasks"][0]["attempts"] == 0
    assert 0 < waiting["resumes_at"] - time.time() < 8
    assert pcc.claudes() == []
    assert "Resumes: " in pcc.pcc("list").stdout
    limit = pcc.events(session, "LimitReached")[0]
    assert limit["window"] == "five_hour"
    assert abs(waiting["resumes_at"] - limit["resets_at"]) <= 1
    planned = pcc.events(session, "ResumePlanned")
    assert [event["at"] for event in planned] == [waiting["resumes_at"]]
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert_went_on(pcc, session)
    resumed = pcc.events(session, "RunStarted")[1]["at"]
    assert 0 <= resumed - waiting["resumes_at"] < 2


@pytest.mark.parametrize("victim", ["engine", "supervisor and engine"])
def test_a_wait_outlives_whatever_is_killed(install, victim):
    pcc = limited(install, FIVE_HOURS, "--idle-exit", "20", subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    if "supervisor" in victim:
        pcc.kill_supervisor()
    if pcc.engine is not None:
        pcc.kill_engine()

    assert pcc.status(session)["resumes_at"] == due
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


def test_a_machine_that_slept_past_the_reset_goes_on_when_it_wakes(install):
    pcc = limited(install, FIVE_HOURS, "--idle-exit", "20", subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    asleep = [pcc.supervisor, pcc.engine]
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(max(0.0, due - time.time()) + 1)
    for pid in asleep:
        os.kill(pid, signal.SIGCONT)

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


def test_source_and_prose_about_limits_are_no_limit(install):
    talk = "API Error 429: rate limit. You've hit your weekly limit · resets Mon 12:00am"
    pcc = limited(
        install,
        f"""
        files: {{src/limits.py: "RATE_LIMIT = 429  # {talk}"}}
        steps:
          - say: "{talk}"
            tools: [{{Write: {{file_path: "{{project}}/src/limits.py", content: "# {talk}"}}}}]
          - tools: [{{Read: {{file_path: "{{project}}/src/limits.py"}}}}]
          - "Done: usage limit reached|1893456000 is now documented. {talk}"
        """,
    )
    session = pcc.start("Document the rate limit 429")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert pcc.events(session, "LimitReached", "ResumePlanned") == []
    assert len(pcc.events(session, "RunStarted")) == 1


def test_a_person_cuts_a_wait_short(install):
    pcc = limited(install, story("{kind: usage_limit, in: 4s}"), subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    pcc.pcc("resume", session)

    wait_until(lambda: len(pcc.events(session, "RunStarted")) == 2)
    assert pcc.events(session, "RunStarted")[1]["at"] < due
    assert pcc.wait(session)["status"] == "COMPLETED"


def test_a_checkpoint_is_kept_of_the_limit_and_shown(install):
    pcc = limited(install, FIVE_HOURS, subscription=True)
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    (pcc.project / "src/first.py").write_text("somebody else's")

    assert "Checkpoints: 1" in pcc.pcc("status", session).stdout
    kept = pcc.status(session)["checkpoints"]
    assert [(one["reason"], one["files"]) for one in kept] == [
        ("the 5-hour limit", ["src/first.py"])
    ]
    assert pcc.wait(session)["status"] == "COMPLETED"
    told = transcript(pcc, session).read_text()
    assert "src/first.py: changed" in told
    assert "src/first.py" in told.split("no longer as you left them")[1]


def transcript(pcc, session) -> Path:
    conversation = pcc.events(session, "RunStarted")[0]["claude_session"]
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    return next(home.glob(f"projects/*/{conversation}.jsonl"))


@pytest.mark.parametrize("damage", ["lost", "cut in half"])
def test_a_lost_conversation_begins_again_from_the_checkpoint(install, damage):
    pcc = limited(install, FIVE_HOURS, subscription=True)
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    file = transcript(pcc, session)
    if damage == "lost":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    assert pcc.wait(session)["status"] == "COMPLETED"
    started = pcc.events(session, "RunStarted")
    assert [event["resumed"] for event in started][:2] == [False, False]
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    fresh = next(home.glob(f"projects/*/{started[1]['claude_session']}.jsonl")).read_text()
    assert "CONTEXT RESTORATION" in fresh
    assert "src/first.py" in fresh
    assert "Continue from: Write two files" in fresh
