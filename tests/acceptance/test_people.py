"""Waiting for a person, on the real Claude Code: held, as a row, across restarts, answered once."""

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

QUESTION = """
steps:
  - say: I need to know one thing.
    ask:
      question: Which database should the notes live in?
      header: Database
      options:
        - {label: SQLite, description: One file}
        - {label: PostgreSQL, description: A server}
  - tools:
      - Write: {file_path: "{project}/decided.md", content: "decided"}
  - say: The decision is written down.
"""


def configure(pcc, text: str) -> None:
    config = pcc.locations.data.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


def pending(pcc):
    return pcc.json("pending")


def test_a_question_waits_as_a_row_and_its_answer_resumes_the_conversation(install):
    pcc = install(QUESTION)
    configure(pcc, "[human]\nhold_seconds = 1\n")
    session = pcc.start("Add a place to store notes")

    pcc.wait(session, "WAITING_INPUT")
    wait_until(lambda: not pcc.claudes(), within=10)
    pcc.kill_supervisor()
    pcc.kill_engine()
    [waiting] = pending(pcc)
    assert waiting["title"] == "Which database should the notes live in?"
    assert pcc.status(session)["status"] == "WAITING_INPUT"

    pcc.pcc("respond", str(waiting["number"]), "PostgreSQL")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "decided.md").exists()
    assert pending(pcc) == []
    runs = pcc.events(session, "RunStarted")
    assert [run["resumed"] for run in runs] == [False, True]
    assert len({run["claude_session"] for run in runs}) == 1
