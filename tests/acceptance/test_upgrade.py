"""An upgrade while the daemon runs: what is not understood is said, with what to do."""

import os
import shutil
from pathlib import Path

import perpetualcc
from tests.acceptance.supervised import supervised

PACKAGE = Path(perpetualcc.__file__).parent


def test_a_command_that_a_daemon_from_before_an_upgrade_does_not_suit_says_so(tmp_path):
    before = tmp_path / "before/perpetualcc"
    shutil.copytree(PACKAGE, before, ignore=shutil.ignore_patterns("__pycache__"))
    api = before / "daemon/api.py"
    text, known = api.read_text(), '"delay": await self._delay(session),'
    assert known in text
    api.write_text(text.replace(known, ""))
    environment = {**os.environ, "HOME": str(tmp_path)}
    project = tmp_path / "project"
    project.mkdir()
    with supervised(tmp_path, environment, project, "--idle-exit", "60") as pcc:
        pcc.environment["PYTHONPATH"] = str(before.parent)
        later = ("--at", "in 9 hours", "--task", "Look")
        assert "another version" not in pcc.pcc("start", str(project), *later).stderr
        del pcc.environment["PYTHONPATH"]

        done = pcc.pcc("list", check=False)

        assert done.returncode == 1
        assert "note: The daemon runs another version than this command" in done.stderr
        assert "error: The daemon's answer is not understood (KeyError: 'delay')" in done.stderr
        assert done.stderr.count("daemon restart") == 2
        assert "Traceback" not in done.stderr
        assert "this command is" in pcc.pcc("daemon", "status").stdout
        assert "of another version than this command" in pcc.pcc("doctor", check=False).stdout
        pcc.pcc("daemon", "restart")
        assert "Look" in pcc.pcc("list").stdout
        assert pcc.pcc("list").stderr == ""
