"""Claude's questions: answered from the requirements, or by a person."""

import pytest

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

    pcc.pcc("start", str(pcc.project), "--requirements", str(requirements))

    session = pcc.json("list")[0]["id"]
    started = [event["prompt"] for event in pcc.events(session, "TaskStarted")]
    assert started == ["gamma", "alpha", "beta", "delta", "epsilon"]
    assert pcc.status(session)["status"] == "COMPLETED"
