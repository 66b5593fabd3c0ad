"""An upgrade while the daemon runs: what is not understood is said, with what to do."""

import os
import shutil
from pathlib import Path

import pytest

import perpetualcc
from perpetualcc.daemon.state import is_held
from tests.acceptance.supervised import supervised, wait_until

pytestmark = pytest.mark.timeout(120)

PACKAGE = Path(perpetualcc.__file__).parent


def _another(folder: Path) -> Path:
    """A copy of the package, for a daemon that is not of the command's version."""
    copy = folder / "before/perpetualcc"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_a_parameter_that_an_older_daemon_does_not_know_says_what_to_type(tmp_path):
    before = _another(tmp_path)
    options = before / "daemon/options.py"
    text, known = options.read_text(), '"perpetual", "programs"]'
    assert known in text
    options.write_text(text.replace(known, '"perpetual"]'))
    environment = {**os.environ, "HOME": str(tmp_path)}
    project = tmp_path / "project"
    project.mkdir()
    with supervised(tmp_path, environment, project, "--idle-exit", "60") as pcc:
        pcc.environment["PYTHONPATH"] = str(before.parent)
        pcc.pcc("list")
        del pcc.environment["PYTHONPATH"]
        later = ("start", str(project), "--at", "in 9 hours", "--task", "Look")

        refused = pcc.pcc(*later, check=False)

        assert refused.returncode == 1
        assert "Unknown parameter 'programs'" in refused.stderr
        assert refused.stderr.count("daemon restart") == 2  # the note, and the error's hint
        assert "hint:  " in refused.stderr
        pcc.pcc("daemon", "restart")
        told = pcc.pcc(*later).stderr
        assert told.startswith("note: Nobody waits for it: ")
        assert told.count("\n") == 1


def test_a_sleeping_supervisor_whose_program_is_removed_leaves_with_a_last_line(tmp_path):
    before = _another(tmp_path)
    environment = {**os.environ, "HOME": str(tmp_path)}
    project = tmp_path / "project"
    project.mkdir()
    with supervised(tmp_path, environment, project, "--idle-exit", "0.3", "--look", "0.5") as pcc:
        pcc.environment["PYTHONPATH"] = str(before.parent)
        pcc.pcc("start", str(project), "--at", "in 9 hours", "--task", "Look")
        log = pcc.locations.supervisor_log
        wait_until(lambda: log.read_text().endswith("asleep\n"), within=60)

        shutil.rmtree(before)

        wait_until(lambda: not is_held(pcc.locations.supervisor_lock), within=60)
        assert f"leaves: '{before / 'daemon'}" in log.read_text()
        assert log.read_text().endswith("stopped\n")
        del pcc.environment["PYTHONPATH"]
        assert "Look" in pcc.pcc("list").stdout


def test_a_command_that_a_daemon_from_before_an_upgrade_does_not_suit_says_so(tmp_path):
    before = _another(tmp_path)
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
