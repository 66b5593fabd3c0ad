"""Each brain answers a question of the real Claude Code, and is cut off in the middle."""

from dataclasses import replace

import pytest

from tests.fakes.model_server import Mood, model_server

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

SCENE = """
steps:
  - say: One thing first.
    ask:
      - question: Which database should I use?
        header: Database
        options: [PostgreSQL, SQLite, MySQL]
  - tools:
      - Write: {file_path: "{project}/decided.md", content: "decided"}
    expect: PostgreSQL
  - say: It is written down.
"""
REQUIREMENTS = (
    "# Project: Shop\n\n## Tasks\n- [ ] Build it\n\n## Preferences\n- Database: PostgreSQL\n"
)
REPLY = {
    "labels": ["PostgreSQL"],
    "confidence": 0.95,
    "reasoning": "It is preferred",
    "quote": "Database: PostgreSQL",
}
MODELS = ["claude", "gemini", pytest.param("ollama", marks=pytest.mark.soak)]
"""Gemini and Ollama differ on the wire only, which the contract tests play in full."""


@pytest.fixture
def service():
    with model_server() as server:
        server.reply = REPLY
        yield server


def with_brain(pcc, brain: str, server):
    """That installation with this brain; everything it asks goes to the loopback service."""
    config = pcc.locations.data.parent / "config.toml"
    config.write_text(
        config.read_text()
        + f'[brain]\ntype = "{brain}"\n'
        + "[brain.claude]\ntimeout = 30\n"
        + f'[brain.gemini]\napi_key = "k-123"\nmodel = "tiny"\nbase_url = "{server.url}"\n'
        + f'[brain.ollama]\nmodel = "tiny"\nhost = "{server.url}"\n'
    )
    if brain != "claude":
        return pcc
    # Claude has one address; the service passes on what the session's own Claude asks.
    server.behind = pcc.environment["ANTHROPIC_BASE_URL"]
    own = {"ANTHROPIC_BASE_URL": server.url, "CLAUDE_CODE_MAX_RETRIES": "0"}
    return replace(pcc, environment={**pcc.environment, **own})


def begin(pcc, tmp_path) -> str:
    requirements = tmp_path / "plan.md"
    requirements.write_text(REQUIREMENTS)
    place = str(pcc.project)
    said = pcc.pcc("start", place, "--requirements", str(requirements), "--detach").stdout
    return said.split()[2]


def the_answer(pcc, session: str):
    assert pcc.wait(session, within=90)["status"] == "COMPLETED", pcc.log(session)
    assert (pcc.project / "decided.md").exists()
    return pcc.events(session, "QuestionAnswered")[-1]


@pytest.mark.parametrize("brain", MODELS)
def test_a_model_answers_and_the_line_it_rests_on_is_shown(install, service, tmp_path, brain):
    pcc = with_brain(install(SCENE), brain, service)

    session = begin(pcc, tmp_path)

    answered = the_answer(pcc, session)
    assert service.asked, "the model was never asked"
    assert (answered["decided_by"], answered["confidence"]) == ("brain", 0.95)
    shown = pcc.pcc("status", session, "--show-decisions").stdout
    assert "Database: PostgreSQL" in " ".join(shown.split())
    runs = sum(one["tokens_in"] + one["tokens_out"] for one in pcc.events(session, "RunEnded"))
    beside = pcc.json("budget")["today"]["tokens"] - runs
    # Of Claude's requests Claude Code itself says what they used.
    assert beside == {"ollama": 0, "gemini": service.tokens, "claude": 150}[brain]
    assert pcc.look(session)["spent"]["tokens"] == runs + beside


@pytest.mark.parametrize("brain", MODELS)
def test_a_model_that_is_cut_off_in_the_middle_leaves_the_question_to_the_rules(
    install, service, tmp_path, brain
):
    service.mood = Mood.CUT
    pcc = with_brain(install(SCENE), brain, service)

    session = begin(pcc, tmp_path)

    answered = the_answer(pcc, session)
    assert service.asked, "the model was never asked"
    assert answered["decided_by"] == "brain"
    assert answered["confidence"] == 0.9
    assert "plan.md:7" in answered["reason"]


def test_a_second_brain_is_asked_before_a_person_is(install, service, tmp_path):
    service.reply = {**REPLY, "confidence": 0.4}
    with model_server() as stronger:
        stronger.reply = REPLY
        pcc = with_brain(install(SCENE), "gemini", service)
        pcc.pcc("config", "set", "brain.second", "ollama:tiny")
        pcc.pcc("config", "set", "brain.ollama.host", stronger.url)

        answered = the_answer(pcc, begin(pcc, tmp_path))

    assert "Which database" in str(service.asked[0])
    assert "Which database" in str(stronger.asked[0])
    assert answered["confidence"] == 0.95
    assert answered["reason"].endswith("(second opinion: ollama:tiny)")


MANY = """
usage: {input: 10, output: 1}
steps:
  - repeat: 10
    steps:
      - ask:
          - question: "Which database does part {n} use?"
            header: Part
            options: [MySQL, PostgreSQL]
  - say: All parts have one.
"""


def test_a_task_ends_in_the_middle_when_its_brain_has_used_up_its_budget(install, service):
    pcc = with_brain(install(MANY), "gemini", service)
    pcc.pcc("budget", "set", "task_tokens", "800")

    session = pcc.start("Divide the shop", "--unattended")

    assert "task_tokens is used up" in pcc.wait(session, within=90)["detail"]
    assert 3 < len(service.asked) < 8


def test_the_rules_answer_also_when_the_engine_is_killed_at_the_question(install, tmp_path):
    pcc = install(SCENE)
    session = begin(pcc, tmp_path)
    pcc.wait_for_event(session, "QuestionAsked")

    pcc.kill_engine()

    answered = the_answer(pcc, session)
    assert answered["decided_by"] == "brain"
    assert "plan.md:7" in answered["reason"]
