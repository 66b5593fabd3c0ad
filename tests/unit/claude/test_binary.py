"""Which Claude Code runs: one that is another program is noticed before it is used."""

import os
from pathlib import Path

import pytest

from perpetualcc.claude.binary import bundled_claude, chosen_claude, signed_in_with
from perpetualcc.domain.errors import MissingError, PerpetualError


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


def test_the_one_that_came_along_runs_unless_another_is_named(tmp_path):
    own = program(tmp_path / "claude", 'echo "9.9.9 (Claude Code)"')

    assert chosen_claude(None) == bundled_claude()
    assert os.access(bundled_claude(), os.X_OK)
    assert chosen_claude(own) == own


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("exit 0", "is not Claude Code: asked for its version, it says nothing"),
        ("echo claude 3", "is not Claude Code: asked for its version, it says 'claude 3'"),
        ("exit 3", "is not Claude Code"),
    ],
)
def test_another_program_is_refused_with_its_own_words(tmp_path, text, says):
    with pytest.raises(PerpetualError, match=says) as caught:
        chosen_claude(program(tmp_path / "claude", text))

    assert "pcc config set claude.binary" in caught.value.hint


def test_a_file_that_is_no_program_is_refused(tmp_path):
    broken = tmp_path / "claude"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o700)

    with pytest.raises(PerpetualError, match="cannot be started"):
        chosen_claude(broken)


@pytest.mark.parametrize(
    ("said", "manner"),
    [
        ('{"loggedIn": true, "authMethod": "api_key"}', "api_key"),
        ('{"loggedIn": false, "authMethod": "none"}', ""),
        ("{}", None),
        ("error: unknown command auth", None),
        ("[]", None),
    ],
)
def test_who_is_signed_in_is_what_it_says_itself(tmp_path, said, manner):
    binary = program(tmp_path / "claude", f"echo '{said}'")

    assert signed_in_with(binary) == manner


def test_who_is_signed_in_without_a_variable_is_asked_where_it_is_not_set(tmp_path, monkeypatch):
    said = """echo "{\\"loggedIn\\": ${OUR_KEY:-false}, \\"authMethod\\": \\"api_key\\"}\""""
    binary = program(tmp_path / "claude", said)
    monkeypatch.setenv("OUR_KEY", "true")

    assert signed_in_with(binary) == "api_key"
    assert signed_in_with(binary, without=["OUR_KEY"]) == ""


@pytest.mark.parametrize("mode", [None, 0o700])
def test_what_is_not_there_or_a_directory_is_missing(tmp_path, mode):
    binary = tmp_path / "claude"
    if mode is not None:
        binary.mkdir(mode)

    with pytest.raises(MissingError, match="Claude Code is not at"):
        chosen_claude(binary)


@pytest.mark.parametrize(
    ("version", "is_new"), [("0.2.9", False), ("1.0.128", False), ("2.0.0", True)]
)
def test_one_that_is_too_old_is_told_with_its_version(tmp_path, version, is_new):
    own = program(tmp_path / "claude", f'echo "{version} (Claude Code)"')

    if is_new:
        assert chosen_claude(own) == own
    else:
        with pytest.raises(PerpetualError, match=f"is Claude Code {version}") as caught:
            chosen_claude(own)
        assert f"{own} update" in (caught.value.hint or "")


def test_one_that_may_not_be_started_is_not_said_to_be_gone(tmp_path):
    own = program(tmp_path / "my claude", 'echo "9.9.9 (Claude Code)"')
    own.chmod(0o600)

    with pytest.raises(MissingError, match="it is not executable") as caught:
        chosen_claude(own)

    assert caught.value.hint == f"chmod u+x '{own}'"
