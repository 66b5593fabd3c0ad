"""From a terminal into the night and back: a conversation with the real Claude Code, taken over."""

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import claude_agent_sdk
import pytest

from perpetualcc.claude.transcripts import transcripts_below
from perpetualcc.rehearsal.world import API_KEY
from tests.acceptance.supervised import kill, wait_until
from tests.acceptance.test_handover import scene
from tests.acceptance.tmux import past_the_welcome, window
from tests.commands import run_pcc

pytestmark = [
    pytest.mark.claude,
    pytest.mark.timeout(150),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]

PCC = Path(sys.executable).parent / "pcc"
PLUGIN = Path(__file__).parents[2] / "plugin"
CLAUDE = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
WRITES = 'Write: {file_path: "{project}/src/theme.py", content: "dark = 1"}'
WAITS = 'Bash: {command: "until test -e go; do sleep 0.1; done"}'
STORY = """
steps:
  - The colours belong into src/theme.py.
  - {on_prompt: Go on, tools: [{TOOL}]}
  - It is written.
  - {on_prompt: Now by hand, say: By hand then.}
  - {on_prompt: restarted, say: All is done.}
  - And more.
"""
WISH = "I want a dark mode. Where do the colours belong?"


@contextmanager
def shown(pcc, *command, cwd=None):
    environment = {**pcc.environment, "LANG": "C.UTF-8"}
    words = list(command) or [str(CLAUDE)]
    with window(words, cwd or pcc.project, environment, Path(environment["HOME"], "t")) as screen:
        yield screen


def say(screen, text, answer):
    """An Enter that comes before Claude Code listens is lost, and one on nothing does nothing."""
    screen.type(text)
    deadline = time.monotonic() + 60
    while answer not in screen.screen:
        assert time.monotonic() < deadline, screen.screen
        time.sleep(1)
        screen.press("Enter")


@pytest.fixture
def talked(install, claude_world):
    """Somebody has talked with Claude in the project, and left."""

    def talk(tool=WRITES):
        pcc = install(STORY.replace("TOOL", tool))
        past_the_welcome(claude_world.home / ".claude", API_KEY, claude_world.project)
        with shown(pcc) as screen:
            screen.wait_for("❯")
            say(screen, WISH, "The colours belong into")
            screen.type("/exit")
            wait_until(lambda: not screen.screen)  # its server has gone with it
        return pcc

    return talk


def talked_headless(pcc, words=WISH, *flags):
    subprocess.run(
        [CLAUDE, "-p", words, *flags], cwd=pcc.project, env=pcc.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def conversations(pcc):
    return {path.stem: path.read_bytes() for path in transcripts_below(pcc.environment)}


def said_to_model(server):
    """The texts of the newest request, system reminders left out."""
    return str(server.requests[-1].messages)


def test_a_conversation_in_a_terminal_goes_on_in_the_night(talked, servers):
    pcc = talked()
    before = conversations(pcc)
    [theirs] = before

    started = pcc.pcc("start", str(pcc.project), "--continue", "--detach")
    session = started.stdout.split("Session started: ")[1].split()[0]
    pcc.wait(session, "COMPLETED")

    assert f'Goes on with: {theirs[:8]} "{WISH}", last used' in started.stdout
    assert "That conversation was used a moment ago" in started.stderr
    assert WISH in said_to_model(servers[0])
    assert "Go on with what we were doing" in said_to_model(servers[0])
    assert (pcc.project / "src" / "theme.py").read_text() == "dark = 1"
    assert conversations(pcc)[theirs] == before[theirs]
    assert len(conversations(pcc)) == 2
    [run] = pcc.events(session, "RunStarted")
    assert (run["copies"], run["resumed"], run["lost"]) == (theirs, False, False)
    assert f"Going on with your conversation {theirs[:8]}" in pcc.pcc("logs", session).stdout


def test_it_goes_on_in_a_worktree_of_its_own(talked, servers):
    pcc = talked()
    author = ("-c", "user.name=U", "-c", "user.email=u@localhost")
    for words in (("add", "-A"), (*author, "commit", "--allow-empty", "-qm", "begin")):
        subprocess.run(["git", "-C", pcc.project, *words], check=True)

    session = pcc.start("Go on", "--continue", "--worktree", "dark")
    pcc.wait(session, "COMPLETED")

    place = Path(pcc.look(session)["project"])
    assert place == pcc.project / ".claude" / "worktrees" / "dark"
    asked = str(servers[0].requests[1].messages)
    assert WISH in asked
    assert f"Work goes on in {place} instead" in asked


def test_a_kill_before_anything_was_said_begins_with_the_same_conversation(talked, servers):
    pcc = talked(WAITS)
    [theirs] = conversations(pcc)

    session = pcc.start("Go on", "--resume", theirs)
    pcc.wait_for_event(session, "RunStarted")
    kill(pcc.engine)
    (pcc.project / "go").touch()
    pcc.wait(session, "COMPLETED")

    first, *later = pcc.events(session, "RunStarted")
    assert first["copies"] == theirs
    assert later
    assert all(one["resumed"] or one["copies"] == theirs for one in later)
    assert not any(one["lost"] for one in later)
    assert WISH in said_to_model(servers[0])


def test_a_session_is_opened_by_hand_and_goes_on_where_one_left(talked, servers):
    pcc = talked(WAITS)
    session = pcc.start("Go on", "--continue")
    pcc.wait_for_event(session, "ToolDecided")
    mine = pcc.look(session)["conversation"]

    with shown(pcc, *pcc.command("open", session)) as screen:
        wait_until(lambda: pcc.look(session)["status"] == "PAUSED")
        (pcc.project / "go").touch()
        screen.wait_for("❯")
        screen.wait_for("Go on")
        assert pcc.look(session)["status"] == "PAUSED"
        say(screen, "Now by hand, please", "By hand then.")
        screen.type("/exit")
        screen.wait_for("go on?")
        screen.type("y")
        wait_until(lambda: not screen.screen)
    pcc.wait(session, "COMPLETED")

    assert "Now by hand, please" in said_to_model(servers[0])
    assert pcc.look(session)["conversation"] == mine
    last = pcc.events(session, "RunStarted")[-1]
    assert last["resumed"]


def test_what_hands_over_leaves_the_copied_conversation_behind(install, servers):
    first, last = (scene(number, last=number == 2) for number in (1, 2))
    talk = "The colours belong into src/theme.py."
    steps = [talk, {"on_prompt": "taken-over", **first["steps"][0]}, *first["steps"][1:]]
    pcc = install(
        {"scenes": [last, {"when": "dark mode", "usage": first["usage"], "steps": steps}]}
    )
    talked_headless(pcc)

    session = pcc.start("Build the wonders", "--continue", "--perpetual")
    pcc.wait(session, "COMPLETED")

    one, two = pcc.events(session, "RunStarted")
    assert (bool(one["copies"]), two["copies"]) == (True, "")
    assert WISH not in said_to_model(servers[0])
    assert (pcc.project / "src" / "wonder_2.py").exists()


def test_a_goal_is_planned_with_what_was_talked_of_and_looked_over_without(install, servers):
    plan = {"tasks": [{"title": "Write it", "prompt": "Write the theme"}]}
    pcc = install({
        "scenes": [
            {"when": "dark mode", "steps": [
                "The colours belong into src/theme.py.",
                {"on_prompt": "<planning>",
                 "tools": [{"mcp__perpetualcc__propose_plan": plan}]},
                "Planned.",
            ]},
            {"when": "with fresh eyes", "steps": ["It is whole."]},
            {"when": "Write the theme", "steps": ["Written."]},
        ]
    })  # fmt: skip
    talked_headless(pcc)

    session = pcc.start("Make it dark", "--continue", "--plan", "--yes")
    pcc.wait(session, "COMPLETED")

    copies = [bool(one["copies"]) for one in pcc.events(session, "RunStarted")]
    assert copies == [True, False, False]
    assert WISH not in said_to_model(servers[0])


def test_a_conversation_that_is_gone_when_its_time_comes_is_a_persons(talked):
    pcc = talked()
    [path] = transcripts_below(pcc.environment)
    session = pcc.start("Go on", "--resume", path.stem, "--at", "in 3 seconds")
    path.unlink()

    pcc.wait(session, "ERROR")

    assert path.stem in pcc.look(session)["detail"] + str(pcc.look(session)["tasks"])
    assert pcc.json("pending")


def test_a_limit_in_the_terminal_is_waited_out_with_all_that_was_said(install, servers):
    pcc = install(
        """
        steps:
          - The colours belong into src/theme.py.
          - fail: {kind: usage_limit, in: 15s, everyone: true}
          - {on_prompt: taken-over, say: And the fonts beside them.}
        """,
        subscription=True,
    )
    talked_headless(pcc)
    talked_headless(pcc, "And the fonts?", "--continue")

    session = pcc.start("Go on", "--continue")
    waits = pcc.wait(session, "RATE_LIMITED")
    pcc.wait(session, "COMPLETED")

    assert waits["detail"] == "the 5-hour limit"
    assert WISH in said_to_model(servers[0])
    assert "And the fonts?" in said_to_model(servers[0])


def test_the_plugins_command_leaves_the_conversation_it_is_typed_in(
    rehearsal, claude_world, tmp_path
):
    start = "pcc start . --continue --detach --task 'Write it'"
    server = rehearsal(
        {
            "steps": [
                {"tools": [{"Bash": {"command": start}}]},
                "Left.",
                {"on_prompt": "taken-over", "say": "Done."},
            ]
        }
    )
    environment = {**os.environ, **claude_world.environment(server)}
    # Below that home a socket's path would be too long.
    (tmp_path / "pcc").write_text(f'#!/bin/sh\nexec "{PCC}" --data-dir "{tmp_path}/d" "$@"\n')
    (tmp_path / "pcc").chmod(0o755)
    environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"

    def pcc(*words):
        given = ["--data-dir", str(tmp_path / "d"), *words]
        return run_pcc(given, env=environment, cwd=claude_world.project).stdout

    try:
        subprocess.run(
            [CLAUDE, "-p", "/pcc:continue Write it", "--plugin-dir", str(PLUGIN)],
            cwd=claude_world.project, env=environment, stdin=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        wait_until(lambda: "COMPLETED" in pcc("list", "--json"), within=60)
        ours = json.loads(pcc("status", "write", "--json"))["conversation"]
    finally:
        pcc("daemon", "stop", "--now")

    [theirs] = {path.stem for path in transcripts_below(environment)} - {ours}
    assert f"--resume {theirs} --detach" in str(server.requests[0].messages)
    assert "nobody is at its terminal now" in str(server.requests[-1].messages)
    assert "/pcc:continue" in str(server.requests[-1].messages)


def test_what_cannot_be_gone_on_with_is_said(install):
    pcc = install("steps: [Done.]")
    place = str(pcc.project)

    none = pcc.pcc("start", place, "--continue", check=False)
    unknown = pcc.pcc("start", place, "--resume", "../../etc/passwd", check=False)
    both = pcc.pcc("start", place, "--continue", "--resume", "x", check=False)
    again = pcc.pcc("start", place, "--continue", "--every", "day at 2am", check=False)

    assert "No conversation with Claude Code was begun in" in none.stderr
    assert "There is no conversation with Claude Code that is called" in unknown.stderr
    assert "are two conversations" in both.stderr
    assert "What repeats begins afresh each time" in again.stderr
    assert pcc.json("list") == []
