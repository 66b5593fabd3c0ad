"""What is at work when a process is killed is gone, and its task goes on: nothing is orphaned."""

import os
import signal

import pytest

from perpetualcc.claude import processes
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

LASTS = """
import os, pathlib, time
pathlib.Path("src/began").write_text(f"{os.getppid()}")
time.sleep(300)
"""
ONCE = "test -e src/began || { python3 -m unittest src/lasts.py; true; }"
STORY = """
scenes:
  - when: Take long
    steps:
      - tools: [{Bash: {command: "python3 -m unittest src/lasts.py; true", timeout: 400000}}]
        once: true
      - say: It took long.
  - steps: [It is done., It is still done.]
"""
VICTIMS = ["engine", "the process"]


@pytest.fixture
def pcc(install):
    installed = install(STORY)
    (installed.project / "src").mkdir()
    (installed.project / "src" / "lasts.py").write_text(LASTS)
    return installed


def wait_for_work(pcc):
    """The shell that takes five minutes, and all that runs for the session."""
    told = pcc.project / "src" / "began"
    wait_until(lambda: told.exists() and told.read_text().strip(), within=60)
    shell = int(told.read_text())
    wait_until(lambda: len(pcc.claudes()) > 1)
    return shell, pcc.claudes()


def kill(pcc, victim, pid):
    if victim == "engine":
        pcc.kill_engine()
        pcc.pcc("list")
    else:
        os.kill(pid, signal.SIGKILL)


def is_gone(pids):
    return not any(map(processes.is_alive, pids))


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_tool_call_that_was_cut_off_leaves_nothing_and_the_conversation_goes_on(pcc, victim):
    session = pcc.start("Take long")
    _, at_work = wait_for_work(pcc)

    kill(pcc, victim, min(at_work))

    wait_until(lambda: is_gone(at_work), within=60)
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert len({one["claude_session"] for one in pcc.events(session, "RunStarted")}) == 1
    wait_until(lambda: not pcc.claudes())


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_check_that_was_cut_off_leaves_nothing_and_is_run_again(pcc, victim):
    session = pcc.start("Do it", "--check", ONCE)
    shell, at_work = wait_for_work(pcc)

    kill(pcc, victim, shell)

    wait_until(lambda: is_gone(at_work), within=60)
    assert pcc.wait(session)["status"] == "COMPLETED"
    wait_until(lambda: not pcc.claudes())


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_condition_that_was_cut_off_leaves_nothing_and_is_looked_at_again(pcc, victim):
    said = pcc.pcc("start", str(pcc.project), "--task", "Do it", "--when", ONCE).stdout
    session = said.split()[2]
    shell, at_work = wait_for_work(pcc)

    kill(pcc, victim, shell)

    wait_until(lambda: is_gone(at_work), within=60)
    if victim == "the process":
        assert pcc.look(session)["status"] == "IDLE"
        pcc.pcc("resume", session)
    assert pcc.wait(session)["status"] == "COMPLETED"
    wait_until(lambda: not pcc.claudes())
