"""A budget on the real Claude Code: counted by its own figures, kept, and raised by a person."""

import time
from pathlib import Path

import pytest

from perpetualcc.rehearsal.position import message_text
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

STORY = """
usage: {input: 1000, output: 50}
steps:
  - repeat: 8
    delay: 150ms
    tools: [{Write: {file_path: "{project}/src/part_{n}.py", content: "n = {n}"}}]
  - All parts are written.
"""


def test_a_day_that_is_used_up_waits_until_a_person_raises_it(install):
    pcc = install(STORY)
    pcc.pcc("budget", "set", "tokens_per_day", "4000")
    session = pcc.start("Write the parts")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"].startswith("the budget tokens_per_day is used up")
    assert waiting["resumes_at"] > time.time()
    shown = pcc.json("budget")
    [day] = [one for one in shown["budgets"] if one["name"] == "tokens_per_day"]
    # One reply may be on its way when the limit is met: that much it may be exceeded, no more.
    assert 4000 <= day["used"] <= 4000 + 2 * 1050
    assert [e["name"] for e in pcc.events(session, "BudgetApproached")] == ["tokens_per_day"]
    assert len(pcc.events(session, "BudgetUsedUp")) == 1
    assert "tokens_per_day" in pcc.pcc("budget").stdout
    pcc.pcc("budget", "set", "tokens_per_day", "1000000")
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert len(list(pcc.project.glob("src/part_*.py"))) == 8
    total = pcc.json("budget")["today"]
    # Nine replies of 1,050 tokens, and one more for each start that was cut short.
    assert 9 * 1050 * 0.98 <= total["tokens"] <= 11 * 1050
    assert total["usd"] > 0


def two_that_wait(pcc, folder, tokens):
    """Two sessions that have used up the day."""
    pcc.pcc("budget", "set", "tokens_per_day", str(tokens))
    first = pcc.start("Write the parts")
    pcc.wait(first, "RATE_LIMITED")
    other = folder / "other"
    other.mkdir()
    second = pcc.start("Write the parts too", project=other)
    pcc.wait(second, "RATE_LIMITED")
    return first, second


def test_a_person_is_asked_once_and_raises_the_budget_for_today(install, tmp_path):
    pcc = install(STORY)
    session, second = two_that_wait(pcc, tmp_path, 4000)

    [asked] = pcc.json("pending")
    shown = pcc.pcc("pending", str(asked["number"])).stdout

    assert asked["title"].startswith("The budget tokens_per_day is used up")
    for choice in ("Raise it for today", "No limit for today", "Wait until it renews", "Stop"):
        assert choice in shown
    assert "If nobody answers: Wait until it renews (" in shown
    for wrong, hint in (("abc", "an amount like"), ("17", "an amount above")):
        refused = pcc.pcc("respond", str(asked["number"]), wrong, check=False)
        assert refused.returncode == 1
        assert hint in refused.stderr
        assert [one["number"] for one in pcc.json("pending")] == [asked["number"]]
    pcc.pcc("respond", str(asked["number"]), "1,000,000")
    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert pcc.wait(second, within=60)["status"] == "COMPLETED"
    [day] = [one for one in pcc.json("budget")["budgets"] if one["name"] == "tokens_per_day"]
    assert day["allowed"] == 1_000_000
    assert pcc.json("pending") == []


def test_what_others_may_use_is_waited_for_without_looking_again_and_again(install, tmp_path):
    pcc = install(STORY)
    pcc.pcc("budget", "set", "tokens_per_day", "15000")
    other = tmp_path / "other"
    other.mkdir()
    first = pcc.start("Write the parts")
    pcc.wait(first, "PROCESSING")
    second = pcc.start("Write the parts too", project=other)

    waiting = pcc.wait(second, "RATE_LIMITED")

    assert waiting["detail"].startswith("the budget tokens_per_day is all set aside")
    assert pcc.wait(first, within=60)["status"] == "COMPLETED"
    pcc.wait_for_event(second, "RunStarted", within=60)
    wait_until(lambda: pcc.look(second)["detail"].endswith("of 15,000"))
    waits = [event for event in pcc.events(second, "TaskSettled") if event["state"] == "waiting"]
    assert len(waits) == 2


def test_stop_pauses_what_waits_for_the_budget_and_nothing_is_lost(install):
    pcc = install(STORY)
    pcc.pcc("budget", "set", "tokens_per_day", "4000")
    session = pcc.start("Write the parts")
    pcc.wait(session, "RATE_LIMITED")
    [asked] = pcc.json("pending")

    pcc.pcc("respond", str(asked["number"]), "Stop")

    assert pcc.wait(session, "PAUSED")["detail"] == "by a person"
    pcc.pcc("budget", "set", "tokens_per_day", "0")
    pcc.pcc("resume", session)
    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert [event["resumed"] for event in pcc.events(session, "RunStarted")][-1]


@pytest.mark.soak
def test_a_run_that_costs_too_much_is_parked_with_its_packet(install):
    pcc = install(STORY)
    pcc.pcc("budget", "set", "run_tokens", "2500")
    session = pcc.start("Write the parts")

    parked = pcc.wait(session)

    assert parked["status"] == "ERROR"
    assert "run_tokens is used up" in parked["detail"]
    assert parked["tasks"][0]["packet"]["state"] == parked["detail"]
    pcc.pcc("budget", "set", "run_tokens", "0")  # and it goes on by itself
    assert pcc.wait(session, "COMPLETED")["status"] == "COMPLETED"


def test_an_absurd_budget_is_refused_with_a_hint(install):
    pcc = install(STORY)

    wrong = pcc.pcc("budget", "set", "no_such_thing", "5", check=False)
    negative = pcc.pcc("budget", "set", "usd_per_day", "-5", check=False)

    assert (wrong.returncode, negative.returncode) == (2, 2)
    assert "tokens_per_day" in wrong.stderr
    assert "is no budget" in negative.stderr


@pytest.mark.soak
def test_four_that_start_at_once_do_not_spend_the_day_twice(install, tmp_path):
    pcc = install(STORY)
    pcc.pcc("budget", "set", "tokens_per_day", "6000")
    sessions = []
    for n in range(4):
        project = tmp_path / f"project-{n}"
        project.mkdir()
        sessions.append(pcc.start("Write the parts", project=project))

    for session in sessions:
        waiting = pcc.wait(session, "RATE_LIMITED", within=90)
        assert "tokens_per_day is used up" in waiting["detail"]

    [day] = [one for one in pcc.json("budget")["budgets"] if one["name"] == "tokens_per_day"]
    assert 6000 * 0.99 <= day["used"] <= 6000 + 2 * 1050
    assert len(pcc.json("pending")) == 1


def test_a_task_that_nobody_waits_for_has_the_budgets_of_unattended_work(install):
    pcc = install(
        """
        usage: {input: 5000}
        steps:
          - tools: [Write: {file_path: "{project}/src/half.py", content: "half"}]
          - say: Done.
        """
    )
    pcc.pcc("budget", "set", "task_tokens", "1000")
    mine = pcc.start("What I wait for")
    pcc.wait(mine, "COMPLETED")

    pcc.pcc("add", mine, "What can wait", "--unattended")
    parked = pcc.wait(mine, "ERROR")

    assert "task_tokens is used up" in parked["detail"]
    assert [task["lane"] for task in parked["tasks"]] == ["interactive", "cron"]
    assert "What can wait  [unattended]" in pcc.pcc("status", mine).stdout


@pytest.mark.parametrize(
    "call",
    [
        'Write: {file_path: "{project}/src/two_{n}.py", content: "n = {n}"}',
        pytest.param('Read: {file_path: "{project}/src/no_{n}.py"}', marks=pytest.mark.soak),
        pytest.param('Bash: {command: "grep -q {n} none_{n}"}', marks=pytest.mark.soak),
        pytest.param('Bash: {command: "rm -rf build_{n}"}', marks=pytest.mark.soak),
    ],
)
def test_the_tools_of_the_reply_that_used_the_budget_up_run_and_nothing_after_them(
    install, servers, call
):
    """Each reply has a text and two calls: in three parts, as Claude Code hands them on."""
    pcc = install(
        """
        usage: {input: 3000, output: 50}
        steps:
          - repeat: 4
            say: "Part {n}, with two calls."
            tools:
              - Write: {file_path: "{project}/src/one_{n}.py", content: "n = {n}"}
              - CALL
          - All parts are written.
        """.replace("CALL", call)
    )
    pcc.pcc("budget", "set", "tokens_per_day", "4000")
    session = pcc.start("Write the parts")

    pcc.wait(session, "RATE_LIMITED")

    called = [one["request"] for one in pcc.events(session, "ToolDecided")]
    assert called == [one["request"] for one in pcc.events(session, "ToolFinished")]
    assert len(called) == 4, "those of two replies"
    assert pcc.json("budget")["today"]["tokens"] == 2 * 3050
    pcc.pcc("budget", "set", "tokens_per_day", "1000000")
    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    decided = [one["summary"] for one in pcc.events(session, "ToolDecided")]
    assert len(decided) == len(set(decided)) == 8, "nothing was done twice"
    assert pcc.json("budget")["today"]["tokens"] == 5 * 3050, "nothing was paid twice"
    told = "\n".join(message_text(one) for r in servers[0].requests for one in r.messages)
    assert "interrupted" not in told


EXPENSIVE = """
usage: {input: 100000, output: 40000}
steps:
  - repeat: 5
    tools: [{Write: {file_path: "{project}/src/part_{n}.py", content: "n = {n}"}}]
  - All parts are written.
"""
REPLY_USD = 1.2


def test_a_resumed_conversation_is_charged_only_what_is_new(install, servers):
    """Claude Code's own total is the conversation's, from its first run on."""
    pcc = install(EXPENSIVE)
    pcc.pcc("budget", "set", "usd_per_day", "2")
    session = pcc.start("Write the parts")
    for allowed in ("4", "100"):
        pcc.wait(session, "RATE_LIMITED")
        pcc.pcc("budget", "set", "usd_per_day", allowed)

    assert pcc.wait(session, within=60)["status"] == "COMPLETED"

    assert len(servers[0].requests) == 6, "no reply was thrown away"
    assert pcc.json("budget")["today"]["usd"] == pytest.approx(6 * REPLY_USD, abs=0.02)
    costs = [event["cost_usd"] for event in pcc.events(session, "RunEnded")]
    assert costs == [pytest.approx(n * REPLY_USD, abs=0.02) for n in (2, 2, 2)]


def test_a_run_that_costs_too_much_money_is_parked_after_the_reply_that_did(install, servers):
    pcc = install(EXPENSIVE)
    pcc.pcc("budget", "set", "run_usd", "3")
    session = pcc.start("Write the parts")

    parked = pcc.wait(session, "ERROR")

    assert parked["detail"] == "the budget run_usd is used up: 3.6 of 3"
    assert len(servers[0].requests) == len(list(pcc.project.glob("src/part_*.py"))) == 3
    pcc.pcc("budget", "set", "run_usd", "0")  # and it goes on by itself
    assert pcc.wait(session, "COMPLETED", within=60)
    assert len(servers[0].requests) == 6


SLOW = """
usage: {input: 100000, output: 40000}
steps:
  - tools: [{Write: {file_path: "{project}/src/part.py", content: "n = 1"}}]
  - say: The part is written.
    delay: 30s
"""


@pytest.mark.parametrize("how", ["stop", "pause", "kill"])
def test_a_run_that_did_not_end_its_turn_is_charged_what_it_cost(install, how):
    pcc = install(SLOW)
    session = pcc.start("Write the part")
    pcc.wait_for_event(session, "ToolFinished", within=60)

    if how == "kill":
        wait_until(lambda: pcc.ask("budget.show")["today"]["usd"] > 0, within=60)
        pcc.kill_engine()
    else:
        pcc.pcc(how, session)
        pcc.wait(session, {"stop": "STOPPED", "pause": "PAUSED"}[how])

    assert pcc.json("budget")["today"]["usd"] == pytest.approx(REPLY_USD)


def test_a_question_that_is_held_no_longer_does_not_make_the_run_free(install, servers):
    pcc = install(
        """
        usage: {input: 100000, output: 40000}
        steps:
          - ask: [{question: "Which database should we buy for the zoo?", options: [Oracle, Db2]}]
          - All done.
        """
    )
    path = Path(pcc.environment["PERPETUALCC_CONFIG"])
    path.write_text(path.read_text() + "[human]\nhold_seconds = 1\n")
    session = pcc.start("Buy one")
    pcc.wait_for_event(session, "TaskSettled", within=60)
    assert pcc.json("budget")["today"]["usd"] == pytest.approx(REPLY_USD)

    pcc.pcc("respond", "1", "Oracle")

    assert pcc.wait(session, "COMPLETED")
    paid = len(servers[0].requests)
    assert pcc.json("budget")["today"]["usd"] == pytest.approx(paid * REPLY_USD)


def test_the_tokens_of_subagents_count(install):
    pcc = install(
        """
        scenes:
          - when: inner
            usage: {input: 5000, output: 0}
            steps: [{tools: [{Bash: {command: "true"}}]}, Inner.]
          - usage: {input: 1000, output: 0}
            steps:
              - tools:
                  - Agent:
                      description: h
                      prompt: inner
                      subagent_type: general-purpose
                      run_in_background: false
              - All done.
        """
    )
    session = pcc.start("Ask another")

    assert pcc.wait(session, "COMPLETED")

    assert 12_000 <= pcc.json("budget")["today"]["tokens"] <= 12_100


DELEGATED = """
scenes:
  - when: inner
    usage: {input: 3000, output: 50}
    steps:
      - repeat: 9
        delay: 200ms
        tools: [{Write: {file_path: "{project}/src/inner_{n}.py", content: "n = {n}"}}]
      - Inner.
  - usage: {input: 1000, output: 0}
    steps:
      - tools:
          - Agent:
              description: h
              prompt: inner
              subagent_type: general-purpose
              run_in_background: false
      - All done.
"""


@pytest.mark.parametrize("beside", ["false", "true"])
@pytest.mark.parametrize("limit", ["tokens_per_day", "run_usd"])
def test_an_agent_that_claude_called_keeps_the_budget_too(install, servers, limit, beside):
    """Within the turn or beside it, where Claude has answered and waits."""
    story = DELEGATED.replace("run_in_background: false", f"run_in_background: {beside}")
    prices = {"run_usd": story.replace("input: 3000, output: 50", "input: 100000, output: 40000")}
    pcc = install(prices.get(limit, story))
    pcc.pcc("budget", "set", limit, {"tokens_per_day": "8000", "run_usd": "3"}[limit])
    session = pcc.start("Ask another")

    pcc.wait(session, "RATE_LIMITED", "ERROR")
    wait_until(lambda: not pcc.claudes(), within=60)

    assert 2 <= len(list(pcc.project.glob("src/inner_*.py"))) <= 3
    assert len(servers[0].requests) <= 2 + 4, "at most one reply more than could be paid"


def test_when_the_session_that_asked_is_stopped_another_asks(install, tmp_path):
    pcc = install(STORY)
    first, second = two_that_wait(pcc, tmp_path, 2000)

    pcc.pcc("stop", first)

    def asking() -> list[str]:
        return [one["session"] for one in pcc.ask("escalation.list")]

    wait_until(lambda: asking() == [second])
    assert asking() == [second]
