"""
The machine stays awake for its work: with a stand-in on PATH for the system's program, which takes
its lock, runs what it is given, and lets go when that ends.
"""

import os
import sys
from pathlib import Path

import pytest

from perpetualcc.claude.processes import is_alive
from perpetualcc.daemon.awake import is_below_windows
from perpetualcc.daemon.state import Phase, read_status
from tests.acceptance.supervised import kill, wait_until

pytestmark = [
    pytest.mark.claude,
    pytest.mark.timeout(150),
    pytest.mark.skipif(
        sys.platform != "linux" or is_below_windows(), reason="logind is a Linux of its own"
    ),
]

STAND_IN = """#!/bin/sh
echo "$$ $*" >> "{calls}"
while [ "${{1#--}}" != "$1" ]; do shift; done
"$@"
"""
LIMITED = """
steps:
  - tools: [{Bash: {command: "python3 build.py"}}]
  - fail: {kind: usage_limit, in: 1h}
  - Done.
"""
WAITS = """
import pathlib, time
while not pathlib.Path("go").exists():
    time.sleep(0.1)
"""


class Inhibited:
    """A world where the system's program is ours."""

    def __init__(self, pcc, folder: Path) -> None:
        self.pcc = pcc
        self.file = folder / "calls"
        program = folder / "bin" / "systemd-inhibit"
        program.parent.mkdir()
        program.write_text(STAND_IN.format(calls=self.file))
        program.chmod(0o755)
        pcc.environment["PATH"] = f"{program.parent}{os.pathsep}{pcc.environment['PATH']}"
        pcc.environment["XDG_CURRENT_DESKTOP"] = ""
        (pcc.project / "build.py").write_text(WAITS)

    @property
    def calls(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    @property
    def held(self) -> list[int]:
        found = [int(call.split()[0]) for call in self.calls]
        return [pid for pid in found if is_alive(pid)]


def test_the_machine_is_held_at_work_and_through_a_limit_and_let_go_with_the_daemon(
    install, tmp_path
):
    pcc = install(LIMITED, "--idle-exit", "0.5", subscription=True)
    world = Inhibited(pcc, tmp_path)
    session = pcc.start("Write it")

    wait_until(lambda: world.held, within=60)
    assert "--what=idle --who=PerpetualCC --why=" in world.calls[0]
    assert " --mode=block cat" in world.calls[0]
    said = pcc.pcc("daemon", "status").stdout
    assert "Awake       the machine is kept from falling asleep (systemd-inhibit)" in said
    assert pcc.json("daemon", "status")["awake"]["held_by"] == "systemd-inhibit"
    assert "Awake: kept by systemd-inhibit" in pcc.pcc("doctor", check=False).stdout

    (pcc.project / "go").touch()
    pcc.wait(session, "RATE_LIMITED")
    wait_until(lambda: read_status(pcc.locations).phase is Phase.ASLEEP, within=60)
    assert len(world.held) == 1  # nobody else would wake it in an hour
    assert len(world.calls) == 1

    kill(pcc.supervisor)
    wait_until(lambda: not world.held, within=20)

    pcc.pcc("pause", session)
    wait_until(lambda: read_status(pcc.locations).phase is Phase.ASLEEP, within=60)
    wait_until(lambda: not world.held, within=20)  # a person says when it goes on
    assert "Awake" not in pcc.pcc("daemon", "status").stdout


def test_who_wants_no_such_thing_has_none(install, tmp_path):
    pcc = install(LIMITED, subscription=True)
    world = Inhibited(pcc, tmp_path)
    pcc.pcc("config", "set", "keep_awake", "no")
    session = pcc.start("Write it")
    (pcc.project / "go").touch()

    pcc.wait(session, "RATE_LIMITED")

    assert world.calls == []
    assert "Awake" not in pcc.pcc("doctor", check=False).stdout
