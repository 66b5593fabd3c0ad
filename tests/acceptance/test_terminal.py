"""Watching a session on a terminal: leave it, come back, answer, stop."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.terminals import CTRL_C, CTRL_D, terminal

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

ASKING = """
steps:
  - say: I clear the old build.
    tools:
      - Bash: {command: "rm -rf build"}
  - say: Cleared.
"""


QUESTION = """
steps:
  - ask: [{question: "Which one?", options: [SQLite, PostgreSQL]}]
  - say: Chosen.
"""


def test_a_person_leaves_comes_back_and_approves(install):
    pcc = install(ASKING)
    (pcc.project / "build").mkdir()
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--session-name", "schön-🚀")

    with terminal(start, pcc.environment) as first:
        first.wait_for("[A]pprove")
        first.type(CTRL_C)
        assert first.wait() == 0
    with terminal(pcc.command("attach", "schön-🚀"), pcc.environment) as second:
        second.wait_for("[A]pprove")
        second.type("a\n")
        assert second.wait() == 0

    assert "PerpetualCC Session: schön-🚀" in first.seen
    assert "the session goes on" in first.seen
    assert "I clear the old build." in second.seen, "the past comes first"
    assert "   Why: rm -rf build: Deletes files" in second.seen
    assert "Session completed" in second.seen
    assert not (pcc.project / "build").exists()
    decided = pcc.events("schön-🚀", "ToolDecided")
    assert [(one["verdict"], one["decided_by"]) for one in decided] == [("allow", "person")]


def test_ctrl_d_stops_the_session_once_that_is_answered_with_yes(install):
    pcc = install(ASKING)
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--session-name", "mine")

    with terminal(start, pcc.environment) as screen:
        screen.wait_for("> ")
        for no in (CTRL_D, "\n", "no\n"):
            screen.seen = ""
            screen.type(CTRL_D)
            screen.wait_for("[y/N] ")
            assert screen.seen.startswith("\nStop this session for good?")
            screen.type(no)
            screen.wait_for("\nNot stopped.\n")
            screen.wait_for("> ")
        assert pcc.status("mine")["status"] == "WAITING_INPUT"

        screen.type(CTRL_D)
        screen.wait_for("[y/N] ")
        screen.type("y\n")
        assert screen.wait() == 0

    assert "■ Session stopped" in screen.seen
    assert pcc.status("mine")["status"] == "STOPPED"


def test_a_terminal_that_is_closed_stops_nothing(install):
    """Also where the signal of its end is not heard: what is read then is no Ctrl+D."""
    pcc = install(ASKING)
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--session-name", "mine")
    deaf = ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *start]

    with terminal(deaf, pcc.environment) as screen:
        screen.wait_for("[A]pprove")
        screen.close()
        screen.command.wait(timeout=20)

    assert pcc.status("mine")["status"] == "WAITING_INPUT"
    assert [one["number"] for one in pcc.json("pending")] == [1]


TWICE = """
steps:
  - tools: [{Bash: {command: "rm -rf first"}}]
  - tools: [{Bash: {command: "rm -rf second"}}]
  - say: Cleared.
"""


def test_what_was_typed_for_one_request_never_answers_the_next(install):
    """Somebody else is faster, and the next request comes under the fingers of the first."""
    pcc = install(TWICE)
    for name in ("first", "second"):
        (pcc.project / name).mkdir()
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--session-name", "mine")

    with terminal(start, pcc.environment) as screen:
        screen.wait_for("rm -rf first")
        screen.wait_for("[A]pprove")
        screen.type("a")
        pcc.pcc("respond", "1", "--deny")
        screen.wait_for("rm -rf second")
        screen.wait_for("(#2)")
        screen.seen = screen.seen.partition("(#2)")[2]
        screen.wait_for("[A]pprove")
        screen.type("\n")
        screen.type("leave it" + CTRL_D)
        screen.wait_for("Not sent")
        assert pcc.status("mine")["counts"] == {"deny/person": 1}
        screen.type("d\n")
        assert screen.wait() == 0

    assert (pcc.project / "first").exists()
    assert (pcc.project / "second").exists()
    assert pcc.status("mine")["counts"] == {"deny/person": 2}


def test_the_kill_switch_is_not_undone_by_a_terminal_that_looks_on(install):
    """The line that was typed on is cleared, and what is said stands on one of its own."""
    pcc = install(ASKING)
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--session-name", "mine")

    with terminal(start, pcc.environment) as screen:
        screen.wait_for("[A]pprove")
        pcc.pcc("daemon", "stop", "--now")
        assert screen.wait() == 1

    told = screen.seen.replace("\x1b[?2004l", "")
    assert "\x1b[2KWaiting for the daemon …\nerror: The daemon was stopped\n" in told
    assert pcc.engine is None
    assert pcc.json("daemon", "status")["phase"] == "stopped"


def test_a_restart_waits_for_no_answer_and_is_gone_on_with_where_it_is_watched(install):
    """A question that Claude is held for waits as a row: no grace is needed for it."""
    pcc = install(QUESTION)
    pcc.start("Choose", "--session-name", "mine")
    logs, attach = pcc.command("logs", "mine", "--follow"), pcc.command("attach", "mine")

    with (
        subprocess.Popen(logs, env=pcc.environment, stdout=subprocess.PIPE, text=True) as log,
        terminal(attach, pcc.environment) as screen,
    ):
        screen.wait_for("Select")
        before = time.monotonic()
        pcc.pcc("daemon", "restart")
        assert time.monotonic() - before < 20
        screen.seen = ""
        screen.wait_for("Select")
        screen.type("2\n")
        assert screen.wait(within=60) == 0
        assert log.stdout is not None
        assert any("Session completed" in line for line in log.stdout)
        log.send_signal(signal.SIGINT)

    assert log.returncode == 0
    assert "You answered #1: PostgreSQL" in screen.seen


def test_who_watches_a_session_stop_is_told_what_to_type_and_where(install):
    pcc = install("steps: [{repeat: 9, say: Cleared.}]")
    pcc.pcc("config", "set", "checks.attempts", "1")
    start = pcc.command("start", str(pcc.project), "--task", "Clear", "--check", "false")

    with terminal(start, pcc.environment) as screen:
        assert screen.wait() == 1

    assert "Task parked: Check failed" in screen.seen
    assert "✗ Session stopped working" in screen.seen
    assert 'Answer with: pcc respond 1 retry (or "give up")' in screen.seen
    assert "Answer here" not in screen.seen


@pytest.mark.skipif(shutil.which("bash") is None, reason="it is about the shell")
def test_half_an_answer_that_somebody_else_gave_is_no_command_for_the_shell(install):
    pcc = install(ASKING)
    pcc.start("Clear", "--session-name", "mine")
    attach = shlex.join(pcc.command("attach", "mine"))
    shell = ["/bin/bash", "-c", f'{attach}; read -r -n 99 -t 2 left; echo "left: <$left>"']

    with terminal(shell, pcc.environment) as screen:
        screen.wait_for("[A]pprove")
        screen.type("rm -rf src")
        pcc.pcc("respond", "1", "--deny")
        assert screen.wait() == 0

    assert "Session completed" in screen.seen
    assert "left: <>" in screen.seen


def programs(folder: Path) -> Path:
    """A folder with `pcc` in it."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "pcc").write_text(f'#!/bin/sh\nexec {sys.executable} -m perpetualcc "$@"\n')
    (tools / "pcc").chmod(0o755)
    return tools


@pytest.mark.skipif(shutil.which("zsh") is None, reason="completion needs the shell")
@pytest.mark.parametrize(
    ("own", "installed"),
    [
        ("", 2),
        ("autoload -Uz compinit; compinit -u\nzstyle ':completion:*' menu no", 1),
        ("fpath+=~/.zfunc; autoload -Uz compinit; compinit -u", 0),  # of an older version
    ],
)
def test_zsh_completes_at_the_first_tab_and_keeps_its_users_styles(
    install, tmp_path, own, installed
):
    pcc = install("steps: [Done.]")
    home, tools = Path(pcc.environment["HOME"]), programs(tmp_path)
    settings = home / ".zshrc"
    settings.write_text(f"PS1='> '\n{own}")
    before = settings.read_text()
    environment = {**pcc.environment, "PATH": f"{tools}:{os.environ['PATH']}"}
    for _ in range(installed or 1):
        words = [str(tools / "pcc"), "--install-completion", "zsh"]
        subprocess.run(words, env=environment, capture_output=True, check=True, timeout=30)
    assert settings.read_text().count("source ") == 1, "once, however often it is installed"
    if not installed:
        settings.write_text(before)

    with terminal([shutil.which("zsh"), "-d", "-i"], environment) as screen:
        screen.wait_for("> ")
        screen.type("pcc daem\t")
        screen.wait_for("pcc daemon", within=30)
        screen.type("\x15zstyle -L | cat; echo its sty''les\n")
        screen.wait_for("its styles\n", within=30)

    assert "menu select" not in screen.seen
    assert ("menu no" in screen.seen) == ("menu no" in own)


@pytest.mark.skipif(shutil.which("bash") is None, reason="completion needs the shell")
def test_bash_completes_commands_and_what_is_there(install, tmp_path):
    pcc = install("steps: [Done.]")
    tools = programs(tmp_path)
    shown = pcc.pcc("--show-completion", "bash").stdout
    environment = {**pcc.environment, "PATH": f"{tools}:{os.environ['PATH']}"}

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = (
            f"{shown}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
            '_pcc_completion pcc; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        assert done.stderr == ""
        return done.stdout.split()

    assert pcc.pcc("--show-completion", "zsh").stdout.startswith("#compdef pcc"), "as it is named"
    assert "no completion for 'tcsh'" in pcc.pcc("--show-completion", "tcsh", check=False).stderr
    assert completed("pcc", "st") == ["start", "status", "stop"]
    assert completed("pcc", "daemon", "re") == ["restart"]
    assert completed("pcc", "start", "--req") == ["--requirements"]
    assert completed("pcc", "config", "get", "sessions.max_c") == ["sessions.max_concurrent"]
    assert completed("pcc", "config", "get", "max_conc") == ["max_concurrent"]
    for key, word, values in (
        ("auto_resume", "", ["true", "false"]),
        ("permissions.sandbox", "o", ["on", "off"]),
        ("claude.model", "", []),
        ("no.such", "", []),
    ):
        assert completed("pcc", "config", "set", key, word) == values
    assert completed("pcc", "budget", "set", "un") == ["unattended_tokens_per_day"]
    assert completed("pcc", "rules", "add", "") == ["allow", "deny"]
    assert completed("pcc", "start", "--brain", "o") == ["ollama"]
    assert completed("pcc", "logs", "--level", "w") == ["warn"]
    assert completed("pcc", "list", "--status", "p") == ["processing", "paused"]
    assert completed("pcc", "decisions", "--verdict", "a") == ["allow", "ask", "answer"]
    assert completed("pcc", "rehearse", "d") == ["demo"]
    mine = ("pcc", "--data-dir", str(pcc.locations.data))
    assert completed(*mine, "status", "") == [], "nothing is started for a suggestion"
    assert pcc.engine is None
    session = pcc.start("Anything", "--session-name", "night-shift")
    assert completed(*mine, "attach", session[:3]) == [session]
    assert completed(*mine, "attach", "nig") == ["night-shift"]
    assert completed(*mine, "attach", "") == ["night-shift"], "people know it by its name"
    pcc.wait(session, "COMPLETED")
    for command in ("pause", "stop", "resume", "add", "attach"):
        is_offered = command in {"add", "attach"}
        assert completed(*mine, command, "") == ["night-shift"] * is_offered, "it is finished"
    for elsewhere in (("report",), ("pending", "--session"), ("decisions", "--session")):
        assert completed(*mine, *elsewhere, session[:3]) == [session]
    pcc.pcc("add", session, "Later", "--at", "in 2 hours")
    [later] = [one["id"] for one in pcc.look(session)["tasks"] if one["prompt"] == "Later"]
    assert later in completed(*mine, "add", session, "Then", "--after", "t-")
    assert completed(*mine, "rules", "remove", "") == []
    pcc.pcc("rules", "add", "deny", "command", "make deploy")
    assert completed(*mine, "rules", "remove", "") == [pcc.json("rules", "list")[0]["id"]]
    assert completed(*mine, "respond", "") == []
    pcc.pcc("daemon", "stop", "--now")
    assert completed(*mine, "attach", "nig") == ["night-shift"], "the engine sleeps most of the day"
    assert pcc.engine is None
