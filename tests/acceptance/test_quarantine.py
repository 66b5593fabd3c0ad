"""Tasks that never work, and runs that go round in circles, on the real Claude Code."""

import json

import pytest

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


def test_a_task_that_always_fails_costs_its_attempts_and_is_set_aside(install):
    pcc = install(
        """
        steps:
          - fail: {kind: http, status: 418, times: 99}
          - Never said.
        """
    )
    session = pcc.start("Fail")

    broken = pcc.wait(session, within=60)

    assert broken["status"] == "ERROR"
    assert len(pcc.events(session, "RunStarted")) == 3
    [task] = broken["tasks"]
    assert (task["state"], task["attempts"]) == ("parked", 3)
    assert task["packet"]["analysis"] == "it fails the same way each time"
    assert any("pcc resume" in option for option in task["packet"]["options"])


def test_a_run_that_loops_on_a_refused_tool_stops_and_keeps_its_conversation(install):
    pcc = install(
        """
        steps:
          - repeat: 50
            tools: [{Bash: {command: "rm -rf /tmp/precious-{n}"}}]
          - Gave up.
        """
    )
    session = pcc.start("Delete it")

    stopped = pcc.wait(session)

    assert stopped["status"] == "ERROR", pcc.log(session)
    assert "calls of the same kind were refused: Bash rm" in stopped["detail"]
    refused = pcc.events(session, "ToolDecided")
    assert {event["verdict"] for event in refused} == {"deny"}
    assert 5 <= len(refused) <= 7
    assert pcc.status(session)["checkpoints"]
    pcc.pcc("resume", session)
    pcc.wait_for_event(session, "RunStarted", count=2)
    assert pcc.events(session, "RunStarted")[1]["resumed"]


CIRCLE = """
steps:
  - repeat: 30
    tools:
      - Bash: {command: "python3 check.py"}
      - Read: {file_path: "{project}/notes.md"}
  - All is well.
"""


@pytest.mark.parametrize(
    ("check", "status", "why"),
    [
        (
            "import time; print(f'1 failed in {time.time() % 60:.2f}s')",
            "ERROR",
            "Stuck: the same 2 calls 6 times in a row: Bash python3, Read",
        ),
        ("import time; print(f'{time.time_ns()} rows are done')", "COMPLETED", ""),
    ],
)
def test_a_few_calls_again_and_again_are_stuck_unless_they_bring_news(install, check, status, why):
    pcc = install(CIRCLE)
    (pcc.project / "check.py").write_text(check)
    (pcc.project / "notes.md").write_text("Nothing yet\n")

    session = pcc.start("Watch it")

    found = pcc.wait(session)
    assert found["status"] == status, pcc.log(session)
    assert why in found["detail"]
    assert (len(pcc.events(session, "ToolDecided")) < 20) is bool(why)


def test_a_prompt_that_never_reaches_claude_is_no_task_that_is_done(install, servers, claude_world):
    """A hook of the user's stops it."""
    pcc = install("steps: [Never said.]")
    hook = {"type": "command", "command": "echo not today >&2; exit 2"}
    settings = {"hooks": {"UserPromptSubmit": [{"matcher": "*", "hooks": [hook]}]}}
    (claude_world.home / ".claude").mkdir(exist_ok=True)
    (claude_world.home / ".claude/settings.json").write_text(json.dumps(settings))

    session = pcc.start("Write it")

    stopped = pcc.wait(session)
    assert stopped["status"] == "ERROR"
    assert "not today" in stopped["detail"]
    assert servers[0].requests == []


def test_a_run_that_only_makes_calls_which_are_none_stops(install, servers):
    """Claude Code answers them itself, as fast as the model can make them."""
    pcc = install("steps: [{repeat: 500, tools: [{NoSuchTool: {number: '{n}'}}]}, Gave up.]")

    session = pcc.start("Call it")

    stopped = pcc.wait(session)
    assert (stopped["status"], stopped["detail"]) == (
        "ERROR",
        "Stuck: 12 replies in a row did nothing",
    )
    assert len(servers[0].requests) < 20


@pytest.mark.soak
@pytest.mark.timeout(240)
def test_a_kill_switch_pressed_again_and_again_is_nothing_that_the_work_is_to_blame_for(install):
    """More often than crashes in a row are suffered, and with nothing done between."""
    pcc = install("steps: [{say: I think for a long time., takes: 90s}, Never said.]")
    session = pcc.start("Think")

    for number in range(1, 8):
        pcc.wait_for_event(session, "RunInitialized", count=number)
        pcc.pcc("daemon", "stop", "--now")
        assert pcc.claudes() == []
    pcc.wait_for_event(session, "RunInitialized", count=8)

    found = pcc.status(session)
    assert found["status"] == "PROCESSING", found
    assert found["tasks"][0]["attempts"] == 1
    assert pcc.json("pending") == []


@pytest.mark.soak
def test_a_network_that_is_gone_uses_up_no_attempts(install):
    pcc = install("steps: [{fail: {kind: connection_reset, times: 99}}, Never said.]")
    # Claude Code's own patience with a network is minutes; ours begins after it.
    pcc.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"
    session = pcc.start("Reach out")

    waiting = pcc.wait(session, "RATE_LIMITED", within=100)

    assert waiting["detail"] == "the server cannot be reached"
    assert waiting["tasks"][0]["attempts"] == 0


def test_a_task_that_never_works_keeps_no_other_waiting(install):
    pcc = install(
        """
        scenes:
          - name: bad
            when: Fail
            steps:
              - fail: {kind: http, status: 418, times: 99}
              - Never said.
          - name: good
            when: Tidy
            steps: [It is tidy.]
        """
    )
    session = pcc.start("Fail")
    pcc.pcc("add", session, "Ship it", "--after", "Fail")
    pcc.pcc("add", session, "Tidy up")

    stopped = pcc.wait(session, "ERROR", within=90)

    assert [task["state"] for task in stopped["tasks"]] == ["parked", "queued", "done"]
    assert stopped["detail"].endswith("s)")
    assert "1 of 3 tasks done" in stopped["detail"]
    [waiting] = pcc.ask("escalation.list")
    assert waiting["type"] == "error"
    settled = [one["at"] for one in pcc.events(session, "EscalationRaised", "TaskSettled")]
    assert waiting["raised_at"] < settled[-1], "told at once, not at the end"
    pcc.pcc("respond", str(waiting["number"]), "give up")
    assert pcc.wait(session, "COMPLETED")["tasks"][1]["state"] == "parked"
