"""What a daemon takes along from the terminal that it is started in."""

import subprocess
import sys
from pathlib import Path

import pytest

import perpetualcc
from perpetualcc.daemon.surroundings import for_a_daemon, for_a_session, offer_programs

PROGRAMS = Path("/data/run/bin")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A clone with its environment, as `make install` makes it."""
    place = tmp_path / "clone/.venv"
    (place / "bin").mkdir(parents=True)
    (place / "bin/pcc").write_text('#!/bin/sh\necho "ours: $@"\n')
    (place / "bin/pcc").chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(place))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(
        perpetualcc, "__file__", str(tmp_path / "clone/src/perpetualcc/__init__.py")
    )
    return place


def test_what_says_where_a_terminal_stands_is_left_behind():
    hook = {"GIT_DIR": "/a/.git", "GIT_INDEX_FILE": "/a/.git/index", "GIT_PREFIX": "x/"}
    kept = {"GIT_SSH_COMMAND": "ssh -i key", "GIT_CONFIG_COUNT": "0", "HOME": "/home/ann"}

    tool = {"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SESSION_ID": "x"}
    assert for_a_daemon(hook | tool | kept | {"PERPETUALCC_RUN": "d:r"}, PROGRAMS) == kept


def test_of_our_own_environment_a_project_is_given_pcc_alone(own, tmp_path):
    link = tmp_path / "way to it"
    link.symlink_to(own / "bin")
    given = {"VIRTUAL_ENV": str(own), "VIRTUAL_ENV_PROMPT": "x", "PATH": f"{link}:/usr/bin::/bin"}

    once = for_a_daemon(given, tmp_path / "bin")
    offer_programs(tmp_path / "bin")
    offer_programs(tmp_path / "bin")

    assert once == {"PATH": f"{tmp_path / 'bin'}:/usr/bin::/bin"}
    assert for_a_daemon(once, tmp_path / "bin") == once
    assert for_a_session(given, tmp_path / "bin") == once
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["pcc"]
    said = subprocess.run([tmp_path / "bin/pcc", "a b"], capture_output=True, text=True, check=True)
    assert said.stdout == "ours: a b\n"


@pytest.mark.usefixtures("own")
def test_the_environment_of_a_project_is_its_sessions_and_not_the_daemon_s():
    theirs = {"VIRTUAL_ENV": "/p/.venv", "PATH": f"/p/.venv/bin:{sys.prefix}"}

    assert for_a_session(theirs | {"HOME": "/home/ann"}, PROGRAMS) == theirs
    assert for_a_daemon(theirs, PROGRAMS) == {"PATH": theirs["PATH"]}


@pytest.mark.usefixtures("own")
def test_where_perpetualcc_was_installed_into_a_project_s_environment_that_stays(monkeypatch):
    given = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin"}
    package = f"{sys.prefix}/lib/python3.11/site-packages/perpetualcc/__init__.py"
    monkeypatch.setattr(perpetualcc, "__file__", package)

    assert for_a_session(given, PROGRAMS) == given
