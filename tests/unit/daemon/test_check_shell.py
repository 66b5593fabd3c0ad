"""How a check runs, on real processes."""

import asyncio
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from perpetualcc.claude import processes
from perpetualcc.daemon.check_shell import CheckShell
from tests.acceptance.supervised import wait_until
from tests.unit.daemon.test_limits import session

DARWIN_PS = Path(__file__).parents[2] / "fakes" / "darwin_ps.py"


@pytest.fixture
def shell(tmp_path):
    """`shell(command, seconds)`: what it came to. Nothing of it is left."""

    def run(command, seconds=20.0, project=None, **options):
        ran = asyncio.run(
            CheckShell(tmp_path).run(command, session(project or tmp_path, **options), seconds)
        )
        assert processes.find(tmp_path) == []
        return ran

    return run


@pytest.fixture
def on_macos(monkeypatch):
    """Only `ps` tells, and hides the environment of `/bin/sh` and `sleep`."""
    monkeypatch.setattr(processes, "_HAS_PROC", False)
    monkeypatch.setattr(processes, "_PS", (sys.executable, "-I", "-S", str(DARWIN_PS)))


@pytest.mark.parametrize(
    ("command", "trouble"),
    [
        ("true", ""),
        ("exit 3", "exit code 3"),
        ("kill -9 $$", "signal 9"),
        ("no-such-command-here", "exit code 127"),
        ("if", "exit code 2"),
        ("test -t 0", "exit code 1"),
        ('read line || test -z "$line"', ""),
    ],
)
def test_what_it_comes_to(shell, command, trouble):
    assert shell(command).trouble == trouble


def test_what_it_says_is_read_from_both_streams_and_of_much_the_end(shell):
    assert shell("echo one; echo two >&2; echo three").output == "one\ntwo\nthree\n"

    much = shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end")

    assert much.trouble == ""
    assert much.output.endswith("x\nthe end\n")
    assert len(much.output) <= 16_384


def test_bytes_that_are_no_text_are_no_trouble(shell):
    assert shell("printf '\\377\\n'").output == "\ufffd\n"


def test_it_runs_in_the_project_and_says_when_there_is_none(shell, tmp_path):
    (tmp_path / "deep er").mkdir()
    assert shell("pwd", project=tmp_path / "deep er").last_line.endswith("/deep er")

    gone = tmp_path / "gone"
    no_place = f"it cannot be run: No such file or directory: '{gone}'"
    assert shell("true", project=gone).trouble == no_place
    assert "cannot be run" in shell("echo \0").trouble


def test_it_finds_the_programs_that_the_session_finds(shell, tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "project-check"
    program.write_text("#!/bin/sh\necho it is checked\n")
    program.chmod(0o700)
    programs = {"PATH": f"{program.parent}:/usr/bin:/bin"}

    assert shell("project-check").trouble == "exit code 127"
    assert shell("project-check", programs=programs).output == "it is checked\n"


def test_what_it_leaves_running_is_ended_and_not_waited_for(shell):
    began = time.monotonic()

    ran = shell("sleep 60 & setsid sleep 60 & echo started")

    assert (ran.trouble, ran.output) == ("", "started\n")
    assert time.monotonic() - began < 15


def test_one_that_takes_too_long_is_ended_with_its_children(shell):
    ran = shell("echo begins; sleep 60 | cat", seconds=0.5)

    assert ran.trouble == "it was ended after 0.5s"
    assert ran.output == "begins\n"


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        ("sleep 60 & echo $!", 20.0),
        ("echo $$; sleep 60 | cat", 0.5),
        ("sleep 60 & echo $!; wait", 0.5),
    ],
)
@pytest.mark.usefixtures("on_macos")
def test_programs_of_macos_end_too_though_it_hides_whose_they_are(shell, command, seconds):
    ran = shell(command, seconds)

    assert not processes.is_alive(int(ran.output))


@pytest.mark.usefixtures("on_macos")
def test_a_check_that_an_engine_died_in_is_found_on_macos(tmp_path):
    async def main():
        async with asyncio.TaskGroup() as tasks:
            command = "echo $0 $#; sleep 60 & sleep 60"
            run = CheckShell(tmp_path).run(command, session(tmp_path), 60.0)
            check = tasks.create_task(run)
            while not await asyncio.to_thread(processes.sweep, tmp_path, timedelta(seconds=1)):
                pass
        return check.result()

    ran = asyncio.run(main())

    assert (ran.trouble, ran.output) == ("signal 15", "sh 0\n")


def test_one_that_will_not_end_is_killed(shell, monkeypatch):
    monkeypatch.setattr("perpetualcc.daemon.check_shell._GRACE", timedelta(milliseconds=200))

    assert shell("trap '' TERM; while :; do sleep 1; done", seconds=0.3).trouble


def test_cancelled_it_leaves_nothing_behind(tmp_path):
    async def main():
        async with asyncio.TaskGroup() as tasks:
            run = CheckShell(tmp_path).run("touch began; sleep 60", session(tmp_path), 60.0)
            check = tasks.create_task(run)
            await asyncio.to_thread(wait_until, (tmp_path / "began").exists)
            check.cancel()

    asyncio.run(main())

    assert processes.find(tmp_path) == []


def test_it_has_no_more_files_open_than_before(shell):
    def opened():
        return len(list(Path("/dev/fd").iterdir()))

    shell("true")
    before = opened()
    for _ in range(5):
        shell("echo x")

    assert opened() <= before
