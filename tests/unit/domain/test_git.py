"""Nothing that a repository brings is run as git, and nothing leads git elsewhere."""

import os

import pytest

from perpetualcc.cli.worktree import ask_git
from perpetualcc.domain.git import git_environment
from perpetualcc.knowledge.scan.listing import list_files
from tests.repositories import git


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder of a repository that brings a git of its own, which is first on the PATH."""
    top = tmp_path / "top"
    (top / "api").mkdir(parents=True)
    git(top, "init", "-q")
    (top / "git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'run'}\n")
    (top / "git").chmod(0o755)
    (top / "api" / "app.py").write_text("1")
    monkeypatch.setenv("PATH", f"{top}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    return top / "api"


@pytest.mark.parametrize(
    "asked",
    [
        lambda project: ask_git(project, "ls-files", "--others").stdout.split(),
        lambda project: [name for name, _ in list_files(project)],
    ],
)
def test_whoever_asks_gets_the_system_s_git_and_the_repository_that_is_there(
    project, tmp_path, asked
):
    assert asked(project) == ["app.py"]
    assert not (tmp_path / "run").exists()


def test_the_person_s_settings_and_the_rest_of_the_environment_stay(project, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/home/anna/.gitconfig")
    monkeypatch.setenv("GIT_INDEX_FILE", "/elsewhere")

    told = git_environment(project)

    assert told["GIT_CONFIG_GLOBAL"] == "/home/anna/.gitconfig"
    assert told["PATH"] == os.environ["PATH"].partition(":")[2]
    assert set(os.environ) - set(told) == {"GIT_DIR", "GIT_INDEX_FILE"}
