"""`pcc memory`: what it says where nothing is known yet is what its page shows."""

from pathlib import Path

from typer.testing import CliRunner

from perpetualcc.cli.main import app

PAGE = Path(__file__).parents[3] / "docs" / "memory.md"


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
