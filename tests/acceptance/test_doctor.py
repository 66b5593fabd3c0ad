"""`pcc doctor` tells what is so, and fails where nothing could work."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

from perpetualcc.claude.binary import bundled_claude

pytestmark = [pytest.mark.claude, pytest.mark.timeout(90)]


def configure(pcc, text: str) -> None:
    with (pcc.locations.data.parent / "config.toml").open("a") as file:
        file.write(text)


def doctor(pcc):
    done = pcc.pcc("doctor", check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_a_machine_on_which_all_is_well_passes_also_without_a_sandbox(install, tmp_path):
    pcc = install("steps: [Never.]")
    path = tmp_path / "bin"
    path.mkdir()
    (path / "git").symlink_to(shutil.which("git"))
    pcc.environment["PATH"] = str(path)

    code, said = doctor(pcc)

    assert code == 0, said
    assert "✓ Signed in to Claude: api_key" in said
    assert "✓ Database: none yet" in said
    assert "✗ Sandbox: bwrap and socat missing" in said
    assert "(work goes on without)" in said

    configure(pcc, '[permissions]\nsandbox = "on"\n')
    code, said = doctor(pcc)
    assert code == 1
    assert said.count("Sandbox") == 1
    assert "(work goes on without)" not in said


def test_who_is_not_signed_in_is_told_how(install):
    pcc = install("steps: [Never.]", signed_in=False)

    code, said = doctor(pcc)

    assert code == 1
    assert "✗ Not signed in to Claude: pcc login" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[claude]\nbinary = "/nope/claude"\n', "✗ Claude Code is not at '/nope/claude'"),
        ('[claude]\nbinary = "/bin/true"\n', "✗ '/bin/true' is not Claude Code"),
        ("what is this", "✗ The configuration is no TOML"),
        ("[what]\n", "✗ Unknown key 'what'"),
    ],
)
def test_settings_with_which_nothing_works_fail(install, text, says):
    pcc = install("steps: [Never.]")
    configure(pcc, text)

    code, said = doctor(pcc)

    assert code == 1
    assert says in said


def test_a_damaged_database_fails_with_and_without_a_daemon(install):
    pcc = install("steps: [Never.]")
    pcc.locations.database.write_bytes(b"SQLite format 3\0" + os.urandom(8000))

    code, said = doctor(pcc)
    assert code == 1
    assert "is damaged or is not a database" in said

    assert pcc.pcc("list", check=False).returncode == 1
    code, said = doctor(pcc)
    assert code == 1
    assert "✗ Daemon: gave up: The database" in said


def test_a_database_that_is_well_passes_while_the_engine_works_with_it(install):
    pcc = install("steps: [Never.]")
    pcc.pcc("list")

    code, said = doctor(pcc)

    assert code == 0, said
    assert "✓ Database: perpetualcc.db" in said
    with closing(sqlite3.connect(pcc.locations.database)) as known, known:
        known.execute("PRAGMA user_version = 9999")
    code, said = doctor(pcc)
    assert code == 1
    assert "newer version" in said


def test_the_login_is_that_of_the_claude_code_that_runs(install, tmp_path):
    pcc = install("steps: [Never.]")
    binary = tmp_path / "claude"
    binary.write_text(
        "#!/bin/sh\n"
        'case "$1" in --version) echo "9.9.9 (Claude Code)";; *) echo "$@"; exit 3;; esac\n'
    )
    binary.chmod(0o700)
    configure(pcc, f'[claude]\nbinary = "{binary}"\n')

    done = pcc.pcc("login", "--console", check=False)

    assert (done.returncode, done.stdout) == (3, "auth login --console\n")


def test_the_claude_code_that_came_along_has_that_login(install):
    pcc = install("steps: [Never.]")

    shown = subprocess.run(
        [bundled_claude(), "auth", "login", "--help"],
        env=pcc.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "--console" in shown
