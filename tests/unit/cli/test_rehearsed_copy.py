"""What a rehearsal does to its copy never reaches the project, and what is trusted is trusted."""

import subprocess
from pathlib import Path

import pytest

from perpetualcc.cli.rehearse import _trusted
from perpetualcc.cli.stage import copied
from perpetualcc.permissions.trust import content_hash, read_watched_files
from perpetualcc.store.recorded import Recorded

SETTINGS = '{"hooks": {}}'


def git(place: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *who, *words], cwd=place, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path) -> Path:
    place = tmp_path / "shop"
    (place / ".claude").mkdir(parents=True)
    (place / ".claude/settings.json").write_text(SETTINGS)
    (place / "a.py").write_text("a = 1\n")
    git(place, "init", "--quiet", "--initial-branch=main")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message=one")
    return place


@pytest.fixture
def worktree(project) -> Path:
    git(project, "worktree", "add", "--quiet", "-b", "feature", ".claude/worktrees/feature")
    return project / ".claude/worktrees/feature"


@pytest.fixture
def submodule(project, tmp_path) -> Path:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "submodule", "--quiet", "add", str(project), "inner")
    return outer / "inner"


@pytest.mark.parametrize("kind", ["project", "worktree", "submodule"])
def test_a_commit_in_the_copy_is_none_of_the_project(kind, request, tmp_path):
    real = request.getfixturevalue(kind)
    before = git(real, "log", "--all"), git(real, "status", "--short", "--branch")
    copy = tmp_path / "copy"

    copied(real, copy)
    unchanged = git(copy, "status", "--short", "--branch", "--untracked-files=no")
    (copy / "b.py").write_text("b = 2\n")
    git(copy, "add", "b.py")
    git(copy, "commit", "--quiet", "--message=rehearsed")

    assert unchanged.split("...")[0].strip() == before[1].splitlines()[0].split("...")[0]
    assert git(copy, "log", "--format=%s").split() == ["rehearsed", "one"]
    assert (git(real, "log", "--all"), git(real, "status", "--short", "--branch")) == before


def test_other_worktrees_are_not_in_the_copy(project, worktree, tmp_path):
    git(project, "worktree", "add", "--quiet", "-b", "more", "elsewhere/more")
    copy = tmp_path / "copy"

    copied(project, copy)

    assert not (copy / worktree.relative_to(project)).exists()
    assert not (copy / "elsewhere/more").exists()
    assert len(git(copy, "worktree", "list").splitlines()) == 1


def test_what_is_trusted_of_a_project_is_trusted_in_the_copy_of_a_worktree(project, worktree):
    home = content_hash(read_watched_files(project))
    here = Path("/copy")

    known = Recorded(trust={project: home})

    assert _trusted(known, worktree, here) == {here: home}
    assert _trusted(known, project, here) == {here: home}
    assert _trusted(Recorded(), worktree, here) == {}
    (worktree / ".mcp.json").write_text("{}")
    assert _trusted(known, worktree, here) == {}
