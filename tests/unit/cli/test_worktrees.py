"""`pcc worktrees`: what is merged and committed, and used by nobody, may go."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import worktrees
from perpetualcc.cli.main import app
from perpetualcc.cli.worktree import worktree_of
from tests.repositories import git


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = tmp_path / "a project"
    made.mkdir()
    (made / "a.py").write_text("1")
    (made / ".gitignore").write_text(".env")
    git(made, "init", "-q")
    git(made, "add", "a.py", ".gitignore")
    git(made, "commit", "-qm", "one")
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def pcc(tmp_path):
    def run(*words: str):
        done = CliRunner().invoke(app, ["--data-dir", str(tmp_path / "data"), *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def kept(pcc) -> dict[str, list[str]]:
    return {one["name"]: one["keeps"] for one in json.loads(pcc("worktrees", "--json"))}


def test_what_is_not_committed_not_merged_locked_or_in_use_stays(repository, pcc, monkeypatch):
    made = {
        name: worktree_of(repository, name)
        for name in ("done", "new", "ahead", "locked", "busy", "here", "gone")
    }
    (made["done"] / ".env").write_text("ignored")
    (made["new"] / "b.py").write_text("2")
    (made["new"] / "a.py").write_text("2")
    git(made["ahead"], "commit", "-qm", "two", "--allow-empty")
    git(repository, "worktree", "lock", "--reason", "on a stick", str(made["locked"]))
    busy = ("s-1", "PAUSED", made["busy"])
    monkeypatch.setattr("perpetualcc.store.recorded.open_sessions", lambda _: [busy])
    monkeypatch.chdir(made["here"])
    made["gone"].rename(repository.parent / "elsewhere")

    assert kept(pcc) == {
        "ahead": ["1 commit not merged"],
        "busy": ["session s-1 is paused"],
        "done": [],
        "gone": ["gone; git worktree prune"],
        "here": ["you are in it"],
        "locked": ["locked: on a stick"],
        "new": ["2 files not committed"],
    }
    told = pcc("worktrees")
    assert "1 worktree may go, 0.0 MB: pcc worktrees --remove" in told

    removed = pcc("worktrees", "--remove")

    assert removed == "Removed done, 0.0 MB\n"
    assert {one.name for one in made["done"].parent.iterdir() if one.is_dir()} == {
        "new", "ahead", "locked", "busy", "here",
    }  # fmt: skip
    assert "worktree-done" not in git(repository, "branch", "--list")
    assert "worktree-new" in git(repository, "branch", "--list")


def test_nothing_is_removed_that_git_finds_worth_keeping_at_the_last_moment(
    repository, pcc, monkeypatch
):
    made = worktree_of(repository, "late")
    monkeypatch.setattr(worktrees, "_changed", lambda *_: 0)
    (made / "b.py").write_text("2")

    assert pcc("worktrees", "--remove") == "None went. See why with: pcc worktrees\n"
    assert (made / "b.py").exists()


@pytest.mark.usefixtures("repository")
def test_a_project_without_worktrees_says_how_to_begin(pcc):
    assert pcc("worktrees") == "No worktrees. Begin with one: pcc start --worktree NAME\n"
    assert json.loads(pcc("worktrees", "--json")) == []


def test_filters_of_the_repository_are_not_run(repository, pcc, tmp_path):
    made = worktree_of(repository, "one")
    ran = tmp_path / "ran"
    git(repository, "config", "filter.x.clean", f"touch '{ran}'; cat")
    (repository / ".git" / "info" / "attributes").write_text("*.py filter=x")

    os.utime(made / "a.py", (0, 0))  # whether it changed is seen in what is in it only
    assert kept(pcc) == {"one": []}
    assert pcc("worktrees", str(repository), "--remove") == "Removed one, 0.0 MB\n"
    assert not ran.exists()


def test_what_may_go_goes_with_the_command_that_is_shown(repository, pcc, monkeypatch):
    worktree_of(repository, "one")
    monkeypatch.chdir(repository.parent)

    assert "0.0 MB: pcc worktrees 'a project' --remove\n" in pcc("worktrees", "a project")
