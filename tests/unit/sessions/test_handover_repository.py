"""What git says of a project, also of one that is a folder of a repository."""

import subprocess
import time

import pytest

from perpetualcc.sessions.handover.repository import (
    committed_since,
    repository_state,
)


@pytest.mark.parametrize("place", ["packages/web", "packages/we[b] *", "."])
def test_of_a_folder_of_a_repository_only_its_own_files_and_commits_are_told(tmp_path, place):
    def git(*words):
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    project, other = tmp_path / place, tmp_path / "packages/api"
    for folder in (project, other):
        folder.mkdir(parents=True, exist_ok=True)
    git("init", "-q")
    for folder in (other, project):
        (folder / "done.py").write_text("x")
        git("add", "-A")
        git("commit", "-qm", f"In {folder.name}")
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
