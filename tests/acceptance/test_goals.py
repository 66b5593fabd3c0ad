"""A goal is planned, agreed to, worked through and looked over, on the real Claude Code."""

import json
import re
import time
from random import Random

import pytest

from perpetualcc.rehearsal.position import message_text
from tests.acceptance.browser import browsing
from tests.acceptance.held_back import HeldBack
from tests.acceptance.supervised import kill, wait_until
from tests.acceptance.terminals import terminal
from tests.acceptance.test_dashboard import dashboard, in_a_browser

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

WISH = "Give the project a greeting"
IS_THERE = "ls src/h*o.txt"
FIRST = {"title": "Write the greeting", "prompt": "Write src/hello.txt", "checks": [IS_THERE]}
SECOND = {"title": "Translate it", "prompt": "Write src/hallo.txt", "after": [1]}
ALONE = {**SECOND, "after": []}
WORK = """
  - when: "fresh eyes"
    steps:
      - tools: [{Bash: {command: "cat src/hello.txt src/hallo.txt > src/all.txt"}}]
      - say: It is whole.
  - when: Write src/hello.txt
    steps:
      - tools: [{Bash: {command: "echo hello >> src/hello.txt"}}]
      - say: The greeting is there.
  - when: Write src/hallo.txt
    steps:
      - tools: [{Bash: {command: "echo hallo >> src/hallo.txt"}}]
      - say: It is translated.
"""


def proposes(*tasks):
    return f"- tools: [mcp__perpetualcc__propose_plan: {json.dumps({'tasks': tasks})}]"


def story(*steps):
    """What the model says while it plans; then the plan's tasks, and the look at the whole."""
    planning = "".join(f"      {step}\n" for step in steps)
    return f"scenes:{WORK}  - when: <planning>\n    steps:\n{planning}"


PLANS = (proposes(FIRST, SECOND), "- say: Two tasks will do.")


@pytest.fixture
def world(install):
    servers = []

    def serve(*given, **more):
        servers.append(HeldBack(*given, **more))
        servers[-1].go.set()
        return servers[-1]

    def make(*steps, **signed_in_as):
        pcc = install(story(*steps), server_of=serve, **signed_in_as)
        (pcc.project / "src").mkdir()
        return pcc, lambda: [
            "\n".join(message_text(one) for one in request.messages)
            for request in servers[0].requests
        ]

    return make


def asked(pcc):
    """The plan that waits for a person."""
    wait_until(lambda: pcc.ask("escalation.list"), within=60)
    [request] = pcc.ask("escalation.list")
    return request


def is_over(pcc, session):
    return pcc.look(session)["status"] == "COMPLETED"


def written(pcc):
    return sorted(path.name for path in (pcc.project / "src").iterdir())


def test_a_goal_is_planned_agreed_to_worked_through_and_looked_over(world):
    pcc, told = world(*PLANS)
    session = pcc.start(WISH, "--plan", "--check", "cat src/all.txt")

    request = asked(pcc)
    told_of = f"1. Write the greeting\n   check: {IS_THERE}\n2. Translate it (after 1)"
    assert told_of in request["context"]
    assert pcc.wait(session, "WAITING_INPUT")["status"] == "WAITING_INPUT"
    assert written(pcc) == []
    whole = pcc.pcc("pending", str(request["number"])).stdout
    assert "Task 1: Write the greeting\n  Write src/hello.txt" in whole
    pcc.pcc("respond", str(request["number"]), "--approve")
    [agreed] = pcc.json("decisions", "--by", "person")
    assert agreed["summary"] == f"Begin with this plan of 2 tasks for: {WISH} → Go ahead"

    found = pcc.wait(session)
    assert found["status"] == "COMPLETED"
    assert [one["prompt"].splitlines()[0] for one in found["tasks"]] == [
        WISH, "Write the greeting", "Translate it",
    ]  # fmt: skip
    assert {one["state"] for one in found["tasks"]} == {"done"}
    assert found["tasks"][0]["after"] == [one["id"] for one in found["tasks"][1:]]
    assert (pcc.project / "src" / "all.txt").read_text() == "hello\nhallo\n"
    checked = [(one["command"], one["trouble"]) for one in pcc.events(session, "CheckEnded")]
    assert checked == [(IS_THERE, ""), ("cat src/all.txt", "")]
    assert found["tasks"][0]["result"] == "It is whole.\n\nChecked: cat src/all.txt"
    [look] = [one for one in told() if "fresh eyes" in one and "It is whole" not in one][:1]
    assert "- Translate it: It is translated." in look


def test_what_a_person_says_of_a_plan_is_heeded_in_the_same_conversation(world):
    pcc, told = world(*PLANS, proposes(ALONE), "- say: One will do.")
    session = pcc.start(WISH, "--plan")
    first = asked(pcc)

    pcc.pcc("respond", str(first["number"]), "Only the translation, please")
    wait_until(lambda: pcc.events(session, "PlanProposed")[1:], within=60)

    second = asked(pcc)
    assert second["number"] != first["number"]
    assert "Translate it" in second["context"]
    assert "Write the greeting" not in second["context"]
    runs = pcc.events(session, "RunStarted")
    assert len(runs) == 2
    assert len({one["claude_session"] for one in runs}) == 1
    [heard] = [one for one in told() if "They say:\nOnly the translation, please" in one][:1]
    assert "You asked:" not in heard, "it is told once, and by its own words"
    pcc.pcc("respond", str(second["number"]), "go ahead")
    found = pcc.wait(session, "COMPLETED")
    assert len(found["tasks"]) == 2
    assert written(pcc) == ["all.txt", "hallo.txt"]


def test_nothing_is_changed_while_it_plans_and_a_bad_plan_goes_back_to_claude(world):
    pcc, told = world(
        '- tools: [{Bash: {command: "echo early > src/early.txt"}}]',
        '- tools: [{Write: {file_path: "{project}/src/early.txt", content: early}}]',
        proposes({"title": "Cyclic", "prompt": "Go", "after": [1]}),
        *PLANS,
    )
    session = pcc.start(WISH, "--plan")
    asked(pcc)

    assert written(pcc) == []
    decided = pcc.events(session, "ToolDecided")
    refused = [one["reason"] for one in decided if one["verdict"] == "deny"]
    assert len(refused) == 2
    assert all("level 1" in one for one in refused)
    assert any("The plan is not taken: Task 1 comes after [1]" in one for one in told())


@pytest.mark.parametrize("when", ["while it is asked", "when it was answered"])
def test_a_plan_outlives_the_engine_and_its_tasks_are_queued_once(world, when):
    pcc, _ = world(*PLANS)
    session = pcc.start(WISH, "--plan")
    number = str(asked(pcc)["number"])
    pcc.wait(session, "WAITING_INPUT")

    if when == "while it is asked":
        pcc.kill_both()
    pcc.pcc("respond", number, "1")
    if when == "when it was answered":
        pcc.kill_engine()

    found = pcc.wait(session, "COMPLETED")
    assert len(found["tasks"]) == 3
    assert (pcc.project / "src" / "all.txt").read_text() == "hello\nhallo\n"
    added = [one["prompt"] for one in pcc.events(session, "TaskAdded")]
    assert len(added) == 3


def test_who_leaves_a_plan_is_asked_nothing_more_and_may_have_another(world):
    pcc, _ = world(*PLANS, proposes(ALONE), "- say: One will do.")
    session = pcc.start(WISH, "--plan")

    pcc.pcc("respond", str(asked(pcc)["number"]), "leave it")

    found = pcc.wait(session, "ERROR")
    assert found["detail"] == f"A person left the plan; another one: pcc resume {session}"
    assert pcc.ask("escalation.list") == []
    assert "pcc resume" in str(found["tasks"][0]["packet"])
    pcc.pcc("resume", session)
    assert "of 1 task for" in asked(pcc)["title"]


def test_yes_begins_what_claude_might_run_itself_and_asks_about_the_rest(world):
    pcc, _ = world(*PLANS)
    session = pcc.start(WISH, "--plan", "--yes")
    assert pcc.wait(session, "COMPLETED")["status"] == "COMPLETED"
    assert written(pcc) == ["all.txt", "hallo.txt", "hello.txt"]
    assert pcc.events(session, "EscalationRaised") == []


def test_yes_does_not_run_a_check_that_claude_may_not_run_itself(world):
    risky = {**FIRST, "checks": [IS_THERE, "rm -rf src"]}
    pcc, _ = world(proposes(risky), "- say: A plan.")
    session = pcc.start(WISH, "--plan", "--yes")

    assert "Claude itself may not run: rm -rf src" in asked(pcc)["context"]
    assert pcc.wait(session, "WAITING_INPUT")["status"] == "WAITING_INPUT"
    assert len(pcc.look(session)["tasks"]) == 1


def test_who_plans_nothing_is_told_and_then_a_person_is(world):
    pcc, told = world("- {repeat: 9, say: That is done already.}")
    session = pcc.start(WISH, "--plan")

    found = pcc.wait(session, "ERROR")

    assert found["detail"] == "No plan: That is done already."
    assert len(told()) == 3
    assert "You ended your turn and proposed no plan" in told()[1]
    assert asked(pcc)["type"] == "error"


def test_a_task_of_a_plan_that_stops_keeps_the_goal_and_it_goes_on_when_it_is_mended(world):
    never = {**FIRST, "checks": ["ls by-hand"]}
    pcc, _ = world(proposes(never, SECOND), "- say: A plan.")
    pcc.pcc("config", "set", "checks.attempts", "1")
    session = pcc.start("Say hello", "--check", "true")
    pcc.wait(session)
    pcc.pcc("add", session, WISH, "--plan")
    pcc.pcc("add", session, "And after it", "--after", WISH)
    pcc.pcc("respond", str(asked(pcc)["number"]), "1")

    found = pcc.wait(session, "ERROR")
    states = {one["prompt"].splitlines()[0]: one["state"] for one in found["tasks"]}
    assert states["Write the greeting"] == "parked"
    assert states[WISH] == states["And after it"] == states["Translate it"] == "queued"
    (pcc.project / "by-hand").touch()
    pcc.pcc("resume", session)

    found = pcc.wait(session, "COMPLETED")
    assert {one["state"] for one in found["tasks"]} == {"done"}
    started = [one["prompt"].splitlines()[0] for one in pcc.events(session, "TaskStarted")]
    assert started[-3:] == ["Translate it", WISH, "And after it"]


def test_a_plan_is_agreed_to_in_one_terminal_and_the_other_is_told(world):
    pcc, _ = world(*PLANS)
    session = pcc.start(WISH, "--plan")
    pcc.wait(session, "WAITING_INPUT")
    attach = pcc.command("attach", session)

    with terminal(attach, pcc.environment) as mine, terminal(attach, pcc.environment) as theirs:
        for one in (mine, theirs):
            one.wait_for("[A]pprove  [D]eny  or type what to do otherwise")
        theirs.type("only the trans")
        mine.type("a\n")
        for one in (mine, theirs):
            one.wait_for("Task: Write the greeting")
        pcc.pcc("stop", session)
        assert mine.wait() == theirs.wait() == 0

    assert theirs.seen.count("[A]pprove") == 1, "asked once, below what it is about"
    assert "You answered #1: " in theirs.seen
    assert "Not sent: only the trans\n" in theirs.seen
    assert "Session stopped" in theirs.seen


def test_giving_up_a_task_of_a_plan_says_that_the_goal_goes_with_it(world):
    never = {**FIRST, "checks": ["ls by-hand"]}
    pcc, _ = world(proposes(never, SECOND), "- say: A plan.")
    pcc.pcc("config", "set", "checks.attempts", "1")
    session = pcc.start(WISH, "--plan")
    pcc.pcc("respond", str(asked(pcc)["number"]), "yes")
    pcc.wait(session, "ERROR")

    number = str(asked(pcc)["number"])
    goes_with_it = f"[2] give up - Leave it for good, with 2 tasks after it: {WISH}"
    assert goes_with_it[:60] in pcc.pcc("pending", number).stdout
    pcc.pcc("respond", number, "give up")

    found = pcc.wait(session, "COMPLETED")
    assert found["detail"] == "without what was given up, and 2 tasks after it"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--yes", "--task", "x"], "--yes is about a plan"),
        (["--plan", "--task", "x", "--perpetual"], "A perpetual session makes its own plan"),
        (["--plan", "--requirements", "tasks.md"], "Requirements are a plan"),
        (["--plan", "--requirements", "tasks.md"], "after: pcc init PROJECT --requirements FILE"),
    ],
)
def test_what_cannot_be_planned_is_refused_at_once(world, words, why):
    pcc, _ = world(*PLANS)
    (pcc.project / "tasks.md").write_text("## Tasks\n- One\n- Two\n")
    given = [str(pcc.project / word) if word.endswith(".md") else word for word in words]

    said = pcc.pcc("start", str(pcc.project), *given, check=False)

    assert said.returncode != 0
    assert why in said.stderr


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(3))
def test_whenever_it_is_killed_a_plan_is_queued_once_and_worked_through(world, seed):
    pcc, _ = world(*PLANS)
    chance = Random(seed)
    session = pcc.start(WISH, "--plan", "--check", "cat src/all.txt")

    for _ in range(8):
        time.sleep(chance.uniform(0.3, 4.0))
        for request in pcc.ask("escalation.list"):
            assert request["type"] == "question", request
            pcc.pcc("respond", str(request["number"]), "1")
            time.sleep(chance.choice([0.0, 0.0, 0.2]))
        victims = [pid for pid in (pcc.engine, *pcc.claudes()) if pid is not None]
        if victims:
            kill(chance.choice(victims))
    wait_until(lambda: pcc.ask("escalation.list") or is_over(pcc, session), within=60)
    for request in pcc.ask("escalation.list"):
        pcc.pcc("respond", str(request["number"]), "1")
    found = pcc.wait(session, "COMPLETED")

    assert [one["prompt"].splitlines()[0] for one in found["tasks"]] == [
        WISH, "Write the greeting", "Translate it",
    ]  # fmt: skip
    assert {one["state"] for one in found["tasks"]} == {"done"}
    assert written(pcc) == ["all.txt", "hallo.txt", "hello.txt"]


@in_a_browser
def test_a_plan_is_read_whole_and_agreed_to_in_the_browser(world, servers, tmp_path):
    pcc, _ = world(*PLANS)
    session = pcc.start(WISH, "--plan")
    asked(pcc)

    with dashboard(pcc) as (_, link), browsing(tmp_path / "browser") as browser:
        browser.open(link)
        browser.press("give-project-greeting")
        browser.sees("Plan:\n1. Write the greeting")
        browser.press("Waiting")
        browser.press("Begin with this plan")
        browser.sees("2. Translate it\nWrite src/hallo.txt")
        servers[0].go.clear()
        browser.press("Go ahead")
        browser.press("Answer")
        browser.sees("Answered: Go ahead")
        browser.press("Sessions")
        browser.press("give-project-greeting")
        browser.sees("Planned: 2 tasks")
        assert "(queued)" in browser.text
        assert not re.search(r"begins \d", browser.text), "it waits for its tasks, not for a time"
        assert browser.complaints() == []
        servers[0].go.set()

    assert pcc.wait(session, "COMPLETED")["status"] == "COMPLETED"


def test_a_paused_plan_is_begun_when_the_session_goes_on(world):
    pcc, _ = world(*PLANS)
    session = pcc.start(WISH, "--plan")
    number = str(asked(pcc)["number"])
    pcc.wait(session, "WAITING_INPUT")

    pcc.pcc("pause", session)
    pcc.pcc("respond", number, "1")
    time.sleep(2)

    found = pcc.look(session)
    assert (found["status"], len(found["tasks"])) == ("PAUSED", 1)
    pcc.pcc("resume", session)
    assert len(pcc.wait(session, "COMPLETED")["tasks"]) == 3


def test_a_goal_that_is_stopped_takes_what_is_left_of_its_plan_along(world):
    pcc, _ = world(proposes({**FIRST, "checks": ["sleep 60"]}, SECOND), "- say: A plan.")
    session = pcc.start(WISH, "--plan")
    number = str(asked(pcc)["number"])
    pcc.wait(session, "WAITING_INPUT")

    refused = pcc.pcc("resume", session, check=False)
    pcc.pcc("pause", session)
    resumed = pcc.pcc("resume", session)

    assert refused.returncode == 1
    assert "waits for your answer: there is nothing to resume" in refused.stderr
    assert f"note: Still waiting: a plan waits for you: pcc pending {number}" in resumed.stderr
    pcc.pcc("respond", number, "1")
    wait_until(lambda: pcc.events(session, "ChecksBegan"), within=60)
    at_work = pcc.pcc("resume", session, check=False)
    assert "is at work: there is nothing to resume" in at_work.stderr
    goal, *parts = [one["id"] for one in pcc.look(session)["tasks"]]

    stopped = pcc.pcc("stop", session, WISH).stdout

    assert stopped.splitlines() == [
        f"Stopped {goal}: {WISH}",
        f"Left out, as it belongs to the plan of that: {', '.join(parts)}",
    ]
    found = pcc.wait(session, "COMPLETED")
    assert {one["state"] for one in found["tasks"]} == {"cancelled"}
    told = pcc.pcc("report", session).stdout
    assert all(words in told for words in (WISH, "Write the greeting", "Translate it"))


def test_a_limit_and_a_question_interrupt_the_planning_and_nothing_is_lost(world):
    asks = '- ask: [{question: "Which language?", options: [German, French]}]'
    limit = "- fail: {kind: usage_limit, in: 4s, everyone: true}"
    pcc, told = world(limit, asks, *PLANS, subscription=True)
    session = pcc.start(WISH, "--plan", "--yes")

    request = asked(pcc)
    assert request["title"] == "Which language?"
    pcc.pcc("respond", str(request["number"]), "German")

    assert len(pcc.wait(session, "COMPLETED")["tasks"]) == 3
    assert len(pcc.events(session, "LimitReached")) == 1
    assert any("German" in one for one in told())


def test_what_repeats_is_planned_anew_each_time(world):
    pcc, _ = world(*PLANS)
    words = ["--plan", "--yes", "--every", "6 hours"]
    said = pcc.pcc("start", str(pcc.project), "--task", WISH, *words).stdout
    session = said.split()[2]

    pcc.pcc("resume", session)

    wait_until(
        lambda: [one["state"] for one in pcc.look(session)["tasks"]].count("done") == 3, within=90
    )
    tasks = pcc.look(session)["tasks"]
    following = [one for one in tasks if one["state"] == "queued"]
    assert [(one["plan"], one["every"]) for one in following] == [("alone", "6 hours")]
    assert [one["every"] for one in tasks if one["goal"]] == ["", ""], "its tasks repeat nothing"
