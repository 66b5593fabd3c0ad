"""What begins when a condition holds, on the real Claude Code."""

import pytest

from tests.acceptance.supervised import wait_until
from tests.acceptance.test_repeating import Clock, states

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

SORTS = """
steps:
  - tools: [{Bash: {command: "cat inbox/*.md >> src/sorted.txt"}}]
  - say: It is sorted.
"""
ARRIVED = "ls inbox/*.md"


@pytest.fixture
def world(install, tmp_path):
    pcc = install(SORTS)
    for folder in ("src", "inbox"):
        (pcc.project / folder).mkdir()
    return pcc, Clock(pcc, tmp_path)


def begin(pcc, *words):
    said = pcc.pcc("start", str(pcc.project), "--task", "Sort the inbox", *words).stdout
    return said.split()[2], said


def test_it_begins_when_the_condition_holds_and_nothing_runs_before(world):
    pcc, clock = world
    session, said = begin(pcc, "--when", ARRIVED)
    assert f"begins when it succeeds: {ARRIVED}" in said

    clock.pass_by(3600)
    assert states(pcc, session) == ["queued"]
    assert pcc.events(session, "RunStarted") == []
    assert f"begins when it succeeds: {ARRIVED}" in pcc.pcc("status", session).stdout
    assert f"begins when it succeeds: {ARRIVED}" in pcc.pcc("list").stdout
    (pcc.project / "inbox" / "a.md").write_text("a")
    clock.pass_by(61)

    assert pcc.wait(session)["status"] == "COMPLETED"
    met = pcc.events(session, "ConditionMet")
    assert [one["command"] for one in met] == [ARRIVED]
    settled = [one["state"] for one in pcc.events(session, "TaskSettled")]
    assert settled == ["done"], "looks leave no trace"


def test_again_and_again_it_looks_at_the_times_of_the_rule(world):
    pcc, clock = world
    session, _ = begin(pcc, "--when", ARRIVED, "--every", "10 minutes")
    for name in ("a.md", "b.md"):
        before = states(pcc, session).count("done")
        (pcc.project / "inbox" / name).write_text(name)
        clock.pass_by(601)
        wait_until(lambda n=before: states(pcc, session).count("done") == n + 1, within=60)
        (pcc.project / "inbox" / name).unlink()

    assert states(pcc, session) == ["done", "done", "queued"]
    assert (pcc.project / "src" / "sorted.txt").read_text() == "a.mdb.md"
    assert len(pcc.events(session, "ConditionMet")) == 2
    pcc.pcc("stop", session)
    assert states(pcc, session)[-1] == "cancelled"


def test_all_tasks_of_the_requirements_begin_then(world):
    pcc, _ = world
    wanted = pcc.project / "R.md"
    wanted.write_text("## Tasks\n- Sort the inbox\n- Say what was sorted\n")
    said = pcc.pcc("start", str(pcc.project), "--requirements", str(wanted), "--when", "mkdir once")
    session = said.stdout.split()[2]

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert states(pcc, session) == ["done", "done"]
    assert len(pcc.events(session, "ConditionMet")) == 1


def test_what_is_queued_beside_it_goes_on_and_resume_begins_it_now(world):
    pcc, _ = world
    session, _ = begin(pcc, "--when", "false")
    pcc.pcc("add", session, "Sort something else")
    wait_until(lambda: states(pcc, session) == ["queued", "done"], within=60)

    pcc.pcc("resume", session)

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert pcc.events(session, "ConditionMet") == []


def test_a_condition_that_can_never_hold_is_told_once(world):
    pcc, _ = world
    session, _ = begin(pcc, "--when", "lss inbox")
    pcc.wait_for_event(session, "ProblemNoticed")
    (problem,) = pcc.events(session, "ProblemNoticed")
    assert "not found" in problem["text"]
    assert f"pcc stop {session}" in problem["hint"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--when", " "], "condition is empty"),
        (["--when", "true", "--at", "23:00"], "two beginnings"),
        (["--when", "true", "--every", "hour", "--missed", "skip"], "--missed is about times"),
    ],
)
def test_what_contradicts_itself_is_refused(world, words, says):
    pcc, _ = world
    said = pcc.pcc("start", str(pcc.project), "--task", "x", *words, check=False)

    assert said.returncode != 0
    assert says in said.stderr


@pytest.mark.soak
@pytest.mark.timeout(200)
def test_an_engine_that_sleeps_is_woken_to_look(world):
    pcc, _ = world
    session, _ = begin(pcc, "--when", ARRIVED)
    wait_until(lambda: pcc.engine is None, within=60)
    (pcc.project / "inbox" / "a.md").write_text("a")

    wait_until(lambda: pcc.engine is not None, within=90)

    assert pcc.wait(session)["status"] == "COMPLETED"
