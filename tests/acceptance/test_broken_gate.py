"""A gate that raises, hangs or is killed lets nothing through: the real Claude Code, the real gate.

The breakage comes in through `sitecustomize`, so that everything else is the product as it is.
"""

import os
import time

import pytest

from perpetualcc.claude import processes
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

SCENARIO = 'steps: [{tools: [{Bash: {command: "touch made"}}]}, {say: Done.}]'
HEALTHY = ""
THE_JUDGEMENT_RAISES = """
from perpetualcc.daemon import gatekeeper
async def broken(self, call, session):
    open({reached!r}, "w").close()
    raise RuntimeError("a bug in the gate")
gatekeeper.Guard.judge = broken
"""
THE_JUDGEMENT_HANGS = """
import asyncio
from perpetualcc.daemon import gatekeeper
async def broken(self, call, session):
    open({reached!r}, "w").close()
    await asyncio.sleep(3600)
gatekeeper.Guard.judge = broken
"""
THE_CALLBACK_RAISES = """
from perpetualcc.claude import gate
async def broken(self, data, tool_use_id, context):
    open({reached!r}, "w").close()
    raise RuntimeError("a bug in the callback")
gate.Gate.pre_tool_use = broken
"""
THE_CALLBACK_OUTLIVES_ITS_TIME = """
import asyncio
from datetime import timedelta
from perpetualcc.claude import adapter, gate
async def broken(self, data, tool_use_id, context):
    open({reached!r}, "w").close()
    await asyncio.sleep(3600)
gate.Gate.pre_tool_use = broken
adapter._HOLD = timedelta(seconds=1)
"""
THE_CALLBACK_SAYS_NONSENSE = """
from perpetualcc.claude import gate
async def broken(self, data, tool_use_id, context):
    open({reached!r}, "w").close()
    return {{"hookSpecificOutput": {{"permissionDecision": "yes, why not"}}}}
gate.Gate.pre_tool_use = broken
"""


@pytest.fixture
def broken(install, tmp_path):
    """`broken(code)`: an installation whose engine runs that code as it begins."""

    def make(code):
        pcc = install(SCENARIO)
        reached = tmp_path / "reached"
        folder = tmp_path / "breakage"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(code.format(reached=str(reached)))
        path = os.pathsep.join([str(folder), pcc.environment.get("PYTHONPATH", "")])
        pcc.environment["PYTHONPATH"] = path.rstrip(os.pathsep)
        return pcc, reached

    return make


def test_with_a_healthy_gate_the_tool_runs(broken):
    pcc, _ = broken(HEALTHY)

    session = pcc.start("touch")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "made").exists()


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(THE_JUDGEMENT_RAISES, id="the judgement raises"),
        pytest.param(THE_CALLBACK_RAISES, id="the callback raises"),
        pytest.param(THE_CALLBACK_OUTLIVES_ITS_TIME, id="the callback outlives its time"),
        pytest.param(THE_CALLBACK_SAYS_NONSENSE, id="the callback says nonsense"),
    ],
)
def test_a_broken_gate_lets_nothing_through(broken, code):
    pcc, reached = broken(code)

    pcc.start("touch")

    wait_until(reached.exists, within=60)
    wait_until(lambda: not pcc.claudes(), within=60)
    assert not (pcc.project / "made").exists()


def test_a_gate_that_hangs_holds_the_call_and_its_death_ends_claude_code(broken):
    pcc, reached = broken(THE_JUDGEMENT_HANGS)
    pcc.start("touch")
    wait_until(reached.exists, within=60)
    time.sleep(3)
    held = pcc.claudes()
    assert held
    assert not (pcc.project / "made").exists()

    pcc.kill_both()

    wait_until(lambda: not any(processes.is_alive(pid) for pid in held), within=60)
    assert not (pcc.project / "made").exists()


def test_an_engine_killed_while_a_person_is_asked_lets_nothing_through(install):
    pcc = install('steps: [{tools: [{Bash: {command: "rm -rf kept"}}]}, {say: Done.}]')
    (pcc.project / "kept").mkdir()
    (pcc.locations.data.parent / "config.toml").write_text('[human]\nunattended = "wait"\n')
    session = pcc.start("tidy up")
    pcc.wait_for_event(session, "EscalationRaised")
    held = pcc.claudes()

    pcc.kill_both()

    wait_until(lambda: not any(processes.is_alive(pid) for pid in held), within=60)
    assert held
    assert (pcc.project / "kept").exists()
