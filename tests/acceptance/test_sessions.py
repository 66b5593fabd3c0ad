"""A session from `pcc start` to its end, as a user sees it."""

import os
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from tests.acceptance.held_back import HeldBack
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

STORY = """
steps:
  - say: I write the program.
    tools:
      - Write: {file_path: "{project}/src/hello.py", content: "print('hello')"}
  - tools:
      - Bash: {command: "rm -rf /tmp/nothing-of-value"}
  - say: Finished. The program is in hello.py.
"""


def test_a_task_is_worked_on_and_its_file_exists(install):
    pcc = install(STORY)

    done = pcc.pcc("start", str(pcc.project), "--task", "Write a hello program")

    assert (pcc.project / "src" / "hello.py").read_text() == "print('hello')"
    assert "PerpetualCC Session: write-hello-program" in done.stdout
    assert "Claude: I write the program." in done.stdout
    assert "[TOOL] Write → src/hello.py ✓ (auto-approved)" in done.stdout
    assert "[TOOL] Bash → rm -rf /tmp/nothing-of-value ✗" in done.stdout
    assert "Session completed" in done.stdout
    listed = pcc.json("list")
    assert [(one["status"], one["task"]) for one in listed] == [
        ("COMPLETED", "Write a hello program")
    ]
    assert "✓ Completed" in pcc.pcc("list").stdout
    shown = pcc.pcc("status", listed[0]["id"], "--show-decisions", "--show-history").stdout
    assert "Tools Approved: 1 (1 auto, 0 human), refused: 1" in shown
    assert "Token Usage: 101 / 1,000,000 (0%) of the context window\n" in shown
    spent = pcc.json("status", listed[0]["id"])["spent"]
    assert spent["tokens"] == pcc.json("budget")["today"]["tokens"] > 300
    assert f"In all runs: {spent['tokens']:,} tokens that were not cached, $0.0" in shown
    assert "Write → src/hello.py  LOW, by policy" in shown
    of_others = [f for f in pcc.locations.data.rglob("*") if f.stat().st_mode & 0o077]
    assert of_others == []
    for command in ("status", "logs", "attach"):
        assert "hello program" in pcc.pcc(command).stdout, "the only one is meant"


WAITS_FOR_ITS_OWN = """
scenes:
  - when: HELPER
    steps:
      - tools: [{Write: {file_path: "{project}/src/helped.txt", content: "1"}}]
        delay: 2s
      - say: I have helped.
  - when: Build it
    steps:
      - tools:
          - Bash: {command: "tail -f src/log", run_in_background: true}
          - Agent: {description: help, prompt: HELPER, subagent_type: general-purpose,
              run_in_background: true}
          - Bash: {command: "sleep 6; echo tested", run_in_background: true}
      - say: I wait for the helper and for the tests.
      - say: The helper is done. I wait for the tests.
        expect: I have helped
      - say: All is done.
        expect: completed
"""


def test_a_session_finds_the_programs_of_the_terminal_it_was_started_from(install):
    pcc = install("steps: [{tools: [{Bash: {command: tests/look.sh}}]}, Done.]")
    script = pcc.project / "tests/look.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text('#!/bin/sh\necho "$VIRTUAL_ENV|$GIT_DIR|$PATH" > tests/seen\n')
    script.chmod(0o755)
    mine, path = dict(pcc.environment), os.environ["PATH"]
    started_in = {"VIRTUAL_ENV": "/one", "PATH": f"/one/bin:{path}", "GIT_DIR": "/one/.git"}
    replace(pcc, environment=mine | started_in).pcc("list")

    seen = {}
    for place in ("/two", ""):
        there = {"VIRTUAL_ENV": place, "PATH": f"{place}/bin:{path}"}
        terminal = replace(pcc, environment=mine | there)
        terminal.pcc("start", str(pcc.project), "--task", "Look")
        seen[place] = (pcc.project / "tests/seen").read_text().strip().split("|")

    for place, (environment, repository, found) in seen.items():
        assert (environment, repository) == (place, "")
        assert found.split(":")[0] == f"{place}/bin"
        assert "/one" not in found


def test_a_turn_that_ends_to_wait_for_an_agent_and_a_command_is_not_the_end(install, servers):
    """Beside them goes what never ends, and is not waited for."""
    pcc = install(WAITS_FOR_ITS_OWN)
    (pcc.project / "src").mkdir(exist_ok=True)
    (pcc.project / "src" / "log").touch()

    session = pcc.start("Build it")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "src" / "helped.txt").exists()
    settled = pcc.events(session, "TaskSettled")
    assert [(event["state"], event["result"]) for event in settled] == [("done", "All is done.")]
    assert len(pcc.events(session, "RunStarted")) == 1
    assert [event["text"] for event in pcc.events(session, "BackgroundAwaited")] == [
        "Claude waits for 1 agent and 1 command in the background",
        "Claude waits for 1 command in the background, 10 minutes at most",
    ]
    assert servers[0].mismatches == []
    assert pcc.claudes() == []


LIMITED_WITH_ITS_OWN_AT_WORK = """
steps:
  - tools: [{Bash: {command: "sleep 300; echo tested", run_in_background: true}}]
  - fail: {kind: usage_limit, in: 8s}
  - tools: [{Write: {file_path: "{project}/src/after.txt", content: "1"}}]
    expect: finish before the previous session ended
  - say: All is done.
"""


def test_what_a_command_lost_with_its_process_is_no_end_of_the_task(install, servers):
    pcc = install(LIMITED_WITH_ITS_OWN_AT_WORK, subscription=True)

    session = pcc.start("Build it")

    assert pcc.wait(session)["status"] == "COMPLETED"
    settled = pcc.events(session, "TaskSettled")
    assert [(event["state"], event["result"]) for event in settled][-1] == ("done", "All is done.")
    assert (pcc.project / "src" / "after.txt").exists()
    assert servers[0].mismatches == []
    assert pcc.claudes() == []


def test_a_session_pauses_after_its_turns_and_goes_on_for_as_many(install):
    pcc = install(
        """
        steps:
          - tools: [{Write: {file_path: "{project}/src/one.txt", content: "1"}}]
          - tools: [{Write: {file_path: "{project}/src/two.txt", content: "2"}}]
          - tools: [{Write: {file_path: "{project}/src/three.txt", content: "3"}}]
          - say: Counted.
        """
    )

    said = pcc.pcc("start", str(pcc.project), "--task", "Count", "--max-turns", "2").stdout
    [session] = pcc.json("list")
    written = sorted(path.name for path in (pcc.project / "src").iterdir())
    [settled] = pcc.events(session["id"], "TaskSettled")
    pcc.pcc("resume", session["id"])
    done = pcc.wait(session["id"])

    assert (session["status"], session["detail"]) == (
        "PAUSED",
        "the turns of --max-turns are taken",
    )
    assert f"--max-turns are taken. Go on with: pcc resume {session['id']}\n" in said
    assert written == ["one.txt", "two.txt"]
    assert settled["state"] == "queued"
    assert done["status"] == "COMPLETED"
    assert (pcc.project / "src" / "three.txt").read_text() == "3"
    assert {one["attempt"] for one in pcc.events(session["id"], "TaskStarted")} == {1}
    assert pcc.json("pending") == []


SLOW = """
delay: 100ms
steps:
  - repeat: 12
    tools:
      - Write: {file_path: "{project}/src/part-{n}.txt", content: "part {n}"}
  - say: All twelve parts are written.
"""


def parts(pcc) -> list[str]:
    return sorted(path.name for path in (pcc.project / "src").glob("part-*.txt"))


def assert_complete(pcc, session: str) -> None:
    """The work is done once, and the log tells one story without a gap."""
    assert len(parts(pcc)) == 12
    events = pcc.events(session)
    numbers = [event["seq"] for event in events]
    assert numbers == sorted(set(numbers))
    settled = [event for event in events if event["kind"] == "TaskSettled"]
    assert [event["state"] for event in settled] == ["done"]
    decided = [event["request"] for event in events if event["kind"] == "ToolDecided"]
    assert len(decided) == len(set(decided))
    assert pcc.claudes() == []


def test_a_detached_session_is_watched_left_and_watched_again(install):
    pcc = install(SLOW.replace("100ms", "500ms"))
    session = pcc.start("Write the parts")

    with subprocess.Popen(
        pcc.command("attach", session), env=pcc.environment, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert any("part-1.txt" in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        seen = watching.stdout.read()

    assert watching.returncode == 0
    assert "the session goes on" in seen
    again = pcc.pcc("attach", session).stdout
    assert again.count("[TOOL] Write") == 12
    assert "Session completed" in again
    for tail in "1", "5":
        assert f"the last {tail} events" in pcc.pcc("attach", session, "--tail", tail).stdout
    assert_complete(pcc, session)


def test_a_session_pauses_in_mid_task_and_goes_on(install):
    pcc = install(SLOW.replace("100ms", "300ms"))
    session = pcc.start("Write the parts")
    wait_until(lambda: len(parts(pcc)) >= 4, within=60)

    pcc.pcc("pause", session)

    wait_until(lambda: not pcc.claudes(), within=60)
    paused = len(parts(pcc))
    assert pcc.status(session)["status"] == "PAUSED"
    time.sleep(1)
    assert len(parts(pcc)) == paused < 12
    pcc.pcc("resume", session)
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert len(parts(pcc)) == 12
    resumed = [event["resumed"] for event in pcc.events(session, "RunStarted")]
    assert resumed == [False, True]


@pytest.mark.parametrize("beside", ["false", "true"])
def test_a_pause_does_not_wait_for_an_agent_that_claude_called(install, beside):
    pcc = install(
        """
        scenes:
          - when: inner
            steps:
              - repeat: 12
                delay: 300ms
                tools: [{Write: {file_path: "{project}/src/part-{n}.txt", content: "n = {n}"}}]
              - Inner.
          - steps:
              - tools:
                  - Agent:
                      description: h
                      prompt: inner
                      subagent_type: general-purpose
                      run_in_background: BESIDE
              - All done.
        """.replace("BESIDE", beside)
    )
    session = pcc.start("Ask another")
    wait_until(lambda: len(parts(pcc)) >= 2, within=60)

    pcc.pcc("pause", session)

    wait_until(lambda: not pcc.claudes(), within=60)
    assert pcc.status(session)["status"] == "PAUSED"
    assert len(parts(pcc)) < 12
    pcc.pcc("resume", session)
    assert pcc.wait(session)["status"] == "COMPLETED"
    # What worked beside the turn is lost, and Claude is told; this one does not call it anew.
    assert beside == "true" or len(parts(pcc)) == 12


def test_tasks_run_by_priority_and_after_what_must_come_first(install, servers):
    pcc = install(
        """
        scenes:
          - {when: first, steps: [{tools: [{Read: {file_path: "{project}/x"}}]}, First is done.]}
          - {when: second, steps: [Second is done.]}
          - {when: third, steps: [Third is done.]}
          - {when: urgent, steps: [Urgent is done.]}
        """,
        server_of=HeldBack,
    )
    session = pcc.start("first")
    pcc.wait_for_event(session, "TaskStarted")

    pcc.pcc("add", session, "second")
    pcc.pcc("add", session, "third", "--priority", "5", "--after", "second")
    pcc.pcc("add", session, "urgent", "--priority", "10")
    servers[0].go.set()

    assert pcc.wait(session)["status"] == "COMPLETED"
    started = [event["prompt"] for event in pcc.events(session, "TaskStarted")]
    assert started == ["first", "urgent", "second", "third"]


VICTIMS = ("engine", "supervisor", "claude")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("first", range(3), ids=VICTIMS)
def test_nothing_is_lost_when_process_after_process_is_killed(install, first):
    """Each of them early, midway and late, in the course of the three."""
    pcc = install(SLOW.replace("100ms", "500ms"))  # there is time for all three
    session = pcc.start("Write the parts")

    for moment, victim in zip((1, 5, 9), VICTIMS[first:] + VICTIMS[:first], strict=True):
        wait_until(lambda n=moment: len(parts(pcc)) >= n, within=60)
        kill_one(pcc, victim)

    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert_complete_after_a_kill(pcc, session)


def kill_one(pcc, victim: str) -> None:
    match victim:
        case "engine":
            pcc.kill_engine()
        case "supervisor":
            pcc.kill_supervisor()
            pcc.pcc("list")
        case "claude":
            os.kill(wait_until(pcc.claudes, within=60)[0], signal.SIGKILL)


def assert_complete_after_a_kill(pcc, session: str) -> None:
    assert len(parts(pcc)) == 12
    events = pcc.events(session)
    numbers = [event["seq"] for event in events]
    assert numbers == sorted(set(numbers))
    states = [event["state"] for event in events if event["kind"] == "TaskSettled"]
    assert states[-1] == "done"
    assert states.count("done") == 1
    runs = [event for event in events if event["kind"] == "RunStarted"]
    assert len({run["claude_session"] for run in runs}) == 1, "the same conversation goes on"
    wait_until(lambda: not pcc.claudes(), within=5)


def test_a_reboot_loses_nothing(install):
    pcc = install(SLOW)
    session = pcc.start("Write the parts")
    wait_until(lambda: len(parts(pcc)) >= 5, within=60)

    supervisor, engine, claudes = pcc.supervisor, pcc.engine, pcc.claudes()
    for pid in [supervisor, engine, *claudes]:
        os.kill(pid, signal.SIGKILL)

    assert pcc.locations.socket.exists(), "the stale socket is left behind"
    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert_complete_after_a_kill(pcc, session)


def test_two_sessions_work_at_once_in_two_projects(install, servers, tmp_path):
    pcc = install(
        """
        scenes:
          - when: left
            steps: [{tools: [{Write: {file_path: "{project}/src/l", content: l}}]}, Left., ]
          - when: right
            steps: [{tools: [{Write: {file_path: "{project}/src/r", content: r}}]}, Right.]
        """,
        server_of=HeldBack,
    )
    other = tmp_path / "other"
    other.mkdir()

    sessions = [pcc.start("left"), pcc.start("right", project=other)]
    for session in sessions:
        pcc.wait_for_event(session, "RunInitialized")
    assert pcc.events(sessions[0], "RunEnded") == [], "side by side"
    servers[0].go.set()

    for session in sessions:
        assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "src" / "l").exists()
    assert (other / "src" / "r").exists()


def test_a_start_without_an_account_ends_with_one_clear_error(install):
    pcc = install(STORY, signed_in=False)

    done = pcc.pcc("start", str(pcc.project), "--task", "Write", check=False)

    assert done.returncode == 1
    assert "hint" in done.stdout + done.stderr
    assert "pcc login" in done.stdout + done.stderr
    assert pcc.json("list")[0]["status"] == "ERROR"


ASKS_FOREVER = """
scenes:
  - when: wrong
    steps:
      - ask: {question: "Which one?", options: [this, that]}
      - It is this one.
  - steps: [Done.]
"""


def test_one_task_is_stopped_and_the_others_are_done(install):
    pcc = install(ASKS_FOREVER)
    session = pcc.start("the wrong one")
    for words in (["also wrong"], ["comes after", "--after", "also wrong"], ["the right one"]):
        pcc.pcc("add", session, *words)
    pcc.wait(session, "WAITING_INPUT")

    queued = pcc.pcc("stop", session, "also wrong").stdout
    at_work = pcc.pcc("stop", session, "the wrong one").stdout
    found = pcc.wait(session)

    tasks = {task["prompt"]: task for task in found["tasks"]}
    first, other = tasks["the wrong one"]["id"], tasks["also wrong"]["id"]
    behind = tasks["comes after"]["id"]
    assert queued == (f"Stopped {other}: also wrong\nLeft out, as it comes after that: {behind}\n")
    assert at_work == f"Stopped {first}: the wrong one\n"
    assert [task["state"] for task in tasks.values()] == [
        "cancelled", "cancelled", "parked", "done",
    ]  # fmt: skip
    assert found["status"] == "COMPLETED"
    assert pcc.json("pending") == []
    again = pcc.pcc("stop", session, first, check=False)
    assert (again.returncode, "is cancelled already" in again.stderr) == (1, True)


@pytest.mark.timeout(180)
def test_ten_sessions_work_at_once(install, tmp_path):
    write = {"file_path": "{project}/src/own"}
    scenes = [
        {
            "when": f"scene {n:02}",
            "steps": [{"tools": [{"Write": {**write, "content": f"{n:02}"}}]}, "It is over."],
        }
        for n in range(10)
    ]
    pcc = install({"delay": "200ms", "scenes": scenes})
    config = pcc.locations.data.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[sessions]\nmax_concurrent = 10\n")
    projects = [tmp_path / f"project-{n:02}" for n in range(10)]
    for project in projects:
        project.mkdir()

    sessions = [pcc.start(f"Play scene {n:02}", project=projects[n]) for n in range(10)]

    for session in sessions:
        assert pcc.wait(session, within=120)["status"] == "COMPLETED"
    assert [(project / "src" / "own").read_text() for project in projects] == [
        f"{n:02}" for n in range(10)
    ]


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("victim", ["engine", "supervisor", "claude"])
def test_a_hundred_kills_lose_nothing(install, victim):
    """A third of them each; every kill at another moment of the work."""
    story = SLOW.replace("repeat: 12", "repeat: 700").replace("twelve", "seven hundred")
    pcc = install(story)
    session = pcc.start("Write the parts")

    for kills in range(34):
        before = len(parts(pcc))
        wait_until(lambda b=before, k=kills: len(parts(pcc)) > b + k % 4, within=60)
        kill_one(pcc, victim)
        pcc.pcc("list")

    assert pcc.wait(session, within=300)["status"] == "COMPLETED"
    assert len(parts(pcc)) == 700
    assert [e["state"] for e in pcc.events(session, "TaskSettled")].count("done") == 1


AT_NIGHT = """
steps:
  - tools: [{Write: {file_path: "{project}/src/night.txt", content: "1"}}]
  - say: I have worked while you slept.
"""


def test_what_is_for_later_begins_by_itself_though_everything_is_killed_meanwhile(
    install, tmp_path
):
    pcc = install(AT_NIGHT)
    offset = tmp_path / "offset"
    offset.write_text("0")
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)

    said = pcc.pcc(
        "start", str(pcc.project), "--task", "Work at night", "--at", "in 2 hours"
    ).stdout
    session = said.split()[2]
    due = pcc.status(session)["resumes_at"]
    listed = pcc.pcc("list").stdout
    pcc.kill_both()
    shown = pcc.pcc("status", session).stdout

    assert "begins " in said
    assert 7000 < due - time.time() <= 7200
    assert "○ Scheduled" in listed
    assert session in pcc.pcc("list", "--status", "scheduled").stdout
    assert "○ Scheduled" in shown
    assert "Duration:" not in shown
    assert "│ Begins: " in listed
    assert "Begins:      " in shown
    assert "Work at night  [unattended]  [begins " in shown
    assert pcc.claudes() == []
    assert pcc.status(session)["runs"] == 0

    pcc.pcc("daemon", "stop")
    offset.write_text("7201")
    pcc.pcc("daemon", "start")
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert [one["at"] >= due for one in pcc.events(session, "TaskStarted")] == [True]
    assert (pcc.project / "src" / "night.txt").read_text() == "1"


def test_a_time_that_is_none_is_refused_and_nothing_starts(install):
    pcc = install(AT_NIGHT)

    refused = pcc.pcc(
        "start", str(pcc.project), "--task", "x", "--at", "yesterday", check=False
    ).stderr

    assert "'yesterday' is no time that is understood" in refused
    assert "tomorrow at 9am" in refused
    assert pcc.json("list") == []
