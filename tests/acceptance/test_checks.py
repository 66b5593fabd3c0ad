"""What proves a task done, on the real Claude Code: done is what the checks say."""

import pytest

from perpetualcc.rehearsal.position import message_text
from perpetualcc.rehearsal.server import RehearsalServer
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

MENDS = """
steps:
  - tools: [{Bash: {command: "echo half > src/answer.txt"}}]
  - say: Everything works.
  - tools: [{Bash: {command: "echo whole > src/answer.txt"}}]
  - say: Now it does.
"""
ANSWERS = "echo looking; grep whole src/answer.txt"
ONLY_SAYS = """
steps:
  - repeat: 9
    say: "Everything works, for the {n}. time."
"""
LASTS = "echo $$ >> began; sleep 300 & sleep 300"
"""A check that is at work, with a child, when something happens to it."""


@pytest.fixture
def world(install):
    servers = []

    def serve(*given, **more):
        servers.append(RehearsalServer(*given, **more))
        return servers[-1]

    def make(scenario):
        pcc = install(scenario, server_of=serve)
        (pcc.project / "src").mkdir()
        return pcc, lambda: [
            "\n".join([request.system, *map(message_text, request.messages)])
            for request in servers[0].requests
        ]

    return make


def checked(pcc, session):
    """What each check came to."""
    return [(one["command"], one["trouble"]) for one in pcc.events(session, "CheckEnded")]


def began(pcc):
    written = pcc.project / "began"
    return written.read_text().split() if written.exists() else []


def test_claude_goes_on_until_the_checks_succeed(world):
    pcc, told = world(MENDS)
    session = pcc.start("Write the answer", "--check", "true", "--check", ANSWERS)

    pcc.wait(session)

    found = pcc.look(session)
    assert found["status"] == "COMPLETED"
    assert checked(pcc, session) == [
        ("true", ""), (ANSWERS, "exit code 1"), ("true", ""), (ANSWERS, ""),
    ]  # fmt: skip
    assert f"- {ANSWERS}" in told()[0], "it knows from the start what will be run"
    assert "- failed, exit code 1" not in told()[1]
    assert (
        f"- failed, exit code 1: {ANSWERS}\n<check-output>\nlooking\n</check-output>" in told()[2]
    )
    runs = pcc.events(session, "RunStarted")
    assert len(runs) == 2
    assert len({one["claude_session"] for one in runs}) == 1, "the conversation goes on"
    assert found["tasks"][0]["result"].startswith("Now it does.")
    assert found["tasks"][0]["result"].endswith(f"Checked: {ANSWERS}")


def test_a_person_is_asked_when_claude_cannot_and_their_mending_needs_no_claude(world):
    pcc, told = world(ONLY_SAYS)
    session = pcc.start("Write the answer", "--check", ANSWERS)

    found = pcc.wait(session)

    assert found["status"] == "ERROR"
    assert len(told()) == len(checked(pcc, session)) == 3
    shown = pcc.pcc("pending", "--json").stdout
    assert "the checks failed 3 times in a row" in shown
    assert "Check failed, exit code 2: " in pcc.pcc("status", session).stdout

    (pcc.project / "src" / "answer.txt").write_text("whole")
    pcc.pcc("resume", session)

    assert pcc.wait(session, "COMPLETED")["status"] == "COMPLETED"
    assert checked(pcc, session)[-1] == (ANSWERS, "")
    assert len(told()) == 3, "Claude was not asked again"
    wait_until(lambda: not pcc.ask("escalation.list", session=session))


def test_checks_that_an_engine_died_in_are_run_again_and_claude_is_not(world):
    pcc, told = world(MENDS)
    session = pcc.start("Write the answer", "--check", LASTS)
    wait_until(lambda: len(began(pcc)) == 1, within=60)

    pcc.kill_engine()

    wait_until(lambda: len(began(pcc)) == 2, within=60)
    assert len(told()) == 2
    assert len(pcc.events(session, "RunStarted")) == 1
    pcc.pcc("stop", session)
    assert pcc.wait(session)["status"] == "STOPPED"
    assert pcc.claudes() == [], "neither the first nor the second is left"
    assert checked(pcc, session) == []


def test_a_check_that_takes_too_long_has_failed_and_is_gone(world):
    pcc, told = world(MENDS)
    pcc.pcc("config", "set", "checks.minutes", "0.1")
    session = pcc.start("Write the answer", "--check", f"{ANSWERS} || {{ {LASTS}; }}")

    found = pcc.wait(session)

    assert found["status"] == "COMPLETED"
    assert [trouble for _, trouble in checked(pcc, session)] == ["it was ended after 6s", ""]
    assert "it was ended after 6s" in told()[2]
    assert pcc.claudes() == []


def test_a_perpetual_session_is_proved_too(world):
    pcc, told = world(MENDS)
    session = pcc.start("Write the answer", "--perpetual", "--check", ANSWERS)

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert [trouble for _, trouble in checked(pcc, session)] == ["exit code 1", ""]
    assert "- failed, exit code 1" in told()[2]


def test_each_task_of_the_requirements_is_proved(world):
    pcc, _ = world("steps: [First., Second.]")
    wanted = pcc.project / "REQUIREMENTS.md"
    wanted.write_text("## Tasks\n- Write the first\n- Write the second\n")

    said = pcc.pcc(
        "start", str(pcc.project), "--requirements", str(wanted), "--check", "true", "--detach"
    )
    session = said.stdout.split()[2]
    pcc.pcc("add", session, "Write the third", "--check", "test -d src")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert checked(pcc, session) == [("true", ""), ("true", ""), ("test -d src", "")]


def test_what_claude_wrote_cannot_answer_for_a_person_in_a_check(world):
    pcc, _ = world(ONLY_SAYS)
    inner = " ".join(pcc.command("config", "set", "permissions.auto_approve_low_risk", "false"))
    session = pcc.start("Write the answer", "--check", inner)

    found = pcc.wait(session)

    assert found["status"] == "ERROR"
    assert checked(pcc, session)[0][1] == "exit code 1"
    assert "auto_approve_low_risk = true" in pcc.pcc("config", "show").stdout


@pytest.mark.parametrize("check", ["", "  "])
def test_a_check_that_proves_nothing_is_refused(world, check):
    pcc, _ = world(MENDS)

    said = pcc.pcc("start", str(pcc.project), "--task", "x", "--check", check, check=False)

    assert said.returncode != 0
    assert '--check "make test"' in said.stderr


ASKS_IN_PASSING = """
steps:
  - say: "I found two places for it. In which one should it be kept?"
  - ask:
      - question: In which one should it be kept?
        header: Place
        options: [{label: SQLite}, {label: A file}]
  - tools: [{Bash: {command: "echo kept > src/answer.txt"}}]
  - say: "It is kept. Anything else?"
"""


def test_a_question_at_the_end_of_a_turn_is_asked_and_not_taken_for_the_end(world):
    pcc, told = world(ASKS_IN_PASSING)
    session = pcc.start("Keep the answer")
    wait_until(lambda: pcc.ask("escalation.list", session=session), within=60)
    assert not (pcc.project / "src" / "answer.txt").exists()
    [waiting] = pcc.json("pending")

    pcc.pcc("respond", str(waiting["number"]), "SQLite")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "src" / "answer.txt").read_text() == "kept\n"
    [asked] = pcc.events(session, "AskedInPassing")
    assert asked["question"] == "In which one should it be kept?"
    assert "# Nobody watches" in told()[0], "it knows from the start"
    assert "Nobody reads the end of a turn" not in told()[0]
    assert "Nobody reads the end of a turn" in told()[1]
    [task] = pcc.look(session)["tasks"]
    assert task["result"] == "It is kept. Anything else?", "it is told once, and then it is done"
