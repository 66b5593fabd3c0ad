"""Options of `pcc start` that would change nothing are refused before anything is started."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.main import app


@pytest.fixture
def start(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(file))
    monkeypatch.setattr("perpetualcc.cli.start.begin", lambda *_, **__: typer.echo("begun"))

    def run(*options, settings=""):
        file.write_text(settings)
        typed = ["--data-dir", str(tmp_path), "start", str(tmp_path), "--task", "x", *options]
        return CliRunner().invoke(app, typed)

    return run


@pytest.mark.parametrize(
    ("options", "settings", "named"),
    [
        (["--model", "opus"], "", "--claude-model opus"),
        (["--model", "opus", "--brain", "none"], '[brain]\ntype = "claude"', "--claude-model opus"),
        (
            ["--auto-approve"],
            "[permissions]\nauto_approve_low_risk = false",
            "auto_approve_low_risk true",
        ),
    ],
)
def test_an_option_without_effect_is_refused_with_what_was_meant(start, options, settings, named):
    error = start(*options, settings=settings).exception

    assert isinstance(error, Mistyped)
    assert named in error.hint


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--model", "opus", "--brain", "claude"], ""),
        (["--model", "opus"], '[brain]\ntype = "claude"'),
        (["--auto-approve"], ""),
        (["--no-auto-approve"], "[permissions]\nauto_approve_low_risk = false"),
    ],
)
def test_one_with_an_effect_is_not(start, options, settings):
    assert "begun" in start(*options, settings=settings).output


@pytest.mark.parametrize("command", ["start", "perpetual"])
def test_a_task_without_its_option_is_told_of_and_not_begun(command):
    error = CliRunner().invoke(app, [command, "my shop", "do", "it", "--worktree", "x"]).exception

    assert isinstance(error, Mistyped)
    assert error.message == "'do it' belongs to no option"
    assert error.hint.endswith(f"{command} 'my shop' --task 'do it'")


@pytest.mark.parametrize("command", ["start", "perpetual"])
def test_a_long_task_in_the_place_of_the_project_is_told_of(command):
    task = "Build me a shop with a basket " * 20

    error = CliRunner().invoke(app, [command, task]).exception

    assert isinstance(error, Mistyped)
    assert error.hint.endswith(f"{command} --task '{task}'")


def test_a_session_is_begun_and_watched_without_the_tables_of_events_and_tasks():
    """They take a fifth of what the command costs; asyncio as much again."""
    heavy = ["perpetualcc.domain.events", "perpetualcc.domain.tasks", "asyncio", "yaml"]
    code = (
        "import sys, perpetualcc.cli.main, perpetualcc.cli.start, perpetualcc.cli.stream\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_requirements_that_only_the_project_has_are_named_from_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(tmp_path / "mine.toml"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "needs.md").write_text("# Tasks")

    typed = ["--data-dir", str(tmp_path), "start", "./notes", "--requirements", "needs.md"]
    error = CliRunner().invoke(app, typed).exception

    assert isinstance(error, Mistyped)
    assert error.hint == "--requirements notes/needs.md"


def test_words_in_the_place_of_the_project_are_shown_as_the_task():
    error = CliRunner().invoke(app, ["start", "Fix the build"]).exception

    assert isinstance(error, Mistyped)
    assert error.hint == "As the task: pcc start --task 'Fix the build'"


def test_without_a_project_it_is_the_folder_one_is_in(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(tmp_path / "mine.toml"))
    monkeypatch.setattr("perpetualcc.cli.start.begin", lambda *given, **_: begun.append(given))

    typed = ["--data-dir", str(tmp_path), "start", "--task", "x", "--claude-model", "opus"]
    assert CliRunner().invoke(app, typed).exit_code == 0

    _, project, _, options = begun[0]
    assert project == Path()
    assert options["claude_model"] == "opus"
