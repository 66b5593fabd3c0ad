"""`pcc accept`: what is made of a branch, as a person asks for it, and what is refused."""

import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app
from perpetualcc.cli.worktree import worktree_of
from perpetualcc.domain.locations import Locations
from tests.repositories import git


class Daemon:
    """Knows one session, and who is at work."""

    def __init__(self, place: Path) -> None:
        self.place, self.main, self.busy = place, place.parents[2], ""
        self.told: list[tuple[str, dict]] = []
        self.files: list[str] = []
        """What was in the main working tree at each telling."""

    def call(self, method: str, **params):
        match method:
            case "folder.at_work":
                is_there = params["folder"] == self.busy
                return [{"id": "s-2", "name": "other", "status": "PROCESSING"}] * is_there
            case "session.get":
                tasks = [{"prompt": "Make it dark\nand nice"}]
                named = {"id": "s-1", "name": "dark", "project": str(self.place)}
                return {**named, "status": "COMPLETED", "tasks": tasks}
            case "result.tell":
                self.told.append((params["kind"], params["facts"]))
                self.files.append((self.main / "app.py").read_text())
                return {}
            case "session.list":
                return [{"id": "s-3", "name": "later", "status": "IDLE"}]
        raise AssertionError(method)


@pytest.fixture
def main(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = (tmp_path / "main").resolve()
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Anna")
    git(place, "config", "user.email", "anna@example.com")
    (place / "app.py").write_text("1\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "first")
    return place


@pytest.fixture
def there(main) -> Path:
    place = worktree_of(main, "dark")
    for number in ("2", "3"):
        (place / "app.py").write_text(f"{number}\n")
        git(place, "commit", "-qam", f"step {number}")
    return place


@pytest.fixture
def daemon(there, monkeypatch) -> Daemon:
    made = Daemon(there)

    @contextmanager
    def connect(_options, **_more):
        yield made

    monkeypatch.setattr("perpetualcc.cli.accept.connect", connect)
    return made


@pytest.fixture
def accept(daemon, tmp_path):
    Locations(data=tmp_path / "data").prepare()

    def run(*words: str) -> str:
        assert daemon.place.is_dir()
        command = ["--data-dir", str(tmp_path / "data"), "accept", "s-1", "--yes", *words]
        done = CliRunner().invoke(app, command)
        if done.exception is not None:
            return f"{done.exception.message}; {done.exception.hint}"
        return done.output

    return run


def history(main: Path) -> list[str]:
    return git(main, "log", "--first-parent", "--format=%s").splitlines()


def moved_on(main: Path) -> None:
    (main / "other.py").write_text("mine\n")
    git(main, "add", "other.py")
    git(main, "commit", "-qm", "meanwhile")


ALONG = ["step 3", "step 2", "first"]
MERGED = ["Merge branch 'worktree-dark'", "first"]


@pytest.mark.parametrize(
    ("words", "setting", "wanted"),
    [
        ((), "", ALONG),
        ((), "only", ALONG),
        ((), "false", MERGED),
        (("--message", "Dark"), "", ["Dark", "first"]),
        (("--squash",), "", ["Make it dark", "first"]),
        (("--squash", "-m", "Dark"), "only", ["Dark", "first"]),
    ],
)
def test_what_is_made_where_nothing_else_was_committed(main, accept, words, setting, wanted):
    if setting:
        git(main, "config", "merge.ff", setting)

    assert accept(*words).startswith("Merged worktree-dark into main: 1 file, now ")

    assert history(main) == wanted
    assert (main / "app.py").read_text() == "3\n"
    assert git(main, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), "Merge branch 'worktree-dark' into release"),
        (("--squash",), "Make it dark\n\n* step 2\n* step 3"),
    ],
)
def test_what_is_made_where_something_else_was_committed(main, accept, words, wanted):
    git(main, "switch", "-q", "-c", "release")
    moved_on(main)

    accept(*words)

    assert git(main, "log", "-1", "--format=%B").strip() == wanted
    assert history(main)[1:] == ["meanwhile", "first"]
    assert accept(*words).startswith("Nothing to merge: worktree-dark is merged already")


def test_the_way_back_that_is_told_is_one(main, accept):
    said = accept()

    back = said.partition("Take that back with: ")[2].splitlines()[0]
    subprocess.run(back, shell=True, check=True)

    assert history(main) == ["first"]
    assert (main / "app.py").read_text() == "1\n"


def test_it_is_told_before_anything_is_written_and_when_it_is_done(main, daemon, accept):
    before = git(main, "rev-parse", "HEAD").strip()

    accept()

    after = git(main, "rev-parse", "HEAD").strip()
    facts = {"branch": "worktree-dark", "into": "main", "before": before, "after": after}
    assert daemon.told == [(kind, facts | {"files": 1}) for kind in ("MergeBegan", "MergeDone")]
    assert daemon.files == ["1\n", "3\n"]


def only_forward(world):
    git(world.main, "config", "merge.ff", "only")
    moved_on(world.main)


def detached(world):
    git(world.main, "switch", "-q", "--detach")


def detached_there(world):
    git(world.place, "switch", "-q", "--detach")


def unfinished(world):
    (world.main / ".git" / "MERGE_HEAD").write_text(git(world.place, "rev-parse", "HEAD"))


def busy_there(world):
    world.busy = str(world.place)


def busy_in_main(world):
    world.busy = str(world.main)


def driver(world):
    git(world.main, "config", "merge.x.driver", "true")


def conflict(world):
    (world.main / "app.py").write_text("9\n")
    git(world.main, "commit", "-qam", "mine")


def dirty(world):
    (world.main / "app.py").write_text("9\n")


def not_committed(world):
    (world.place / "new.py").write_text("9\n")


@pytest.mark.parametrize(
    ("makes", "said"),
    [
        (only_forward, "pcc accept s-1 --squash"),
        (detached, "No branch is checked out in"),
        (detached_there, "No branch is checked out in"),
        (unfinished, "in the middle of a merge"),
        (busy_there, "pcc pause s-2"),
        (busy_in_main, "pcc pause s-2"),
        (driver, "name merge drivers"),
        (conflict, 'pcc add s-1 "Merge main into this branch and resolve the conflicts"'),
        (dirty, "in the way: app.py"),
        (not_committed, "pcc accept s-1 --commit"),
    ],
)
def test_what_is_refused_changes_nothing_and_says_the_way_on(
    main, there, daemon, accept, makes, said
):
    makes(daemon)
    before = [git(place, "status", "--porcelain", "--branch") for place in (main, there)]
    heads = git(main, "for-each-ref")

    assert said in accept()

    assert [git(place, "status", "--porcelain", "--branch") for place in (main, there)] == before
    assert git(main, "for-each-ref") == heads
    assert daemon.told == []


def test_the_worktree_stays_while_a_session_there_is_not_over(there, accept):
    said = accept("--remove")

    assert "The worktree stays: session later (s-3) is not over" in said
    assert there.is_dir()
