"""`pcc config`: what cannot be is refused in the words of the person's own file."""

import json

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app


@pytest.fixture
def config(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    # Once `--config` was given, it is set for the whole process.
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(file))

    def run(*words):
        return CliRunner().invoke(app, ["--config", str(file), "config", *words])

    run.file = file
    return run


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("confidence_threshold", "5"),
        ("confidence_threshold", "1.1"),
        ("brain.claude.timeout", "0"),
        ("notifications.urls", "secret-without-a-scheme"),
        ("limits.quiet_hours", "late"),
        ("limits.warn_at", "1.5"),
        ("load.max_cpu", "80"),
        ("load.max_memory", "80"),
        ("human.permission_hours", "1e12"),
        ("human.remind_after", "99999999999d"),
        ("notifications.give_up_hours", "1e12"),
        ("notifications.retry_seconds", "0"),
        ("brain.claude.max_budget_usd", "0"),
    ],
)
def test_a_value_that_cannot_be_leaves_the_file_and_is_told_of_it(config, key, value):
    config.file.write_text("# mine\n[load]\nmax_memory = 0.5\n")

    error = config("set", key, value).exception

    assert f"'{config.file}' stays as it is" in error.message
    assert ".new" not in error.message
    assert "secret" not in error.message
    assert error.hint
    assert config.file.read_text() == "# mine\n[load]\nmax_memory = 0.5\n"
    assert [one.name for one in config.file.parent.iterdir()] == ["mine.toml"]


def test_a_program_that_is_not_there_is_warned_of(config):
    there = config("set", "claude.binary", __file__)
    missing = config("set", "claude.binary", "/nowhere/claude")

    assert there.stderr == ""
    assert missing.stderr == "Warning: there is no file '/nowhere/claude' now\n"
    assert json.loads(config("get", "claude.binary", "--json").stdout) == {
        "claude.binary": "/nowhere/claude"
    }


def test_a_key_is_not_shown_as_json_either(config):
    config("set", "brain.gemini.api_key", "very-secret")

    assert json.loads(config("get", "api_key", "--json").stdout) == {"brain.gemini.api_key": "…"}
