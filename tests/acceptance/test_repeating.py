"""Work that repeats, on the real Claude Code: each time by itself, whatever dies in between."""

import os
import signal

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

HOUR = 3600
NIGHTLY = """
steps:
  - tools: [{Bash: {command: "echo once >> src/nights.txt"}}]
  - say: The dependencies are up to date.
"""


class Clock:
    """Of one installation; it only goes forward when it is told to."""

    def __init__(self, pcc, tmp_path):
        self.pcc = pcc
        self.file = tmp_path / "offset"
        self.file.write_text("0")
        pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(self.file)

    def pass_by(self, seconds):
        """While nothing runs: the machine lost its power."""
        self.pcc.kill_both()
        self.file.write_text(str(float(self.file.read_text()) + seconds))
        self.pcc.pcc("daemon", "start")


@pytest.fixture
def nightly(install, tmp_path):
    pcc = install(NIGHTLY)
    (pcc.project / "src").mkdir()
    return pcc, Clock(pcc, tmp_path)


def nights(pcc):
    written = pcc.project / "src" / "nights.txt"
    return written.read_text().splitlines() if written.exists() else []


def states(pcc, session):
    return [task["state"] for task in pcc.look(session)["tasks"]]


def begin(pcc, *words):
    said = pcc.pcc("start", str(pcc.project), "--task", "Update the dependencies", *words).stdout
    return said.split()[2], said


def test_it_works_each_time_by_itself_though_everything_is_killed_in_between(nightly):
    pcc, clock = nightly
    session, said = begin(pcc, "--every", "6 hours")
    assert "begins " in said
    assert nights(pcc) == []

    for night in (1, 2):
        clock.pass_by(6 * HOUR + 60)
        wait_until(lambda night=night: states(pcc, session).count("done") == night, within=60)

    assert len(nights(pcc)) == 2
    assert states(pcc, session) == ["done", "done", "queued"]
    assert pcc.look(session)["status"] == "IDLE"
    shown = pcc.pcc("status", session).stdout
    assert "[every 6 hours]" in shown
    assert "✓" in shown
    conversations = {event["claude_session"] for event in pcc.events(session, "RunStarted")}
    assert len(conversations) == 2, "each time begins afresh"

    pcc.pcc("stop", session)
    clock.pass_by(24 * HOUR)
    assert states(pcc, session) == ["done", "done", "cancelled"]
    assert len(nights(pcc)) == 2


def test_what_passed_while_the_machine_was_off_is_made_up_for_once(nightly):
    pcc, clock = nightly
    session, _ = begin(pcc, "--every", "1 hour")

    clock.pass_by(10 * HOUR + 60)
    wait_until(lambda: "done" in states(pcc, session), within=60)

    assert states(pcc, session) == ["done", "queued"]
    assert len(nights(pcc)) == 1
    [_, following] = pcc.events(session, "TaskAdded")
    assert following["passed"] == 9
    assert "9 times passed meanwhile" in pcc.pcc("logs", session).stdout


def test_with_skip_it_is_missed_on_record_and_the_next_time_works(nightly):
    pcc, clock = nightly
    session, _ = begin(pcc, "--every", "1 hour", "--missed", "skip")

    clock.pass_by(1.5 * HOUR)
    wait_until(lambda: states(pcc, session) == ["missed", "queued"], within=60)
    assert nights(pcc) == []
    assert "Missed: Was to begin" in pcc.pcc("logs", session).stdout

    clock.pass_by(0.5 * HOUR + 30)
    wait_until(lambda: "done" in states(pcc, session), within=60)
    assert states(pcc, session) == ["missed", "done", "queued"]
    assert len(nights(pcc)) == 1


def test_a_time_that_was_cut_off_goes_on_and_leaves_one_that_follows(nightly):
    pcc, clock = nightly
    session, _ = begin(pcc, "--every", "1 hour")
    pcc.pcc("resume", session)
    os.kill(wait_until(pcc.claudes, within=60)[0], signal.SIGKILL)
    pcc.kill_engine()

    wait_until(lambda: "done" in states(pcc, session), within=90)
    assert states(pcc, session) == ["done", "queued"]
    due = pcc.look(session)["resumes_at"]
    assert due is not None
    clock.pass_by(HOUR + 60)
    wait_until(lambda: states(pcc, session).count("done") == 2, within=60)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--every", "now and then"), "no rule that is understood"),
        (("--every", "5 s"), "less than a minute"),
        (("--every", "hour", "--missed", "perhaps"), "--missed cannot be 'perhaps'"),
        (("--missed", "skip"), "--missed is about what repeats"),
        (("--at", "soonish"), "is no time that is understood"),
    ],
)
def test_what_is_no_rule_is_refused_and_nothing_starts(install, words, said):
    pcc = install(NIGHTLY)

    refused = pcc.pcc("start", str(pcc.project), "--task", "x", *words, check=False)

    assert refused.returncode == 2
    assert said in refused.stderr
    assert pcc.json("list") == []
