"""Files that changed, whoever changed them and however."""

import os
import time

import pytest

from perpetualcc.sessions.changed_files import changed_files
from tests.repositories import git


@pytest.fixture(params=["git", "no git"])
def project(request, tmp_path):
    """Three files of an hour ago, committed where there is a repository."""
    for name in ("old.py", "edited.py", "removed.py"):
        (tmp_path / name).write_text("before")
        os.utime(tmp_path / name, (time.time() - 3600,) * 2)
    if request.param == "git":
        (tmp_path / ".gitignore").write_text("built/\n")
        os.utime(tmp_path / ".gitignore", (time.time() - 3600,) * 2)
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "before", at="2020-01-01T00:00:00")
    return tmp_path


def test_what_a_command_wrote_is_found_and_what_was_there_before_is_not(project):
    since = time.time() - 60
    (project / "edited.py").write_text("after")
    (project / "lib").mkdir()
    (project / "lib" / "new name.py").write_text("new")
    (project / "node_modules").mkdir()
    (project / ".claude-handover").mkdir()
    (project / ".claude-handover" / "status.txt").write_text("ours")

    found = changed_files(project, since)

    assert set(found) >= {"edited.py", "lib/new name.py"}
    assert not {"old.py", ".claude-handover/status.txt"} & set(found)


@pytest.mark.parametrize("project", ["git"], indirect=True)
def test_in_a_repository_what_is_gone_or_committed_is_found_and_what_is_ignored_is_not(project):
    (project / "removed.py").unlink()
    (project / "built").mkdir()
    (project / "built" / "a.o").write_text("x")
    since = time.time() - 1
    (project / "committed.py").write_text("x")
    git(project, "add", "committed.py")
    git(project, "commit", "-qm", "after", "committed.py")

    assert changed_files(project, since) == ["committed.py", "removed.py"]


@pytest.mark.parametrize("project", ["git"], indirect=True)
@pytest.mark.parametrize(
    ("folder", "told"), [("web", ["web/src.py"]), ("built/web", ["built/web/a.o", "src.py"])]
)
def test_of_a_folder_of_a_repository_the_rules_of_the_repository_say_what_is_left_out(
    project, folder, told
):
    within = project / folder
    (within / "built/web").mkdir(parents=True)
    (within / "web").mkdir()
    (within / "built/web/a.o").touch()
    (within / told[-1]).touch()

    assert changed_files(within, 0.0) == told


def test_the_person_s_own_settings_of_git_hold_and_disturb_nothing(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (home / "ignored").write_text("*.swp\n")
    (home / ".gitconfig").write_text(
        f"[core]\n pager = false\n excludesFile = {home}/ignored\n[color]\n ui = always\n"
        "[log]\n showSignature = true\n[status]\n showUntrackedFiles = no\n"
        "[alias]\n status = !exit 1\n log = !exit 1\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    git(project, "init", "-q")
    (project / "done.py").touch()
    git(project, "add", "-A")
    git(project, "commit", "-qm", "done")
    (project / "a.swp").touch()
    (project / "new.py").touch()

    assert changed_files(project, 0.0) == ["done.py", "new.py"]


def test_a_project_that_is_gone_has_no_files(tmp_path):
    assert changed_files(tmp_path / "nowhere", 0.0) == []


def test_of_a_thousand_files_two_hundred_are_told(tmp_path):
    for number in range(1000):
        (tmp_path / f"{number:04}").touch()

    found = changed_files(tmp_path, 0.0)

    assert len(found) == 200
    assert found[0] == "0000"
