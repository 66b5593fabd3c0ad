"""Claude's questions: answered from the requirements, or by a person."""

import time

import pytest

from perpetualcc.store.index.opening import open_pipeline
from tests.fakes.model_server import Mood, model_server

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

ASKS = """
steps:
  - say: One thing first.
    ask:
      - question: Which database should I use?
        header: Database
        options: [PostgreSQL, SQLite, MySQL]
  - say: Then I will use it.
    expect: PostgreSQL
"""

REQUIREMENTS = """# Project: Shop

## Tasks
- [ ] Build the catalogue

## Preferences
- Database: PostgreSQL
"""


def test_a_question_is_answered_from_the_requirements(install, tmp_path):
    pcc = install(ASKS)
    requirements = tmp_path / "requirements.md"
    requirements.write_text(REQUIREMENTS)

    said = pcc.pcc("start", str(pcc.project), "--requirements", str(requirements)).stdout

    assert 'QUESTION from Claude: "Which database should I use?"' in said
    assert "Brain answered: PostgreSQL" in said
    session = pcc.json("list")[0]["id"]
    [answered] = pcc.events(session, "QuestionAnswered")
    assert answered["answers"] == {"Which database should I use?": "PostgreSQL"}
    assert "Database: PostgreSQL" in answered["reason"]
    assert pcc.status(session)["status"] == "COMPLETED"


def test_requirements_that_init_was_given_answer_beside_a_task_of_ones_own(install, tmp_path):
    pcc = install(ASKS)
    requirements = tmp_path / "requirements.md"
    requirements.write_text(REQUIREMENTS)
    pcc.pcc("init", str(pcc.project), "--skip-index", "--requirements", str(requirements))

    said = pcc.pcc("start", str(pcc.project), "--task", "Store it")

    assert f"Requirements: {requirements} (chosen with pcc init)" in said.stderr
    session = pcc.json("list")[0]["id"]
    [answered] = pcc.events(session, "QuestionAnswered")
    assert answered["answers"] == {"Which database should I use?": "PostgreSQL"}
    assert [event["prompt"] for event in pcc.events(session, "TaskStarted")] == ["Store it"]


def test_a_requirements_file_with_dependencies_runs_to_its_end(install, tmp_path):
    scenes = "".join(
        f"  - {{when: {word}, steps: [{word} is done.]}}\n"
        for word in ("alpha", "beta", "gamma", "delta", "epsilon")
    )
    pcc = install(f"scenes:\n{scenes}")
    requirements = tmp_path / "plan.yaml"
    requirements.write_text(
        """
        project: Shop
        tasks:
          - {id: e, description: epsilon, depends_on: [d]}
          - {id: a, description: alpha}
          - {id: b, description: beta, depends_on: [a]}
          - {id: c, description: gamma, priority: 9}
          - {id: d, description: delta, depends_on: [b, c]}
        """
    )

    said = pcc.pcc("start", str(pcc.project), "--requirements", str(requirements)).stdout

    summary = [line.strip() for line in said.split("Session completed: ")[1].splitlines()]
    assert summary[0].startswith("5 tasks done in ")
    assert {line.split(":")[0] for line in summary[1:6]} == {
        f"✓ {word}" for word in ("alpha", "beta", "gamma", "delta", "epsilon")
    }
    assert all(line.endswith("is done.") for line in summary[1:6])
    session = pcc.json("list")[0]["id"]
    assert "5 tasks done in" in pcc.pcc("status", session).stdout
    started = [event["prompt"] for event in pcc.events(session, "TaskStarted")]
    assert started == ["gamma", "alpha", "beta", "delta", "epsilon"]
    assert pcc.status(session)["status"] == "COMPLETED"


CODE = '''
def open_connection(url):
    """The ledger keeps its rows in PostgreSQL; SQLite is for tests only."""
    return connect_to_postgres(url)
'''


def with_ollama(pcc, server) -> None:
    config = pcc.locations.data.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        f'[brain]\ntype = "ollama"\n[brain.ollama]\nhost = "{server.url}"\nmodel = "tiny"\n'
    )


def test_a_brain_is_told_what_only_the_code_says_and_the_log_cites_it(install):
    pcc = install(ASKS)
    (pcc.project / "ledger.py").write_text(CODE)
    pcc.pcc("init", str(pcc.project), "--no-vectors")
    with model_server() as server:
        server.reply = {
            "labels": ["PostgreSQL"],
            "confidence": 0.9,
            "reasoning": "The code says so",
            "quote": "The ledger keeps its rows in PostgreSQL; SQLite is for tests only.",
        }
        with_ollama(pcc, server)

        said = pcc.pcc("start", str(pcc.project), "--task", "Build it").stdout

    [asked] = server.asked
    prompt = asked["messages"][-1]["content"]
    assert '<data name="code ledger.py:' in prompt
    assert "rows in PostgreSQL" in prompt
    assert "Brain answered: PostgreSQL" in said
    session = pcc.json("list")[0]["id"]
    [answered] = pcc.events(session, "QuestionAnswered")
    assert "ledger.py:" in answered["reason"]
    [listed] = pcc.json("decisions")
    assert (listed["session"], listed["verdict"]) == (session, "answer")
    assert listed["summary"] == "Which database should I use? → PostgreSQL"
    assert "ledger.py:" in listed["reason"]
    assert "ledger.py:" in pcc.pcc("decisions", "--verdict", "answer").stdout
    assert pcc.json("decisions", "--verdict", "allow") == []


@pytest.mark.parametrize("mood", [Mood.BROKEN, Mood.MALFORMED])
def test_a_brain_that_fails_leaves_the_question_to_rules_and_people(install, mood):
    pcc = install(ASKS)
    with model_server() as server:
        server.mood = mood
        with_ollama(pcc, server)
        session = pcc.start("Build it")

        pcc.wait_for_event(session, "EscalationRaised")
        pcc.pcc("respond", "1", "PostgreSQL")

        assert pcc.wait(session)["status"] == "COMPLETED"
    [answered] = pcc.events(session, "QuestionAnswered")
    assert answered["decided_by"] == "person"


def test_a_sessions_claude_can_search_the_index(install):
    pcc = install(
        """
        steps:
          - tools:
              - mcp__perpetualcc__search_code: {query: where are the rows kept}
          - say: Found.
            expect: ledger.py
        """
    )
    (pcc.project / "ledger.py").write_text(CODE)
    pcc.pcc("init", str(pcc.project), "--no-vectors")

    pcc.pcc("start", str(pcc.project), "--task", "Find it")

    session = pcc.json("list")[0]["id"]
    [ended] = pcc.events(session, "ToolFinished")
    assert "ledger.py" in ended["summary"]


def test_the_index_follows_what_a_session_writes(install):
    pcc = install(
        """
        steps:
          - tools:
              - Write: {file_path: "{project}/zebra.py", content: "def zebra_crossing(): pass"}
          - say: Written.
        """
    )
    (pcc.project / "ledger.py").write_text(CODE)
    pcc.pcc("init", str(pcc.project), "--no-vectors")

    session = pcc.start("Write it")
    pcc.wait_for_event(session, "ToolFinished")

    # Read as it is: a command would bring it up to date itself.
    deadline = time.monotonic() + 20
    while not (found := open_pipeline(pcc.project).retrieve("zebra", 1)):
        assert time.monotonic() < deadline, "the index did not follow"
        time.sleep(0.2)
    assert found[0].file_path == "zebra.py"


def test_what_happened_is_remembered(install, tmp_path):
    pcc = install(ASKS)
    requirements = tmp_path / "requirements.md"
    requirements.write_text(REQUIREMENTS)

    pcc.pcc("start", str(pcc.project), "--requirements", str(requirements))

    # Episodes are recorded beside the work, a moment after it.
    deadline = time.monotonic() + 10
    while "PostgreSQL" not in (found := pcc.pcc("memory", "search", "which database").stdout):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
