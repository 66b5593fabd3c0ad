"""Worktrees that `pcc start --worktree` makes, with the real git."""

import os
from pathlib import Path

import pytest

from perpetualcc.cli.worktree import worktree_of
from perpetualcc.domain.errors import PerpetualError
from tests.repositories import git


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = tmp_path / "a project"
    (made / "web").mkdir(parents=True)
    (made / "web" / "a.py").write_text("1")
    git(made, "init", "-q")
    git(made, "add", "web")
    git(made, "commit", "-qm", "one")
    return made


def test_a_worktree_begins_with_the_newest_commit_and_is_made_once(repository):
    git(repository, "commit", "-qm", "two", "--allow-empty")

    made = worktree_of(repository, "dark.mode")

    assert made == repository / ".claude" / "worktrees" / "dark.mode"
    assert git(made, "log", "-1", "--format=%s %D") == "two HEAD -> worktree-dark.mode, master\n"
    assert worktree_of(repository, "dark.mode") == made
    assert worktree_of(made, "other") == made.parent / "other", "of the repository, not in it"
    assert git(repository, "status", "--short") == ""


def test_a_folder_of_a_repository_is_that_folder_in_the_worktree(repository):
    made = worktree_of(repository / "web", "dark")

    assert made == repository / ".claude" / "worktrees" / "dark" / "web"
    assert (made / "a.py").is_file()
    (repository / "new").mkdir()
    with pytest.raises(PerpetualError, match="is not in the worktree"):
        worktree_of(repository / "new", "dark")


def test_a_branch_that_was_left_is_gone_on_with(repository):
    made = worktree_of(repository, "dark")
    git(made, "commit", "-qm", "mine", "--allow-empty")
    git(repository, "worktree", "remove", str(made))

    assert git(worktree_of(repository, "dark"), "log", "-1", "--format=%s") == "mine\n"


def test_no_program_of_the_repository_is_run(repository, tmp_path):
    ran = tmp_path / "ran"
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    hook.chmod(0o755)
    worktree_of(repository, "one")
    git(repository, "config", "filter.x.smudge", f"touch '{ran}'")
    git(repository, "config", "filter.x.clean", "cat")
    with pytest.raises(PerpetualError, match="filters") as refused:
        worktree_of(repository, "two")

    assert f"worktree add '{repository}/.claude/worktrees/two'" in refused.value.hint
    assert not ran.exists()


def test_one_that_git_did_not_finish_is_not_worked_in(repository):
    made = worktree_of(repository, "dark")
    (repository / ".git" / "worktrees" / "dark" / "locked").write_text("initializing\n")

    with pytest.raises(PerpetualError, match="has not finished"):
        worktree_of(repository, "dark")
    (repository / ".git" / "worktrees" / "dark" / "locked").write_text("on a stick")
    assert worktree_of(repository, "dark") == made


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x", "a..b", "ä", ".x", "a b", "a\n"])
def test_a_name_is_what_claude_code_takes(repository, name):
    with pytest.raises(PerpetualError, match="cannot be called"):
        worktree_of(repository, name)
    assert not (repository / ".claude").exists()


def test_what_git_refuses_is_said_and_makes_nothing(repository, tmp_path, monkeypatch):
    plain, empty = tmp_path / "plain", tmp_path / "empty"
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "-q")
    for place, words in (
        (plain, "is in no git repository"),
        (empty, "It has no commit yet"),
        (tmp_path / "none", "is not a directory"),
    ):
        with pytest.raises(PerpetualError, match=words):
            worktree_of(place, "dark")
    (repository / ".claude" / "worktrees" / "full").mkdir(parents=True)
    (repository / ".claude" / "worktrees" / "full" / "x").touch()
    with pytest.raises(PerpetualError, match="git makes no worktree") as refused:
        worktree_of(repository, "full")
    assert "already exists" in refused.value.hint
    assert not (empty / ".claude").exists()
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(PerpetualError, match="git cannot be run"):
        worktree_of(repository, "dark")
