"""A machine that slept, and a Claude Code that hangs: neither is the end of the work."""

import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

STORY = """
steps:
  - say: I begin.
    tools: [{Write: {file_path: "{project}/src/one.py", content: "n = 1"}}]
  - delay: 5s
    say: And on.
    tools: [{Write: {file_path: "{project}/src/two.py", content: "n = 2"}}]
  - Both are written.
"""

BUILD = """
steps:
  - say: I build.
    tools: [{Bash: {command: "python3 build.py"}}]
  - It is built.
"""
TOOL = """
import pathlib, time
begun = pathlib.Path("begun")
if not begun.exists():
    begun.touch()
    while not pathlib.Path("stopped").exists():
        time.sleep(0.1)
"""


def test_a_machine_that_slept_for_a_night_goes_on_where_it_was(install, tmp_path):
    pcc = install(STORY)
    offset = tmp_path / "offset"
    offset.write_text("0")
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    session = pcc.start("Write both", "--perpetual")
    wait_until((pcc.project / "src/one.py").exists, within=60)

    offset.write_text(str(8 * 3600))

    found = pcc.wait(session, within=60)
    assert found["status"] == "COMPLETED", found["detail"]
    assert len(pcc.events(session, "RunStarted")) == 1
    assert pcc.events(session, "HandoverDue") == []


def test_a_claude_that_hangs_is_ended_and_its_work_goes_on(install):
    pcc = install(STORY)
    pcc.pcc("config", "set", "stuck.minutes", "0.25")
    session = pcc.start("Write both")
    wait_until((pcc.project / "src/one.py").exists, within=60)

    for one in pcc.claudes():
        os.kill(one, signal.SIGSTOP)

    lost = the_run_that_was_lost(pcc, session)
    assert "silent" in lost["error"]


def test_a_claude_that_was_stopped_while_a_tool_works_is_ended_and_its_work_goes_on(install):
    pcc = install(BUILD)
    (pcc.project / "build.py").write_text(TOOL)
    pcc.pcc("config", "set", "stuck.minutes", "0.25")
    session = pcc.start("Build it")
    wait_until((pcc.project / "begun").exists, within=60)

    # The command itself ends, and nobody hears of it.
    [claude] = [pid for pid in pcc.claudes() if b"--output-format" in command_line(pid)]
    os.kill(claude, signal.SIGSTOP)
    (pcc.project / "stopped").touch()

    the_run_that_was_lost(pcc, session)


def command_line(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def the_run_that_was_lost(pcc, session):
    """Once the session is done."""
    found = pcc.wait(session, within=100)
    assert found["status"] == "COMPLETED", found["detail"]
    lost, last = pcc.events(session, "RunEnded")
    assert (lost["outcome"], last["outcome"]) == ("later", "done")
    assert pcc.events(session, "RunStarted")[1]["resumed"]
    return lost
