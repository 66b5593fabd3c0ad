"""A run that takes the machine's memory is ended before the machine is: with real memory."""

import pytest

from perpetualcc.sessions.system_load import read_memory
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(240)]

ROOM = 1_500_000_000
"""Bytes that a run may hold here: Claude Code has some 400 million of its own."""
BUILD = '  - tools: [{Bash: {command: "python3 build.py"}}]\n'
GREEDY = """
import pathlib, time
begun = pathlib.Path("begun")
times = int(begun.read_text()) if begun.exists() else 0
begun.write_text(str(times + 1))
if times < MOST:
    taken = [bytearray(b"x" * 50_000_000) for _ in range(40)]
    time.sleep(120)
"""


def greedy(install, most: int):
    pcc = install(f"steps:\n{BUILD * most}  - Everything passes.\n")
    share = ROOM / read_memory().total
    pcc.pcc("config", "set", "load.run_memory", f"{share:.6f}")
    (pcc.project / "build.py").write_text(GREEDY.replace("MOST", str(most)))
    return pcc


def test_what_takes_too_much_is_ended_and_the_work_goes_on_in_its_conversation(install):
    pcc = greedy(install, 1)
    session = pcc.start("Run the tests")

    found = pcc.wait(session, within=150)

    assert found["status"] == "COMPLETED", found["detail"]
    [told] = pcc.events(session, "MemoryOutgrown")
    assert told["largest"] == "python3 build.py"
    assert told["held"] > ROOM
    assert told["text"].startswith("The run held ")
    assert " of memory, the most in python3 build.py (" in told["text"]
    assert "; load.run_memory is " in told["text"]
    started = pcc.events(session, "RunStarted")
    assert [one["resumed"] for one in started] == [False, True]
    assert len({one["claude_session"] for one in started}) == 1
    ended = pcc.events(session, "RunEnded")
    assert [one["outcome"] for one in ended] == ["later", "done"]
    assert ended[0]["error"] == told["text"]
    assert f"✗ {told['text'][:60]}" in pcc.pcc("logs", session).stdout
    assert pcc.claudes() == []


def test_again_and_again_waits_and_then_asks_a_person(install, tmp_path):
    pcc = greedy(install, 3)
    offset = tmp_path / "offset"
    offset.write_text("0")
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    session = pcc.start("Run the tests")

    pcc.wait_for_event(session, "MemoryOutgrown", count=2, within=120)
    wait_until(lambda: pcc.events(session, "TaskSettled")[1:], within=60)
    second = pcc.events(session, "TaskSettled")[1]
    assert second["result"].endswith(". It was the second time in a row")
    assert 200 < second["due"] - second["at"] < 400

    offset.write_text("400")
    found = pcc.wait(session, within=120)

    assert found["status"] == "ERROR"
    assert len(pcc.events(session, "MemoryOutgrown")) == 3
    waiting = pcc.ask("escalation.list", session=session)
    assert "load.run_memory" in str(waiting)
