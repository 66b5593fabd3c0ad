"""Outside git a project is walked once; then each change is seen by what it must touch."""

import subprocess
import time

import pytest

from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.scan.remembered import SeenFolders, read_note
from perpetualcc.store.index.opening import open_pipeline

TICK = 0.06
"""Seconds, until a time on disk proves that nothing happened since."""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "home/.config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "project"
    (folder / "src/deep").mkdir(parents=True)
    (folder / "src/lion.py").write_text("def lion():\n    return 1\n")
    (folder / "src/deep/tiger.py").write_text("def tiger():\n    return 1\n")
    (folder / "src/zebra.log").write_text("zebra\n")
    (folder / "src/large.txt").write_text("okapi\n" * 50_000)
    (folder / ".gitignore").write_text("*.log\n")
    return folder


@pytest.fixture
def pipeline(project):
    opened = open_pipeline(project)
    time.sleep(TICK)
    opened.index_project()
    return opened


def found(pipeline, query):
    return [result.file_path for result in pipeline.retrieve(query)]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_file_edited_in_place_is_found_without_a_walk(project, pipeline, monkeypatch, fresh):
    (project / "src/lion.py").write_text("def giraffe():\n    return 1\n")
    monkeypatch.delattr(CodebaseIndexer, "look")

    asked = open_pipeline(project) if fresh else pipeline
    report = asked.index_project()

    assert report.changed == 1
    assert found(asked, "giraffe") == ["src/lion.py"]


def test_nothing_is_read_or_walked_when_nothing_changed(pipeline, monkeypatch):
    monkeypatch.delattr(CodebaseIndexer, "look")
    monkeypatch.delattr(CodebaseIndexer, "read")

    assert pipeline.index_project().changed == 0


def _new_file(project):
    (project / "src/deep/giraffe.py").write_text("def giraffe():\n    return 1\n")


def _new_name(project):
    (project / "src/lion.py").rename(project / "src/giraffe.py")


def _new_folder(project):
    (project / "giraffe").mkdir()
    (project / "giraffe/long.py").write_text("def neck():\n    return 1\n")


def _rule_edited_in_place(project):
    (project / "src/zebra.log").write_text("giraffe\n")
    (project / ".gitignore").write_text("*.tmp\n")


def _huge_file_becomes_small(project):
    (project / "src/large.txt").write_text("giraffe\n")


def _replaced_by_a_rename(project):
    (project / "new.py").write_text("def giraffe():\n    return 1\n")
    (project / "new.py").replace(project / "src/lion.py")


def _git_makes_its_own_list(project):
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / "src/lion.py").write_text("def giraffe():\n    return 1\n")


@pytest.mark.parametrize(
    "change",
    [
        _new_file,
        _new_name,
        _new_folder,
        _rule_edited_in_place,
        _huge_file_becomes_small,
        _replaced_by_a_rename,
        _git_makes_its_own_list,
    ],
)
def test_whatever_else_changes_is_found_by_a_walk(project, pipeline, change):
    change(project)

    pipeline.index_project()

    assert found(pipeline, "giraffe")


def test_a_rule_of_the_user_and_a_file_that_went_are_followed(project, pipeline, tmp_path):
    (tmp_path / "home/.config/git/ignore").write_text("tiger.py\n")
    pipeline.index_project()
    (project / "src/lion.py").unlink()
    pipeline.index_project()

    assert found(pipeline, "tiger") == []
    assert found(pipeline, "lion") == []


def test_a_folder_that_changed_in_the_same_tick_is_walked_again(project):
    pipeline = open_pipeline(project)
    (project / "src/okapi.py").write_text("def gnu():\n    pass\n")
    pipeline.index_project()
    (project / "src/giraffe.py").write_text("def giraffe():\n    pass\n")

    pipeline.index_project()

    assert found(pipeline, "giraffe") == ["src/giraffe.py"]


def test_what_was_seen_comes_back_from_a_note_and_too_much_of_it_is_not_kept(tmp_path):
    seen = SeenFolders(began_ns=7, folders={"": 1, "a\udcff": 2})
    seen.remember_strays([tmp_path, tmp_path / "none"])

    assert read_note(seen.to_note()) == seen
    assert read_note("") is None
    seen.remember_strays(tmp_path / str(number) for number in range(1_001))
    assert seen.to_note() == ""
