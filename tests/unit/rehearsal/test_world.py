"""A Claude Code process gets a world of its own, and nothing of the one around it."""

import pytest

from perpetualcc.rehearsal import (
    claude_environment,
    isolated_world,
    lay_out_files,
    read_scenario,
)


@pytest.mark.parametrize(
    ("options", "there", "not_there"),
    [
        ({}, "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
        ({"subscription": True}, "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"),
        ({"signed_in": False}, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_world_is_signed_in_the_way_one_asks_for(tmp_path, options, there, not_there):
    variables = claude_environment("http://127.0.0.1:1", tmp_path / "home", **options)

    assert there in variables
    assert not_there not in variables


def test_nothing_is_kept_outside_the_given_home(tmp_path):
    variables = claude_environment("http://127.0.0.1:1", tmp_path / "home")

    assert variables["HOME"] == str(tmp_path / "home")
    assert variables["CLAUDE_CONFIG_DIR"] == str(tmp_path / "home" / ".claude")
    assert (tmp_path / "home").is_dir()


def test_inherited_variables_of_claude_code_do_not_pass(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "real")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.setenv("EDITOR", "vi")

    world = isolated_world("http://127.0.0.1:1", tmp_path)
    environment, overlay = world.environment(), world.overlay

    assert {"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"} <= set(world.unset)
    assert "ANTHROPIC_AUTH_TOKEN" not in environment
    assert "CLAUDE_CODE_USE_BEDROCK" not in environment
    assert environment["EDITOR"] == "vi"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert (overlay["ANTHROPIC_AUTH_TOKEN"], overlay["CLAUDE_CODE_USE_BEDROCK"]) == ("", "")
    assert "EDITOR" not in overlay


def test_a_scenario_brings_its_files_and_overwrites_none(tmp_path):
    scenario = read_scenario({"files": {"mine.txt": "new", "a/b.txt": "b"}, "steps": ["x"]})
    (tmp_path / "mine.txt").write_text("old")

    written = lay_out_files(scenario, tmp_path)

    assert written == [tmp_path / "a" / "b.txt"]
    assert (tmp_path / "a" / "b.txt").read_text() == "b"
    assert (tmp_path / "mine.txt").read_text() == "old"
