"""The end-to-end test of the design (seed 000, verification plan), as one story."""

import os

import pytest

from tests.acceptance.receivers import Webhook
from tests.acceptance.supervised import wait_until
from tests.acceptance.test_limits import transcript
from tests.fakes.model_server import model_server

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

API = r"""
import json
from http.server import BaseHTTPRequestHandler


class Notes(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps([]).encode())
"""

CHECK = r"""
import unittest

import api


class Answers(unittest.TestCase):
    def test_there_is_an_api(self):
        self.assertTrue(api.Notes.do_GET)
"""


@pytest.fixture
def story():
    """Reads, writes, a question, a command that edits, a limit, and the end."""
    return f"""
    name: rest
    steps:
      - say: I look at what is there.
        tools: [{{Read: {{file_path: "{{project}}/README.md"}}}}]
      - say: One thing first.
        ask:
          - question: Which database should the API use?
            header: Database
            options: [PostgreSQL, SQLite]
      - say: I write the API.
        expect: SQLite
        tools: [{{Write: {{file_path: "{{project}}/api.py", content: {API!r}}}}}]
      - say: I note the decision with a command.
        tools: [{{Bash: {{command: "echo 'database = sqlite' > settings.ini"}}}}]
      - fail: {{kind: usage_limit, in: 8s}}
      - say: I go on with the test.
        tools: [{{Write: {{file_path: "{{project}}/test_api.py", content: {CHECK!r}}}}}]
      - tools: [{{Bash: {{command: "python3 -m unittest -q test_api"}}}}]
      - say: The REST API is built and its test passes.
        expect: OK
    """


def configure(pcc, brain) -> None:
    config = pcc.locations.data.parent / "config.toml"
    config.write_text(
        config.read_text()
        + f'[brain]\ntype = "ollama"\n[brain.ollama]\nhost = "{brain.url}"\nmodel = "tiny"\n'
        + '[notifications]\nurls = ["env:OUR_WEBHOOK"]\n'
    )


def test_an_api_is_built_through_a_question_and_a_limit_without_a_hand(install, story, monkeypatch):
    webhook = Webhook()
    monkeypatch.setenv("OUR_WEBHOOK", webhook.url)
    pcc = install(story, "--idle-exit", "0.5", subscription=True)
    (pcc.project / "README.md").write_text("A service for notes.\n")
    os.utime(pcc.project / "README.md", (0, 0))
    with model_server() as brain, webhook.listening():
        brain.reply = {
            "labels": ["SQLite"],
            "confidence": 0.95,
            "reasoning": "One file is enough",
            "approve": True,
            "reason": "Local and small",
            "summary": "The API stands on SQLite; its test is missing.",
        }
        configure(pcc, brain)

        # 1. It starts, and 4. meets a limit.
        session = pcc.start("Build a REST API")
        limited = pcc.wait(session, "RATE_LIMITED", within=60)

        assert pcc.claudes() == []
        [kept] = pcc.status(session)["checkpoints"]
        checkpoint = next((pcc.locations.data / "checkpoints" / session).glob("*.json"))
        assert (kept["reason"], kept["files"]) == ("the 5-hour limit", ["api.py", "settings.ini"])
        assert "The API stands on SQLite; its test is missing." in checkpoint.read_text()
        assert '"answer": "SQLite"' in checkpoint.read_text()

        # Meanwhile somebody changes what a command of Claude's had written.
        (pcc.project / "settings.ini").write_text("database = other\n")

        # 5. It resumes by itself with what it knew, and 6. tells of its end.
        assert pcc.wait(session, within=90)["status"] == "COMPLETED"
        wait_until(lambda: any("completed" in body for body in webhook.bodies), within=60)

    # 2. Reads and writes are let through, 3. the question is the brain's.
    decided = pcc.events(session, "ToolDecided")
    assert {event["tool"] for event in decided} >= {"Read", "Write", "Bash"}
    assert {event["verdict"] for event in decided} == {"allow"}
    [answered] = pcc.events(session, "QuestionAnswered")
    assert answered["answers"] == {"Which database should the API use?": "SQLite"}
    assert answered["decided_by"] == "brain"
    # 5. In the same conversation, at the reset, told of the difference.
    first, second = pcc.events(session, "RunStarted")
    assert (first["resumed"], second["resumed"]) == (False, True)
    assert first["claude_session"] == second["claude_session"]
    assert 0 <= second["at"] - limited["resumes_at"] < 10
    told = transcript(pcc, session).read_text()
    assert "settings.ini: changed" in told
    assert "api.py: changed" not in told
    # 6. And what it built works.
    assert [event["state"] for event in pcc.events(session, "TaskSettled")] == ["waiting", "done"]
    assert "The REST API is built" in pcc.events(session, "TaskSettled")[-1]["result"]
