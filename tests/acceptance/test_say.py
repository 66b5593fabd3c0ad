"""A word to a Claude at work, on the real Claude Code: heard at its next step, and once."""

import json
import os
import signal
from pathlib import Path

import pytest

from perpetualcc.learning.install import install as install_hooks
from perpetualcc.learning.places import Places
from tests.acceptance.held_back import HeldBack
from tests.acceptance.supervised import kill, wait_until
from tests.acceptance.terminals import CTRL_C, terminal

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

WAIT = "until test -e go; do sleep 0.1; done"
AT_WORK = f"""
steps:
  - say: I begin.
    tools: [{{Bash: {{command: "{WAIT}"}}}}]
  - tools: [{{Write: {{file_path: "{{project}}/src/a.py", content: "a = 1"}}}}]
  - Done.
  - Done again.
  - Done once more.
"""
WORD = "use the v2 endpoint, not v1"


def begun(pcc, task="Build the client"):
    """A session whose first tool is at work."""
    session = pcc.start(task)
    pcc.wait_for_event(session, "ToolDecided")
    return session


def go(pcc):
    (pcc.project / "go").touch()


def told(server, word=WORD):
    """Of each request, how often the word is in it."""
    return [json.dumps(one.messages).count(word) for one in server.requests]


def states(pcc, session):
    return [one["state"] for one in pcc.look(session)["words"]]


def test_a_word_in_mid_turn_is_in_the_next_request(install, servers):
    pcc = install(AT_WORK)
    session = begun(pcc)

    said = pcc.pcc("say", session, WORD).stdout
    wait_until(lambda: states(pcc, session) == ["given"])
    assert "Said to Claude, and on its way:" in pcc.pcc("status", session).stdout
    go(pcc)
    pcc.wait(session, "COMPLETED")

    assert said.endswith("It reaches Claude at its next step.\n")
    assert told(servers[0]) == [0, 1, 1]
    assert "The user sent a new message while you were working" in str(
        servers[0].requests[1].messages
    )
    assert len(pcc.events(session, "RunStarted")) == 1
    assert states(pcc, session) == []
    assert f'You said: "{WORD}"' in pcc.pcc("logs", session).stdout
    assert f'You said: "{WORD}"' in pcc.pcc("status", session, "--show-decisions").stdout


def test_words_keep_their_order_and_what_looks_like_a_command_is_none(install, servers):
    pcc = install(AT_WORK)
    session = begun(pcc)
    words = ["/v2 is the endpoint", "first ünïcödé 🚀", "second \x1b[31mred\x1b[0m", "!ls"]

    for word in words:
        pcc.pcc("say", session, "-", stdin=word + "\n")
    wait_until(lambda: states(pcc, session) == ["given"] * 4)
    go(pcc)
    pcc.wait(session, "COMPLETED")

    heard = json.dumps(servers[0].requests[1].messages, ensure_ascii=False)
    places = [heard.find(word) for word in ("first ünïcödé 🚀", "second red", "!ls")]
    assert 0 < places[0] < places[1] < places[2]
    assert "/v2 is the endpoint" in json.dumps([one.messages for one in servers[0].requests])
    assert states(pcc, session) == []


def test_a_word_that_comes_as_the_turn_ends_begins_another(install, servers):
    pcc = install("steps: [Nearly., And that is mended., More.]", server_of=HeldBack)
    session = pcc.start("Build it")
    pcc.wait_for_event(session, "RunInitialized")

    pcc.pcc("say", session, WORD)
    pcc.pcc("say", session, "and once more")
    wait_until(lambda: states(pcc, session) == ["given"] * 2)
    servers[0].go.set()
    done = pcc.wait(session, "COMPLETED")

    assert told(servers[0]) == [0, 1]
    assert told(servers[0], "and once more") == [0, 1]
    assert done["tasks"][0]["result"] == "And that is mended."
    assert len(pcc.events(session, "RunStarted")) == 1
    assert done["words"] == []


def test_a_word_while_the_checks_run_has_the_work_go_on(install, servers):
    pcc = install("steps: [Done., Mended., More.]")
    session = pcc.start("Build it", "--check", f"touch checking; {WAIT}")
    wait_until((pcc.project / "checking").exists)

    said = pcc.pcc("say", session, WORD).stdout
    go(pcc)
    done = pcc.wait(session, "COMPLETED")

    assert "next run" in said
    assert told(servers[0]) == [0, 1]
    assert done["tasks"][0]["result"].startswith("Mended.")
    assert done["words"] == []


def test_a_word_during_a_limit_is_in_the_first_request_after_it(install, servers):
    pcc = install(
        """
        steps:
          - tools: [{Write: {file_path: "{project}/src/first.py", content: "one = 1"}}]
          - fail: {kind: usage_limit, in: 12s}
          - Done.
          - More.
        """,
        *("--idle-exit", "0.5"),
        subscription=True,
    )
    session = pcc.start("Write a file")
    pcc.wait(session, "RATE_LIMITED")

    said = pcc.pcc("say", session, WORD).stdout
    before = len(servers[0].requests)
    pcc.kill_both()
    done = pcc.wait(session, "COMPLETED")

    assert "It waits until the session goes on (limit until " in said
    assert told(servers[0])[before:] == [1]
    assert done["words"] == []


def test_a_word_to_a_paused_session_waits_for_it(install, servers):
    pcc = install(AT_WORK)
    session = begun(pcc)
    pcc.pcc("pause", session)
    go(pcc)
    pcc.wait(session, "PAUSED")
    wait_until(lambda: pcc.claudes() == [])

    said = pcc.pcc("say", session, WORD).stdout
    pcc.pcc("resume", session)
    pcc.wait(session, "COMPLETED")

    assert f"It waits until the session goes on: pcc resume {session}" in said
    assert max(told(servers[0])) == 1
    assert "Meanwhile the user said to you" in str(servers[0].requests[-1].messages)


def test_a_daemon_that_is_killed_right_after_it_was_said_loses_nothing(install, servers):
    pcc = install(AT_WORK)
    session = begun(pcc)

    pcc.pcc("say", session, WORD)
    pcc.kill_both()
    go(pcc)
    pcc.pcc("list")
    pcc.wait(session, "COMPLETED")

    last = json.dumps(servers[0].requests[-1].messages)
    assert last.count(WORD) == 1
    assert len(pcc.events(session, "WordSaid")) == 1
    assert states(pcc, session) == []


def test_what_the_conversation_has_is_not_told_again_after_a_kill(install, servers):
    pcc = install(f"""
        steps:
          - tools: [{{Bash: {{command: "{WAIT}"}}}}]
          - {{say: Slowly., delay: 8s}}
          - Done.
          - More.
        """)
    session = begun(pcc)
    pcc.pcc("say", session, WORD)
    wait_until(lambda: states(pcc, session) == ["given"])
    go(pcc)
    projects = Path(pcc.environment["CLAUDE_CONFIG_DIR"], "projects")

    wait_until(lambda: any("source_uuid" in one.read_text() for one in projects.glob("*/*.jsonl")))
    for claude in pcc.claudes():
        kill(claude)
    pcc.kill_both()
    pcc.pcc("list")
    pcc.wait(session, "COMPLETED")

    assert json.dumps(servers[0].requests[-1].messages).count(WORD) == 1
    assert "Meanwhile the user said" not in str(servers[0].requests[-1].messages)
    assert states(pcc, session) == []


def test_a_line_typed_in_attach_is_said(install, servers):
    pcc = install(AT_WORK)
    session = begun(pcc)

    with terminal(pcc.command("attach", session), pcc.environment) as screen:
        screen.wait_for("Type to say something")
        screen.wait_for("I begin.")
        screen.type("\n")
        screen.wait_for("Say to Claude > ")
        screen.type("uss\x7fe the v2 endpoint, not v1")
        screen.wait_for(WORD)
        pcc.pcc("say", session, "meanwhile")  # what happens meanwhile does not tear the line
        screen.wait_for('You said: "meanwhile"')
        screen.wait_for(f"Say to Claude > {WORD}")
        assert f'You said: "{WORD}"' not in screen.seen
        screen.type("\n")
        screen.wait_for("It reaches Claude at its next step.")
        screen.wait_for(f'You said: "{WORD}"')
        screen.type("and a third\n")
        screen.wait_for('You said: "and a third"')
        screen.type("\n")
        screen.wait_for("Say to Claude > ")
        screen.type("\n")
        screen.wait_for("Nothing was said.")
        screen.type(CTRL_C)
        assert screen.wait() == 0
    go(pcc)
    pcc.wait(session, "COMPLETED")

    assert told(servers[0]) == [0, 1, 1]
    assert told(servers[0], "and a third") == [0, 1, 1]


def test_who_speaks_to_nobody_is_told_what_to_do(install):
    pcc = install("steps: [Done.]")
    session = pcc.start("Build it")
    pcc.wait(session, "COMPLETED")

    over = pcc.pcc("say", session, WORD, check=False)
    empty = pcc.pcc("say", session, "  ", check=False)
    long = pcc.pcc("say", session, "-", stdin="x" * 8_001, check=False)
    forgotten = pcc.pcc("say", session, check=False)
    several = pcc.pcc("say", session, "use", "v2", check=False)

    assert (over.returncode, f'pcc add {session} "…"' in over.stderr) == (1, True)
    assert "There is nothing to say" in empty.stderr
    assert "8,001 characters are too much to say at once; 8,000 is the most" in long.stderr
    assert (forgotten.returncode, f'pcc say {session} "…"' in forgotten.stderr) == (2, True)
    assert (several.returncode, "Put it in quotes" in several.stderr) == (2, True)


def test_a_correction_that_is_said_is_learned_as_if_it_were_typed(install):
    pcc = install(AT_WORK)
    places = Places(claude=Path(pcc.environment["CLAUDE_CONFIG_DIR"]))
    install_hooks(places)
    session = begun(pcc)

    pcc.pcc("say", session, "no, always use pnpm here, not npm")
    go(pcc)
    pcc.wait(session, "COMPLETED")

    wait_until(lambda: "pnpm" in pcc.pcc("learn", "list", "--json").stdout)
    [learned] = [one for one in pcc.json("learn", "list") if "pnpm" in json.dumps(one)]
    assert learned["seen"] == 1


def test_a_hook_that_stops_a_word_is_told_and_stops_no_work(install, servers):
    pcc = install("steps: [Nearly., More.]", server_of=HeldBack)
    command = "if grep -q endpoint; then echo no such words >&2; exit 2; fi"
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}
    settings = Path(pcc.environment["CLAUDE_CONFIG_DIR"], "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"hooks": hooks}))
    session = pcc.start("Build it")
    pcc.wait_for_event(session, "RunInitialized")

    pcc.pcc("say", session, WORD)
    wait_until(lambda: states(pcc, session) == ["given"])
    servers[0].go.set()
    done = pcc.wait(session, "COMPLETED")

    [problem] = pcc.events(session, "ProblemNoticed")
    assert problem["text"].startswith("A hook of the settings kept what you said from Claude")
    assert (done["tasks"][0]["result"], done["words"]) == ("Nearly.", [])


def test_a_frozen_daemon_that_is_asked_twice_says_it_once(install):
    """The answer is lost: who asks again with the same key has said it once."""
    pcc = install(AT_WORK)
    session = begun(pcc)

    for _ in range(2):
        said = pcc.ask("session.say", session=session, text=WORD, key="one")
    os.kill(pcc.engine, signal.SIGKILL)
    again = pcc.ask("session.say", session=session, text=WORD, key="one")

    assert said["number"] == again["number"]
    assert len(pcc.events(session, "WordSaid")) == 1
    pcc.pcc("stop", session)


def test_what_was_said_is_in_the_handover_and_in_the_next_conversation(install, servers):
    pcc = install(f"""
        scenes:
          - steps:
              - tools: [{{Bash: {{command: "{WAIT}"}}}}]
              - tools: [{{Bash: {{command: "until test -e more; do sleep 0.1; done"}}}}]
              - More.
          - steps: [Done., More.]
        """)
    session = pcc.pcc("perpetual", str(pcc.project), "--task", "Build it", "--detach").stdout
    session = session.split()[2]
    pcc.wait_for_event(session, "ToolDecided")
    pcc.pcc("say", session, WORD)
    wait_until(lambda: states(pcc, session) == ["given"])
    go(pcc)
    wait_until(lambda: WORD in json.dumps(servers[0].requests[-1].messages))
    folder = pcc.project / ".claude-handover"
    (folder / "trigger.flag").touch()
    pcc.wait_for_event(session, "HandoverDone")
    wait_until(lambda: len(pcc.events(session, "RunStarted")) == 2)
    pcc.wait(session, "COMPLETED")

    last = json.dumps(servers[0].requests[-1].messages)
    assert f"the user said, and it still holds:\\n- {WORD}" in last
    assert f"The user said: {WORD}" in (folder / "archive/1/handover.md").read_text()
