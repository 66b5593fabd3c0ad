"""Which worktree is meant, and what a person is told who means none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app
from perpetualcc.cli.results import meant, refuse_from_within
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.sessions.worktrees.meant import place_of
from tests.repositories import git


def session(project: Path) -> dict[str, str]:
    return {"id": "s-1", "name": "dark", "project": str(project), "status": "COMPLETED"}


@pytest.mark.parametrize(
    ("project", "place"),
    [
        ("/a/api", "/a/api"),
        ("/a/api/.claude/worktrees/x", "/a/api/.claude/worktrees/x"),
        ("/a/api/.claude/worktrees/x/packages/b", "/a/api/.claude/worktrees/x"),
        (
            "/a/.claude/worktrees/x/.claude/worktrees/y/b",
            "/a/.claude/worktrees/x/.claude/worktrees/y",
        ),
    ],
)
def test_all_of_the_worktree_is_meant_and_never_another_place(project, place):
    assert place_of(project) == Path(place)


def test_a_session_in_the_main_working_tree_is_sent_to_diff_and_undo(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    linked = tmp_path.parent / f"{tmp_path.name}-linked"
    git(tmp_path, "commit", "-qm", "one", "--allow-empty")
    git(tmp_path, "worktree", "add", "-q", "--detach", str(linked))
    monkeypatch.chdir(linked)  # it is not taken for what is meant

    with pytest.raises(PerpetualError, match="works in the main working tree itself") as told:
        meant(session(tmp_path))

    assert "pcc diff s-1" in told.value.hint


def test_a_worktree_that_is_gone_is_said_to_be_kept(tmp_path):
    with pytest.raises(PerpetualError, match="is gone") as told:
        meant(session(tmp_path / ".claude" / "worktrees" / "x"))

    assert told.value.hint.endswith("pcc undo s-1 --list")


def test_nobody_removes_the_ground_below_their_feet(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")

    with pytest.raises(PerpetualError, match="You are in"):
        refuse_from_within(tmp_path)


@pytest.mark.parametrize("command", ["accept", "discard"])
def test_a_process_of_a_run_can_neither_take_nor_throw_away(command, tmp_path, monkeypatch):
    monkeypatch.setattr("perpetualcc.claude.processes.is_of_run", lambda *_: True)

    done = CliRunner().invoke(app, ["--data-dir", str(tmp_path), command, "s-1", "--yes"])

    assert isinstance(done.exception, PerpetualError)
    assert done.exception.message.startswith("Only a person ")
