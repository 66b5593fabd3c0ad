"""Parsing in processes of its own, whatever the program is that asks for it."""

import os
import subprocess
import sys

import pytest

from perpetualcc.knowledge import workers
from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.parse.layout import ProjectLayout


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(150):
        (folder / f"m{number:03}.py").write_text(f"def animal_{number}():\n    return {number}\n")
    return folder


@pytest.fixture
def run_script(tmp_path):
    """A user's own program, in a folder of its own."""

    def run(text, *, timeout=50):
        script = tmp_path / "own" / "script.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "CLAUDE"))}
        return subprocess.run(
            [sys.executable, str(script)],
            cwd=script.parent,
            env=kept | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
        )

    return run


PLAIN = """
from pathlib import Path
from perpetualcc.store.index.opening import open_pipeline

print("begin")
pipeline = open_pipeline(Path({project!r}))
print(pipeline.index_project().changed)
print(pipeline.retrieve("animal 77")[0].file_path)
"""


def test_a_script_without_a_main_guard_indexes_and_runs_once(run_script, project):
    run = run_script(PLAIN.format(project=str(project)))

    assert run.stdout.split() == ["begin", "150", "m077.py"]
    assert run.stderr == ""


def test_a_script_that_is_also_named_like_a_module_of_the_library_indexes(run_script, project):
    """Workers import what the script does, not what lies in the folder it is run in."""
    (project.parent / "own").mkdir()
    for name in ("perpetualcc", "pickle", "socket"):
        (project.parent / f"own/{name}.py").write_text("raise SystemExit('not this one')\n")

    run = run_script("import sys\ndel sys.path[0]\n" + PLAIN.format(project=str(project)))

    assert run.stdout.split() == ["begin", "150", "m077.py"]


DEADLY = """
import sys
from pathlib import Path
sys.path.insert(0, {modules!r})
from perpetualcc.knowledge.indexer import CodebaseIndexer

print(len(CodebaseIndexer(Path({project!r}), workers=2).scan()))
"""


def test_a_file_that_ends_its_worker_is_left_out_and_no_other(run_script, project, tmp_path):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/tree_sitter_ruby.py").write_text("import os\nos._exit(7)\n")
    for name in ("a.rb", "m100x.rb"):
        (project / name).write_text("def walrus\nend\n")

    run = run_script(DEADLY.format(modules=str(tmp_path / "modules"), project=str(project)))

    assert run.stdout == "150\n"
    assert sorted(line.split()[0] for line in run.stderr.splitlines()) == ["a.rb", "m100x.rb"]


@pytest.mark.parametrize("interpreter", ["", "/nowhere/python", "/bin/true"])
def test_where_no_worker_starts_this_process_parses(project, monkeypatch, interpreter):
    monkeypatch.setattr(sys, "executable", interpreter)

    found = CodebaseIndexer(project, workers=2).scan()

    assert len(found) == 150


def test_a_scan_that_is_given_up_leaves_no_worker(project, monkeypatch):
    started = []

    class Watched(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(workers.subprocess, "Popen", Watched)
    paths = sorted(path.name for path in project.iterdir())
    scan = workers.parse_in_processes(project, paths, ProjectLayout(), processes=2)
    next(scan)

    scan.close()

    assert started
    assert all(process.returncode is not None for process in started)
