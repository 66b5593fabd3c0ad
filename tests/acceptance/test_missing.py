"""What a session needs is away for a while: it is waited for before a person is asked."""

import os
import signal

import pytest

from perpetualcc.claude.binary import bundled_claude
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

STORY = """
steps:
  - repeat: 5
    delay: 700ms
    say: Step {n}.
    tools: [{Bash: {command: "mkdir -p src && echo {n} >> src/steps.txt"}}]
  - All five are done.
"""


@pytest.fixture
def begun(install, tmp_path):
    """A session that has done its first step, and the file that shifts its clock."""
    pcc = install(STORY)
    offset, binary = tmp_path / "offset", tmp_path / "claude"
    offset.write_text("0")
    binary.symlink_to(bundled_claude())
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    pcc.pcc("config", "set", "claude.binary", str(binary))
    session = pcc.start("Do all five")
    wait_until((pcc.project / "src/steps.txt").exists, within=60)
    return pcc, session, offset, binary


def goes_on_when_it_is_back(pcc, session, offset, lost):
    """The wait for what is lost is over; nobody was asked anything."""
    pcc.wait_for_event(session, "ProblemNoticed", count=lost)
    wait_until(lambda: (pcc.look(session)["resumes_at"] or 0) > 0, within=60)
    offset.write_text("60")
    found = pcc.wait(session, within=80)
    assert found["status"] == "COMPLETED", found["detail"]
    assert (pcc.project / "src/steps.txt").read_text().split()[-1] == "5"
    assert pcc.events(session, "EscalationRaised") == []


def test_a_project_that_is_not_mounted_for_a_while_is_worked_on_when_it_is_back(begun):
    pcc, session, offset, _ = begun
    away = pcc.project.with_name("away")

    pcc.project.rename(away)
    pcc.wait_for_event(session, "ProblemNoticed", count=2)
    away.rename(pcc.project)

    goes_on_when_it_is_back(pcc, session, offset, lost=2)
    # Nothing was done where the shell stood meanwhile.
    assert not (pcc.project.parent / "home" / "src").exists()


def test_a_claude_code_that_is_being_replaced_is_waited_for(begun):
    pcc, session, offset, binary = begun

    binary.unlink()
    for one in pcc.claudes():
        os.kill(one, signal.SIGKILL)
    pcc.wait_for_event(session, "ProblemNoticed")
    binary.symlink_to(bundled_claude())

    goes_on_when_it_is_back(pcc, session, offset, lost=1)
