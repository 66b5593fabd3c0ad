"""
What a task waits for before it begins: a snapshot of 50,000 files, a hundred of them changed or
new, beside `git status` in the same repository.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.sessions.snapshots import taking
from perpetualcc.sessions.snapshots.repository import repository_of

FILES, FOLDERS, TOUCHED = 50_000, 500, 100
ROUNDS = 5


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        project = (Path(folder) / "project").resolve()
        _make(project)
        private = Path(folder) / "index"
        looked, taken = [], []
        for number in range(ROUNDS):
            _touch(project, number)
            looked.append(_timed(lambda: _git(project, "status", "--porcelain", "-uall")))
            taken.append(_timed(lambda: _take(project, private)))
    return [
        Result(
            name=f"a snapshot of {FILES:,} files beside git status",
            value=min(taken) / min(looked),
            unit="times",
            limit=4.0,
            note=f"{min(taken) * 1000:.0f} ms, git status {min(looked) * 1000:.0f} ms",
        )
    ]


def _take(project: Path, private: Path) -> None:
    """As the daemon does it, from the first question to the ref."""
    found = repository_of(project)
    if found is None:
        message = "the repository is not found"
        raise RuntimeError(message)
    taken = taking.take(found, private)
    made = taking.commit(found, taken, found.head(), "a snapshot")
    taking.keep(found, "refs/pcc/bench/t-1", made)


def _make(project: Path) -> None:
    for number in range(FILES):
        file = project / f"d{number % FOLDERS:03}" / f"f{number:05}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"number = {number}\n")
    _git(project, "init", "--quiet")
    _git(project, "add", "-A")
    _git(project, "commit", "--quiet", "-m", "all")


def _touch(project: Path, round_: int) -> None:
    for number in range(TOUCHED // 2):
        (project / f"d{number:03}" / f"f{number:05}.py").write_text(f"changed = {round_}\n")
        (project / f"new-{number}.py").write_text(f"new = {round_}\n")


def _git(project: Path, *words: str) -> None:
    own = ("-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "gc.auto=0")
    command = ["git", "-C", str(project), *own, *words]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"LC_ALL": "C"})


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
