"""A Claude Code that is none, does not work, or is killed: said in words, and at once."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from perpetualcc.claude.binary import bundled_claude
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

PRETENDER = '#!/bin/sh\ncase "$1" in --version) echo "9.9.9 (Claude Code)";; esac\n'


DIES_AT_ITS_FIRST_CALL = """#!{python} -I
import os, subprocess, sys
claude = [{claude!r}, *sys.argv[1:]]
if "--output-format" not in claude:
    os.execv(claude[0], claude)
process = subprocess.Popen(claude, stdout=subprocess.PIPE)
for line in process.stdout:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    if b"hook_callback" in line:
        process.kill()
sys.exit(1)
"""


def test_a_claude_that_dies_in_its_trial_is_not_said_to_break_refusals(install, tmp_path):
    """That word is an alarm; of this one nothing is known but that it does not work."""
    binary = tmp_path / "claude"
    claude = str(bundled_claude())
    binary.write_text(DIES_AT_ITS_FIRST_CALL.format(python=sys.executable, claude=claude))
    binary.chmod(0o700)
    pcc = install("steps: [Never.]")
    pcc.pcc("config", "set", "claude.binary", str(binary))

    found = pcc.wait(pcc.start("Anything"), "ERROR", within=60)

    assert "does not work: Claude Code ended with exit code 1" in found["detail"]


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "is not Claude Code"), (PRETENDER, "ended before it said a word")],
)
def test_a_program_that_does_not_speak_as_claude_code_does_fails_at_once(
    install, tmp_path, text, says
):
    binary = "/bin/true"
    if text:
        binary = tmp_path / "claude"
        binary.write_text(text)
        binary.chmod(0o700)
    pcc = install("steps: [Never.]")
    pcc.pcc("config", "set", "claude.binary", str(binary))
    before = time.monotonic()

    session = pcc.start("Anything")
    found = pcc.wait(session, "ERROR", within=60)

    assert time.monotonic() - before < 50
    assert says in pcc.pcc("logs", session).stdout
    assert "pcc config set claude.binary" in pcc.pcc("logs", session).stdout
    assert "Group" not in pcc.pcc("status", session).stdout + str(found)


def test_a_task_whose_claude_could_not_start_begins_as_if_for_the_first_time(install):
    pcc = install("steps: [Done.]")
    pcc.pcc("config", "set", "claude.binary", "/bin/true")
    session = pcc.start("Write the letter")
    pcc.wait(session, "ERROR", within=60)
    pcc.pcc("config", "set", "claude.binary", str(bundled_claude()))
    pcc.pcc("daemon", "restart")

    pcc.pcc("resume", session)

    pcc.wait(session, "COMPLETED", within=60)
    assert "transcript" not in pcc.pcc("logs", session).stdout
    second = pcc.events(session, "RunStarted")[-1]["claude_session"]
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    said = next(home.glob(f"projects/*/{second}.jsonl")).read_text()
    assert "Write the letter" in said
    assert "RESTORATION" not in said


def test_a_claude_that_is_killed_is_said_to_be_killed(install):
    pcc = install(
        'steps: [{tools: [{Bash: {command: "while :; do read -t 1 < /dev/zero; done"}}]}, Done.]',
        "--idle-exit",
        "60",
    )
    session = pcc.start("Anything", "--auto-approve")
    pcc.wait_for_event(session, "RunInitialized")

    os.kill(wait_until(pcc.claudes)[0], signal.SIGKILL)
    pcc.wait_for_event(session, "RunEnded")

    (ended, *_) = pcc.events(session, "RunEnded")
    assert "killed with SIGKILL" in ended["error"], ended
    assert "Command failed" not in str(ended)
    pcc.pcc("stop", session)


SPEAKS_OTHERWISE_ONCE = """#!{python} -I
import os, subprocess, sys
claude, once = [{claude!r}, *sys.argv[1:]], {once!r}
if "stream-json" not in claude or os.path.exists(once):
    os.execv(claude[0], claude)
process = subprocess.Popen(claude, stdout=subprocess.PIPE)
for line in process.stdout:
    sys.stdout.buffer.write(line)
    if b'"type":"assistant"' in line:
        open(once, "w").close()
        sys.stdout.buffer.write({said!r})
    sys.stdout.buffer.flush()
sys.exit(process.wait())
"""


@pytest.mark.parametrize(
    "said",
    [b"\xff\xfe\n", b'{"type":"control_request"}\n', b'{"a":' + b"[" * 100_000 + b"]}\n"],
    ids=["no text", "no request", "too deep"],
)
def test_what_nobody_understands_is_told_in_words_and_the_work_goes_on(install, tmp_path, said):
    binary = tmp_path / "claude"
    binary.write_text(
        SPEAKS_OTHERWISE_ONCE.format(
            python=sys.executable,
            claude=str(bundled_claude()),
            once=str(tmp_path / "once"),
            said=said,
        )
    )
    binary.chmod(0o700)
    pcc = install("steps: [{say: One., tools: [{Bash: {command: ls}}]}, Two.]")
    pcc.pcc("config", "set", "claude.binary", str(binary))
    (tmp_path / "once").touch()  # not in its trial
    pcc.wait(pcc.start("Try"), "COMPLETED", within=60)
    (tmp_path / "once").unlink()

    session = pcc.start("Work")
    found = pcc.wait(session, "COMPLETED", within=60)

    assert found["tasks"][0]["result"] == "Two."
    errors = [ended["error"] for ended in pcc.events(session, "RunEnded")]
    assert [error.partition(":")[0] for error in errors] == [
        "Claude Code does not speak as it should",
        "",
    ]
