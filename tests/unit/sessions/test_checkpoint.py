"""A checkpoint outlives its conversation, and never lies about the project."""

import json
import os
import stat
from datetime import timedelta
from pathlib import Path
from unicodedata import normalize

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId
from perpetualcc.sessions.checkpoint import (
    Change,
    CheckpointManager,
    KeyDecision,
    SessionState,
    changes_since,
)
from perpetualcc.sessions.progress import list_in_words, todo_items, written_files
from tests.fakes.clock import FakeClock

SESSION = SessionId("abc123")


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    (place / "a.py").write_text("a = 1")
    return place


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def manager(tmp_path, clock):
    return CheckpointManager(tmp_path / "data", clock, retention=timedelta(days=7))


def state(project: Path, **more) -> SessionState:
    given = {
        "session_id": SESSION,
        "project_path": str(project),
        "current_task": "Build it",
        "reason": "the weekly limit",
        "completed_subtasks": ["One"],
        "pending_subtasks": ["Two", "Three"],
        "modified_files": ["a.py", "never.py"],
        "conversation_summary": "Half done.",
        "key_decisions": [KeyDecision(question="Which?", answer="SQLite", rationale="small")],
        "next_action": "Two",
    }
    return SessionState(**(given | more))


def test_what_was_saved_is_read_back_and_private(manager, project, tmp_path):
    saved = manager.save(state(project))

    assert manager.list_checkpoints(SESSION) == [saved]
    assert manager.latest(SESSION, project) == saved
    [file] = (tmp_path / "data" / "checkpoints" / SESSION).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_old_checkpoints_go_also_of_a_session_that_saves_no_more(manager, project, clock, tmp_path):
    manager.save(state(project))
    clock.move(60)
    newest = manager.save(state(project))
    (tmp_path / "data" / "checkpoints" / ".DS_Store").touch()
    manager.forget_old()
    assert len(manager.list_checkpoints(SESSION)) == 2
    clock.move(8 * 86_400)

    manager.forget_old()

    assert manager.list_checkpoints(SESSION) == [newest]


def test_the_prompt_tells_everything_in_the_order_of_the_seed(manager, project):
    prompt = manager.restore(manager.save(state(project)), project)

    told = [prompt.index(text) for text in
            ("CONTEXT RESTORATION", "Build it", "One", "- Two", "Which? → SQLite (because small)",
             "Half done.", "Continue from: Two")]  # fmt: skip
    assert told == sorted(told)
    assert "never.py" not in prompt


def test_a_checkpoint_of_another_project_is_refused(manager, project, tmp_path):
    saved = manager.save(state(project))
    other = tmp_path / "other"
    other.mkdir()

    with pytest.raises(PerpetualError, match="not of"):
        manager.restore(saved, other)


def test_the_newest_is_the_newest_of_this_project(manager, project, clock, tmp_path):
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    link.symlink_to(project)
    saved = manager.save(state(project))
    clock.move(60)
    manager.save(state(other))

    assert manager.latest(SESSION, project) == saved
    assert manager.latest(SESSION, link) == saved
    assert manager.latest(SESSION, tmp_path / "third") is None


def test_files_that_changed_meanwhile_are_told(manager, project):
    (project / "b.py").write_text("b")
    saved = manager.save(state(project, modified_files=["a.py", "b.py", "never.py", "same.py"]))

    (project / "a.py").write_text("a = 2")
    (project / "b.py").unlink()
    (project / "never.py").write_text("now")

    assert changes_since(saved, project) == {
        "a.py": Change.CHANGED,
        "b.py": Change.GONE,
        "never.py": Change.CAME_BACK,
    }
    assert "a.py: changed" in manager.restore(saved, project)


def test_secrets_never_reach_the_disk(manager, project, tmp_path):
    secret = "sk-ant-api03-" + "a1B2" * 8
    saved = manager.save(state(project, current_task=f"Use {secret}", conversation_summary=secret))

    assert secret not in json.dumps([str(saved)])
    files = list((tmp_path / "data").rglob("*.json"))
    assert files
    assert [file for file in files if secret in file.read_text()] == []


def test_old_ones_go_and_the_newest_stays(manager, project, clock):
    manager.save(state(project, reason="old"))
    clock.move(8 * 86400)
    manager.save(state(project, reason="new"))
    assert [one.reason for one in manager.list_checkpoints(SESSION)] == ["new"]

    clock.move(80 * 86400)
    assert manager.latest(SESSION, project).reason == "new"


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'{"version": 1}', b'{"version": 99}', b"\xff\xfe", b"[" * 50_000, None],
)
def test_a_damaged_one_is_left_out_and_the_one_before_it_is_used(
    manager, project, clock, tmp_path, damage
):
    saved = manager.save(state(project))
    clock.move(60)
    manager.save(state(project))
    newest = max((tmp_path / "data" / "checkpoints" / SESSION).iterdir())

    newest.unlink()
    if damage is None:
        os.mkfifo(newest)
    else:
        newest.write_bytes(damage)

    assert manager.latest(SESSION, project) == saved


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", "."])
def test_a_session_id_never_leads_out_of_the_directory(manager, project, name):
    with pytest.raises(PerpetualError):
        manager.save(state(project, session_id=SessionId(name)))


def test_a_directory_that_cannot_be_written_is_told(manager, project, tmp_path):
    (tmp_path / "data").write_text("a file in its place")

    with pytest.raises(PerpetualError, match="cannot be written"):
        manager.save(state(project))


def test_written_files_are_those_of_the_project():
    calls = [
        ("Write", {"file_path": "/p/src/a.py"}),
        ("Edit", {"file_path": "/p/src/a.py"}),
        ("NotebookEdit", {"notebook_path": "/p/n.ipynb"}),
        ("Write", {"file_path": "/elsewhere/x"}),
        ("Write", {"file_path": "/p/../q/x"}),
        ("Write", {}),
        ("Read", {"file_path": "/p/read.py"}),
        ("Write", {"file_path": "relative.py"}),
    ]

    assert written_files(calls, Path("/p")) == ["src/a.py", "n.ipynb", "relative.py"]


def test_a_folder_whose_accents_the_finder_took_apart_is_the_one_that_claude_names():
    finder, claude = (normalize(form, "/Büro/p") for form in ("NFD", "NFC"))

    assert written_files([("Write", {"file_path": f"{claude}/a.py"})], Path(finder)) == ["a.py"]
    assert written_files([("Write", {"file_path": "/Büro/q/a.py"})], Path(finder)) == []


def test_the_task_list_is_claudes_last_one():
    todos = [{"content": "One", "status": "completed"}, {"content": "Two"}, "nonsense"]
    assert todo_items([("TodoWrite", {"todos": []}), ("TodoWrite", {"todos": todos})]) == [
        ("One", "completed"),
        ("Two", "pending"),
    ]
    kept = [
        ("TaskCreate", {"subject": "One"}),
        ("TaskCreate", {"subject": "Two"}),
        ("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
        ("TaskUpdate", {"taskId": "2", "status": "deleted"}),
        ("TaskUpdate", {"taskId": "99", "status": "completed"}),
    ]
    assert todo_items(kept) == [("One", "in_progress")]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], ""),
        ([("a", "completed"), ("b\n c", "in_progress")], "1 of 2 done; now: b c"),
        ([("a", "completed"), ("b", "pending"), ("c", "pending")], "1 of 3 done; next: b"),
        ([("a", "completed")], "1 of 1 done"),
        ([("x" * 5000, "in_progress")], f"0 of 1 done; now: {'x' * 199}…"),
        ([("a", "strange")], "0 of 1 done"),
    ],
)
def test_claudes_list_is_told_in_a_line(items, told):
    assert list_in_words(items) == told
