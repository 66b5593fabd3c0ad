"""What another machine may say in the place of an answer: a program stands where `ssh` does."""

import os
import sys
import time
from types import SimpleNamespace

import pytest

from perpetualcc.cli import machines, on, other_machines
from perpetualcc.cli.other_machines import Said
from perpetualcc.config.file import load_config
from perpetualcc.domain.errors import PerpetualError

ANSWER = '[{"status": "COMPLETED", "resumes_at": null, "detail": ""}]'
WARNING = "@@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@@\nHost key failed.\r\n"


@pytest.fixture
def box(tmp_path, monkeypatch):
    """`box(script)`: what `ssh` does from now on; `$line` is what it is to run there."""

    def make(script: str) -> None:
        ssh = tmp_path / "ssh"
        ssh.write_text(f"#!/bin/sh\nfor line; do :; done\n{script}\n")
        ssh.chmod(0o755)

    there = tmp_path / "there/pcc"
    there.parent.mkdir()
    there.write_text(f"#!/bin/sh\n[ $# -gt 0 ] && printf '%s\\n' '{ANSWER}'\n")
    there.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("THERE", str(there.parent))
    return make


def ask():
    return other_machines._ask("box", ["list", "--json"])


def counted():
    return machines._counts(ask())


def test_what_a_login_says_by_itself_is_no_part_of_the_answer(box):
    box('echo "Welcome [{"; PATH="$THERE:$PATH" exec sh -c "$line"')

    assert counted() == {"machine": "box", "sessions": {"completed": 1}}


def test_a_machine_that_says_nothing_more_keeps_nobody_waiting(box, monkeypatch):
    box("echo pcc begins; exec sleep 60")
    monkeypatch.setattr(other_machines, "_PATIENCE", 0.5)
    began = time.monotonic()

    found = ask()

    assert time.monotonic() - began < 20
    assert found.code != 0
    assert "'box' has not answered" in found.problem.message


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo This account is closed.", "'box' runs no command: This account is closed."),
        ("exit 0", "'box' runs no command"),
        (f"printf '{WARNING}' >&2; exit 255", "'box' is not reached: Host key failed."),
        ("echo bash: pcc: not found >&2; exit 127", "'box' has no pcc"),
    ],
)
def test_where_no_pcc_answers_the_reason_is_said_in_a_line(box, script, told):
    box(script)

    assert ask().problem.message == told
    assert counted() == {"machine": "box", "error": told}


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (f'{sys.executable} -c "print(100000 * chr(91))"', "[" * 199 + "…"),
        ("head -c 3000000 /dev/zero | tr '\\0' x", "x" * 199 + "…"),
        ("printf 'error: It gave up\\nhint:  Try again\\n' >&2; exit 1", "It gave up"),
        ("printf '\\033[2Jhalf \\303'", "�[2Jhalf �"),
        ("exit 3", "It ends with code 3"),
    ],
)
def test_what_is_no_answer_is_told_as_one_line(box, script, told):
    box(f"echo pcc begins; {script}")

    assert counted() == {"machine": "box", "error": told}
    assert on._data(ask()) == {"error": told}


@pytest.mark.parametrize("answer", ['[{"status": "DREAMING"}]', "[null]", "5", '{"sessions": []}'])
def test_a_version_that_says_it_otherwise_is_called_one(box, answer):
    box(f"echo pcc begins; echo '{answer}'")

    assert "another version" in counted()["error"]


def test_of_what_steers_a_terminal_only_colours_arrive(box):
    box(r"printf 'pcc begins\r\n\033[1;31mred\033[0m\033]0;title\007\033[2J\r\nlast'")

    shown = on._shown(ask())

    assert shown.endswith("\n\x1b[1;31mred\x1b[0m�]0;title��[2J\nlast")


def test_no_ssh_on_the_way_asks_anybody_for_a_password(box):
    """That of a `ProxyJump` is not told to be quiet, and would ask on the terminal."""
    box('echo pcc begins; echo "\\"$SSH_ASKPASS_REQUIRE $SSH_ASKPASS\\""')

    assert on._data(ask()) == "force false"


def test_what_is_too_long_for_any_program_is_said(box):
    box("exit 0")

    with pytest.raises(PerpetualError, match="ssh cannot be started: Argument list too long"):
        other_machines.type_on("box", ["say", "x" * 200_000])


def test_two_machines_that_are_added_at_once_are_both_added(tmp_path, monkeypatch):
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").touch()
    late = Said(host="late", code=0, output="pcc 0.1.0")

    def ask_all(_options, hosts, _words):
        if hosts == ["box"]:  # it takes seconds, in which another is added
            machines.add(SimpleNamespace(obj=None), "late")
        return [late, late]

    monkeypatch.setattr(machines, "ask_all", ask_all)
    machines.add(SimpleNamespace(obj=None), "box")

    assert load_config().machines.hosts == ("late", "box")
