"""New work waits for a person's review: `sessions.unreviewed`."""

import pytest

from tests.acceptance.supervised import wait_until
from tests.acceptance.test_results import evening
from tests.repositories import git

pytestmark = [pytest.mark.claude, pytest.mark.timeout(400)]

STORY = """
scenes:
  - when: empty
    steps:
      - Nothing is to be done.
  - when: file one
    steps:
      - tools: [Write: {file_path: "{project}/one.py", content: "1"}]
      - tools: [Bash: {command: "git add -A; git commit -qm 'Made one'"}]
      - Finished.
  - when: file two
    steps:
      - tools: [Write: {file_path: "{project}/two.py", content: "2"}]
      - tools: [Bash: {command: "git add -A; git commit -qm 'Made two'"}]
      - Finished.
  - steps:
      - tools: [Write: {file_path: "{project}/other.txt", content: "3"}]
      - Finished.
"""


@pytest.fixture
def pcc(install):
    pcc = install(STORY)
    evening(pcc)
    return pcc


def begun(pcc, name: str, task: str) -> str:
    return pcc.start(task, "--worktree", name)


def done(pcc, name: str, task: str) -> str:
    session = begun(pcc, name, task)
    assert pcc.wait(session)["status"] == "COMPLETED", pcc.log(session)
    return session


def held(pcc, session: str) -> str:
    return str(pcc.wait(session, "RATE_LIMITED")["detail"])


def test_new_work_begins_once_results_are_taken_merged_by_hand_or_thrown_away(pcc):
    pcc.pcc("config", "set", "sessions.unreviewed", "2")
    done(pcc, "empty", "An empty one")
    one = done(pcc, "one", "Make file one")
    two = done(pcc, "two", "Make file two")
    three = begun(pcc, "three", "Make file three")

    why = held(pcc, three)
    reason = "waits for your review: 2 results (sessions.unreviewed is 2): pcc review "
    assert why == f"{reason}{one}"
    for command in (("status", three), ("pending",), ("pending", "--session", three)):
        assert why in pcc.pcc(*command).stdout, command
    assert "waits for your review: 2 results" in pcc.pcc("list").stdout
    assert "Waits for your review: 2 results" in pcc.pcc("report").stdout
    assert pcc.events(three, "RunStarted") == []

    pcc.kill_both()
    pcc.pcc("daemon", "start")
    pcc.pcc("add", two, "One more")
    assert pcc.wait(two)["status"] == "COMPLETED", "what had begun is not held"
    wait_until(lambda: held(pcc, three) == why, within=60)
    pcc.pcc("accept", one, "--yes")
    assert pcc.wait(three)["status"] == "COMPLETED"

    four = begun(pcc, "four", "Make file four")
    assert held(pcc, four).endswith(two)
    git(pcc.project, "merge", "-q", "-m", "By hand", "worktree-two")
    assert pcc.wait(four)["status"] == "COMPLETED"

    five = begun(pcc, "five", "Make file five")
    assert held(pcc, five).endswith(three)
    pcc.pcc("discard", three, "--yes")
    assert pcc.wait(five)["status"] == "COMPLETED"


def test_a_person_lets_it_begin_all_the_same_and_only_as_many_as_may_go_on(pcc):
    pcc.pcc("config", "set", "sessions.unreviewed", "1")
    one = done(pcc, "one", "Make file one")
    waiting = [begun(pcc, name, f"Make {name}") for name in ("a", "b")]
    for session in waiting:
        held(pcc, session)

    pcc.pcc("resume", waiting[1])
    assert pcc.wait(waiting[1])["status"] == "COMPLETED"
    wait_until(lambda: "2 results" in held(pcc, waiting[0]), within=60)
    pcc.pcc("accept", one, "--yes")
    wait_until(lambda: "1 result (" in held(pcc, waiting[0]), within=60)
    assert held(pcc, waiting[0]).endswith(waiting[1])
    assert pcc.events(waiting[0], "RunStarted") == []

    pcc.pcc("config", "set", "sessions.unreviewed", "0")
    pcc.pcc("daemon", "restart")
    assert pcc.wait(waiting[0])["status"] == "COMPLETED"
