"""A person stopped the daemon: whoever looks afterwards begins nothing that it left."""

import time

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

TWO_FILES = """
steps:
  - tools: [{Write: {file_path: "{project}/src/one.txt", content: "1"}}]
  - tools: [{Write: {file_path: "{project}/src/two.txt", content: "2"}}]
    delay: 3s
  - say: Both are written.
"""
SAID = "note: The daemon was stopped, and begins no work until: pcc "
DELAY = "the daemon was stopped; to go on: pcc daemon start"


def stopped_at_work(pcc, *how):
    session = pcc.start("Write two files")
    pcc.wait_for_event(session, "ToolFinished")
    pcc.pcc("daemon", "stop", *how)
    return session


def looked_at(pcc, session):
    """Every command that only looks. What the session is like after a while."""
    for words in (["list"], ["pending"], ["status", session], ["logs", session], ["report"]):
        done = pcc.pcc(*words)
        assert done.stderr.startswith(SAID), words
        assert done.stderr.endswith(" daemon start\n"), words
    time.sleep(1)
    return pcc.ask("session.get", session=session)


@pytest.mark.parametrize("how", [["--now"], ["--grace", "0"]])
def test_looking_begins_nothing_and_a_start_goes_on(install, how):
    pcc = install(TWO_FILES)
    session = stopped_at_work(pcc, *how)

    found = looked_at(pcc, session)
    pcc.kill_both()  # as when the machine is started anew
    again = looked_at(pcc, session)

    assert (found["runs"], again["runs"], again["delay"]) == (1, 1, DELAY)
    assert "the daemon was stopped;" in pcc.pcc("list").stdout
    assert "\nWork        was stopped; to go on: pcc daemon start\n" in (
        pcc.pcc("daemon", "status").stdout
    )
    assert pcc.json("daemon", "status")["work_stopped"] is True
    assert pcc.claudes() == []
    assert not (pcc.project / "src" / "two.txt").exists()

    begun = pcc.pcc("daemon", "start")
    assert begun.stderr == ""
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert pcc.json("daemon", "status")["work_stopped"] is False
    assert pcc.pcc("list").stderr == ""


@pytest.mark.parametrize("asks", ["restart", "add", "resume", "start"])
def test_whoever_asks_for_work_lets_what_was_left_go_on_too(install, tmp_path, asks):
    pcc = install(TWO_FILES)
    other = tmp_path / "other"
    other.mkdir()
    waits = pcc.start("Look around", "--at", "in 3 hours", project=other)
    session = stopped_at_work(pcc, "--now")
    pcc.pcc("list")

    asked = {
        "restart": ["daemon", "restart"],
        "add": ["add", waits, "And then this"],
        "resume": ["resume", waits],
        "start": ["start", str(other), "--task", "Look again", "--detach"],
    }
    done = pcc.pcc(*asked[asks])

    assert "was stopped" not in done.stderr
    assert pcc.wait(session)["status"] == "COMPLETED"


def test_nothing_is_due_and_no_condition_is_looked_at(install, tmp_path):
    pcc = install("steps: [Looked around.]")
    offset, looked, here = tmp_path / "offset", pcc.project / "looked", pcc.project / "here"
    offset.write_text("0")
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    at = pcc.start("Look around", "--at", "in 1 hour")
    when = pcc.start("Look around", "--when", "touch looked && test -f here")
    wait_until(looked.exists)
    pcc.pcc("daemon", "stop")
    looked.unlink()
    here.touch()

    offset.write_text("3700")
    found = looked_at(pcc, at)

    assert found["runs"] == 0
    assert not looked.exists()
    pcc.pcc("daemon", "start")
    assert {pcc.wait(one)["status"] for one in (at, when)} == {"COMPLETED"}
