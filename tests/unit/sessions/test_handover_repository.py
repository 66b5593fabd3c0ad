"""What git says of a project, also of one that is a folder of a repository."""

import os
import time

import pytest

from perpetualcc.knowledge.scan.listing import list_files
from perpetualcc.sessions.handover.repository import (
    committed_since,
    repository_state,
)
from tests.repositories import git


@pytest.mark.parametrize("place", ["packages/web", "packages/we[b] *", "."])
def test_of_a_folder_of_a_repository_only_its_own_files_and_commits_are_told(tmp_path, place):
    project, other = tmp_path / place, tmp_path / "packages/api"
    for folder in (project, other):
        folder.mkdir(parents=True, exist_ok=True)
    git(tmp_path, "init", "-q")
    for folder in (other, project):
        (folder / "done.py").write_text("x")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", f"In {folder.name}")
    for folder in (other, project):
        (folder / "open.py").write_text("x")

    state = repository_state(project)

    beside = ["packages/api/"] if place == "." else []
    assert sorted(state.changed) == ["open.py", *(f"{one}open.py" for one in beside)]
    assert [one.partition(" In ")[2] for one in state.commits] == [
        project.name,
        *("api" for _ in beside),
    ]
    assert set(committed_since(project, time.time() - 600)) == {
        "done.py",
        *(f"{one}done.py" for one in beside),
    }


def _repository(folder, attributes="*.txt filter=evil"):
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitattributes").write_text(f"{attributes}\n")
    (folder / "a.txt").write_text("a")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "One")
    return folder


def _with_filter(folder, ran, name, key):
    attributes = f"*.txt filter={name}"
    _repository(folder, attributes)
    git(folder, "config", f"filter.{name}.{key}", f"sh -c 'touch {ran}; cat'")
    (folder / "a.txt").write_text("b")
    return folder


def _of_filter(folder, ran):
    return _with_filter(folder, ran, "evil", "clean")


def _of_process(folder, ran):
    return _with_filter(folder, ran, "evil", "process")


def _of_odd_filter(folder, ran):
    _with_filter(folder, ran, "evil", "clean")
    config = folder / ".git/config"
    config.write_text(config.read_text().replace('"evil"', '"e=vil"'))
    (folder / ".gitattributes").write_text("*.txt filter=e=vil\n")
    return folder


def _of_included_filter(folder, ran):
    _repository(folder)
    (folder / "more").write_text(f'[filter "evil"]\n\tclean = "touch {ran}; cat"\n')
    git(folder, "config", "include.path", str(folder / "more"))
    (folder / "a.txt").write_text("b")
    return folder


def _of_monitor(folder, ran):
    _repository(folder)
    (folder.parent / "monitor").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (folder.parent / "monitor").chmod(0o700)
    git(folder, "config", "core.fsmonitor", str(folder.parent / "monitor"))
    return folder


def _of_remote(folder, ran):
    """A partial clone, in which something is missing that its remote is to bring."""
    _repository(folder)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": str(folder),
        "remote.evil.uploadpack": f"touch {ran}; false",
        "protocol.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        git(folder, "config", name, value)
    tree = git(folder, "rev-parse", "HEAD^{tree}").strip()
    (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    return folder


def _of_submodule(folder, ran):
    inner = _of_filter(folder.parent / "inner", ran)
    _repository(folder)
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(folder, "commit", "-qm", "Two")
    git(folder / "sub", "config", "filter.evil.clean", f"sh -c 'touch {ran}; cat'")
    (folder / "sub/a.txt").write_text("c")
    ran.unlink(missing_ok=True)
    return folder


@pytest.mark.parametrize(
    "hostile",
    [
        _of_filter,
        _of_process,
        _of_odd_filter,
        _of_included_filter,
        _of_monitor,
        _of_remote,
        _of_submodule,
    ],
)
def test_no_program_that_a_repository_names_is_run(hostile, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    ran = tmp_path / "ran"
    project = hostile(tmp_path / "project", ran)

    repository_state(project)
    committed_since(project, 0)
    list(list_files(project))

    assert not ran.exists()


def test_a_filter_of_ones_own_settings_is_run(tmp_path, monkeypatch):
    """Without Git LFS, say, every large file would be a changed one."""
    mine = tmp_path / "mine"
    mine.write_text('[filter "upper"]\n\tclean = tr a-z A-Z\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mine))
    project = _repository(tmp_path / "project", "*.txt filter=upper")
    (project / "a.txt").write_text("A")

    assert repository_state(project).changed == ()


@pytest.mark.parametrize("place", ["tools", "api/bin", ""])
def test_a_git_that_the_repository_brought_is_not_run(tmp_path, monkeypatch, place):
    top = tmp_path / "project"
    project = top / "api"
    for folder in (project / "bin", top / "tools", project):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'run'}\n")
        (folder / "git").chmod(0o755)
    git(top, "init", "-q")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{top / place if place else ''}:{os.environ['PATH']}")

    state = repository_state(project)

    assert sorted(state.changed) == ["bin/git", "git"]
    assert not (tmp_path / "run").exists()
