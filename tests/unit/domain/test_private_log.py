"""A log for its owner alone, which goes on whatever stands in its place."""

import logging
import os
import stat
from pathlib import Path

import pytest

from perpetualcc.daemon.supervisor_log import SupervisorLog, tail
from perpetualcc.domain.private_files import opened_log
from perpetualcc.domain.private_log import PrivateLog


def texts(folder):
    return "".join(path.read_text() for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["x.log", "x.log.1", "x.log.2"])
@pytest.mark.timeout(20)
def test_what_is_in_the_way_of_a_log_or_an_older_one_is_moved_aside(tmp_path, make, name):
    make(tmp_path / name)
    handler = PrivateLog(tmp_path / "x.log", maxBytes=20, backupCount=2)

    for number in range(4):
        handler.handle(logging.LogRecord("x", 20, "", 0, f"the line {number} of it", (), None))
    handler.close()

    assert "line 3" in (tmp_path / "x.log").read_text()
    assert "line 2" in texts(tmp_path)
    assert [path.name.partition(".aside")[0] for path in tmp_path.glob("*.aside-*")] == [name]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["x.log", "x.log.1"])
@pytest.mark.timeout(20)
def test_the_supervisors_log_goes_on_too_and_its_end_is_read_without_a_wait(tmp_path, make, name):
    make(tmp_path / name)
    log = SupervisorLog(path=tmp_path / "x.log", limit=10)

    log.write("one")
    log.write("two")

    assert [line.split()[-1] for line in tail(tmp_path / "x.log", 5)] == ["two"]
    assert "one" in texts(tmp_path)
    make(tmp_path / "other")
    assert tail(tmp_path / "other", 5) == []


def test_a_log_that_somebody_sends_to_nowhere_stays_there(tmp_path):
    before = stat.S_IMODE(Path("/dev/null").stat().st_mode)
    (tmp_path / "x.log").symlink_to("/dev/null")

    os.close(opened_log(tmp_path / "x.log"))

    assert (tmp_path / "x.log").is_symlink()
    assert stat.S_IMODE(Path("/dev/null").stat().st_mode) == before
