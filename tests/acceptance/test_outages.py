"""In the morning: in which hours nothing ran, and why."""

import os
import re
import time

import pytest

from tests.acceptance.receivers import Webhook
from tests.acceptance.supervised import wait_until
from tests.acceptance.test_people import configure

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

STORY = """
steps:
  - say: I begin.
    tools: [{Bash: {command: "python3 build.py"}}]
  - Done.
"""
WAITS = """
import pathlib, time
pathlib.Path("begun").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.1)
"""
LIMITED = """
steps:
  - fail: {kind: usage_limit, in: 15s}
  - Done.
"""
HOUR = 3600


def evening(install, tmp_path, scenario=STORY, *flags, **more):
    """A world four hours ago."""
    pcc = install(scenario, *flags, **more)
    offset = tmp_path / "offset"
    offset.write_text(str(-4 * HOUR))
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    (pcc.project / "build.py").write_text(WAITS)
    return pcc, offset


def morning(pcc, offset, hours_ago: float) -> None:
    """Now; the last sign of life is so old."""
    at = time.time() - hours_ago * HOUR
    os.utime(pcc.locations.alive, (at, at))
    offset.write_text("0")


def told(pcc, *words: str) -> list[str]:
    lines = pcc.pcc("report", *words).stdout.splitlines()
    return [line for line in lines if line.startswith("Nothing ran ")]


def test_a_daemon_that_was_killed_and_a_night_without_it_are_told(install, tmp_path):
    pcc, offset = evening(install, tmp_path)
    session = pcc.start("Build it")
    wait_until((pcc.project / "begun").exists, within=60)
    pcc.kill_both()
    morning(pcc, offset, 3)
    (pcc.project / "go").touch()

    pcc.wait(session)

    [line] = told(pcc)
    assert "(3h): the daemon had ended without a word, and nobody started it" in line
    assert told(pcc, session) == [line]
    [one] = pcc.json("report")["outages"]
    assert (one["cause"], one["sessions"]) == ("died", [session])
    assert abs(one["ended"] - one["began"] - 3 * HOUR) < 120
    webhook = Webhook()
    configure(pcc, f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n')
    with webhook.listening():
        pcc.pcc("notify", "digest")
    [digest] = webhook.bodies
    assert re.search(r"\nNothing ran \w{3} \d\d:\d\d to \w{3} \d\d:\d\d \(3h\): the daemon", digest)


def test_a_night_after_the_daemon_was_stopped_is_the_persons_own(install, tmp_path):
    pcc, offset = evening(install, tmp_path)
    session = pcc.start("Build it")
    wait_until((pcc.project / "begun").exists, within=60)
    pcc.pcc("daemon", "stop", "--now")
    morning(pcc, offset, 3)
    (pcc.project / "go").touch()
    pcc.pcc("daemon", "start")

    pcc.wait(session)

    [line] = told(pcc)
    assert line.endswith("(3h): you had stopped the daemon")


def test_a_wait_for_a_limit_is_told_with_its_name(install, tmp_path):
    pcc, offset = evening(install, tmp_path, LIMITED, "--idle-exit", "0.5", subscription=True)
    session = pcc.start("Build it")
    pcc.wait(session, "RATE_LIMITED")
    offset.write_text("0")  # four hours later

    pcc.wait(session)

    [line] = told(pcc, session)
    assert line.endswith(": all that was left to do waited for the 5-hour limit")
    [one] = pcc.json("report")["outages"]
    assert one["cause"] == "limit"
    assert abs(one["ended"] - one["began"] - 4 * HOUR) < 120


def test_tasks_that_a_person_stopped_are_not_told_among_what_failed(install):
    pcc = install(STORY)
    (pcc.project / "build.py").write_text(WAITS)
    session = pcc.start("Build it")
    pcc.pcc("add", session, "And test it")
    wait_until((pcc.project / "begun").exists, within=60)
    pcc.pcc("stop", session)

    said = pcc.pcc("report").stdout.splitlines()[0]

    assert ": 0 tasks done, 2 stopped by you, " in said
