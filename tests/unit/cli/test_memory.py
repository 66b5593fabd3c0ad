"""`pcc memory`: what it says where nothing is known yet is what its page shows."""

import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app

PAGE = Path(__file__).parents[3] / "docs" / "memory.md"
NO_FACTS = 'No facts are known about this project. Add one with: pcc memory add "…"\n'


def test_a_project_without_facts_is_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.delenv("PERPETUALCC_CONFIG", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / ".editorconfig").write_text("[*]\nindent_size = 2\n")

    said = CliRunner().invoke(
        app, ["--data-dir", str(tmp_path / "data"), "memory", "facts", str(tmp_path)]
    )

    assert said.exit_code == 0
    assert f"$ pcc memory facts ~/shop\n{said.stdout}```\n" in PAGE.read_text()


def test_facts_of_a_folder_that_is_not_there_are_not_those_of_the_one_around_it(tmp_path):
    said = CliRunner().invoke(
        app, ["--data-dir", str(tmp_path / "data"), "memory", "facts", str(tmp_path / "shpo")]
    )

    assert said.exception.message == f"Project path '{tmp_path / 'shpo'}' is not a directory"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`run(*words)`: what `pcc memory` says, or the error, in a project of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("PERPETUALCC_CONFIG", "CLAUDECODE", "PERPETUALCC_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    def memory(*words):
        said = CliRunner().invoke(app, ["--data-dir", str(tmp_path / "data"), "memory", *words])
        return said.stdout or said.exception.message

    return memory


def test_a_fact_is_known_from_its_adding_to_its_forgetting(run, monkeypatch):
    today = time.strftime("%Y-%m-%d")

    assert run("add", "Sessions live\n in Redis", "--category", "decision") == (
        "Noted: Sessions live in Redis #1\n"
    )
    assert run("facts") == (f"decision     user       Sessions live in Redis (you, {today}) #1\n")
    assert run("facts", "data") == NO_FACTS
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("forget", "1") == "Only a person forgets what is true here"
    monkeypatch.delenv("CLAUDECODE")
    assert run("forget", "1") == "Forgotten: Sessions live in Redis\n"
    assert run("facts") == NO_FACTS
    assert run("forget", "1") == "No fact has the number 1"


def test_what_is_no_fact_of_a_person_is_not_added(run, monkeypatch):
    assert run("add", "Use tabs", "--category", "preference") == "What you prefer is a rule"
    assert run("add", " … ") == "A fact needs words"
    assert run("add", "x", "--project", "nowhere").endswith("'nowhere' is not a directory")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("add", "Keys may be printed") == "Only a person says what is true here"
    assert run("facts") == NO_FACTS
