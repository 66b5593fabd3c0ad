"""Real git: what a snapshot holds, and that putting back brings it all back and loses nothing."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from perpetualcc.sessions.snapshots import taking
from perpetualcc.sessions.snapshots.changes import changes, commits, lines
from perpetualcc.sessions.snapshots.repository import GitError, Patience, repository_of, there
from perpetualcc.sessions.snapshots.restoring import carry_out, plan
from tests.repositories import git

ODD = (
    "a b.txt",
    "-rf",
    "new\nline",
    'quo"te\\',
    "*.py",
    ":(top)x",
    "été/日本.md",
    "tab\there",
    "[x]",
)
if sys.platform != "darwin":
    ODD += (os.fsdecode(b"no\xffutf8"),)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = (tmp_path / "pro:ject").resolve()
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / ".gitignore").write_text(".env\nnode_modules/\n")
    (place / "app.py").write_text("one\n")
    (place / "gone.py").write_text("gone\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "first")
    return place


def snapshot(project: Path, tmp_path: Path, *, beside: str = "") -> str:
    found = repository_of(project)
    assert found is not None
    taken = taking.take(found, tmp_path / f"index-{os.urandom(4).hex()}", beside=beside)
    made = taking.commit(found, taken, found.head(), "test")
    taking.keep(found, "refs/pcc/s/t", made)
    return made


def left_out(project: Path, tmp_path: Path) -> tuple[str, ...]:
    found = repository_of(project)
    assert found is not None
    return taking.take(found, tmp_path / "index-left-out").untold


def put_back(project: Path, tmp_path: Path, commit: str):
    """As `pcc undo` does it."""
    found = repository_of(project)
    assert found is not None
    folder = tmp_path / f"undo-{os.urandom(4).hex()}"
    folder.mkdir()
    planned = plan(found, folder, commit)
    carry_out(found, folder, planned)
    return planned


def listed(place: Path) -> dict[str, tuple[str, bytes]]:
    """Every file but git's own: its kind, and what is in it."""
    found = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file() and ".git" not in path.relative_to(place).parts:
            kind = "program" if path.stat().st_mode & stat.S_IXUSR else "file"
            found[name] = (kind, path.read_bytes())
    return found


def kept_by_git(place: Path) -> tuple[str, ...]:
    """What a snapshot must not change."""
    index = (place / ".git" / "index").read_bytes().hex()
    words = ("status --porcelain", "rev-parse HEAD", "symbolic-ref HEAD", "stash list", "branch -a")
    return (*(git(place, *line.split()) for line in words), index)


def dirty(place: Path) -> None:
    """A person's evening: something staged, changed, new, gone, linked, ignored, oddly named."""
    (place / "staged.py").write_text("staged\n")
    git(place, "add", "staged.py")
    (place / "staged.py").write_text("staged, and changed since\n")
    (place / "app.py").write_text("one, and mine\n")
    (place / "gone.py").unlink()
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("app.py")
    (place / "nowhere").symlink_to("/nonexistent/\n")
    (place / "empty").write_bytes(b"")
    (place / "bytes").write_bytes(bytes(range(256)))
    (place / ".env").write_text("SECRET=1\n")
    (place / "node_modules").mkdir()
    (place / "node_modules" / "big.js").write_text("x")
    for name in ODD:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"in {name!r}\n")


def night(place: Path) -> None:
    """What an agent may make of it."""
    (place / "app.py").write_text("two\n")
    (place / "gone.py").write_text("again\n")
    (place / "run.sh").chmod(0o644)
    (place / "link").unlink()
    (place / "link").mkdir()
    (place / "link" / "inner.py").write_text("a folder now\n")
    (place / "empty").unlink()
    (place / "new.py").write_text("new\n")
    (place / "deep" / "er").mkdir(parents=True)
    (place / "deep" / "er" / "file").write_text("new\n")
    for name in ODD:
        (place / name).unlink()
    git(place, "add", "-A")
    git(place, "commit", "-qm", "the agent's")
    (place / "bytes").unlink()
    (place / "staged.py").write_text("not committed\n")


def test_a_snapshot_changes_nothing_but_its_ref(project, tmp_path):
    dirty(project)
    before, files = kept_by_git(project), listed(project)

    snapshot(project, tmp_path)

    assert kept_by_git(project) == before
    assert listed(project) == files
    assert git(project, "for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        "refs/pcc/s/t",
    ]


def test_a_night_is_taken_back_and_the_evening_is_there_byte_by_byte(project, tmp_path):
    dirty(project)
    evening = listed(project)
    made = snapshot(project, tmp_path)
    night(project)
    history = git(project, "log", "--format=%s")

    put_back(project, tmp_path, made)

    assert listed(project) == evening
    assert not (project / "deep").exists()
    assert git(project, "log", "--format=%s") == history, "commits stay"


def test_taking_back_is_taken_back(project, tmp_path):
    dirty(project)
    made = snapshot(project, tmp_path)
    night(project)
    morning = listed(project)
    again = snapshot(project, tmp_path, beside=made)

    put_back(project, tmp_path, made)
    put_back(project, tmp_path, again)

    assert listed(project) == morning


def test_what_was_ignored_then_stays_also_when_nothing_ignores_it_now(project, tmp_path):
    dirty(project)
    made = snapshot(project, tmp_path)
    (project / ".gitignore").write_text("")
    (project / "new.py").write_text("new\n")

    planned = put_back(project, tmp_path, made)

    assert planned.spared == (".env", "node_modules/big.js")
    assert (project / ".env").read_text() == "SECRET=1\n"
    assert (project / "node_modules" / "big.js").exists()
    assert (project / ".gitignore").read_text() == ".env\nnode_modules/\n"
    assert not (project / "new.py").exists()


def test_what_is_ignored_only_now_is_brought_back_and_kept_before(project, tmp_path):
    (project / "notes.txt").write_text("mine\n")
    made = snapshot(project, tmp_path)
    (project / ".gitignore").write_text("*.txt\n")
    (project / "notes.txt").write_text("overwritten\n")
    again = snapshot(project, tmp_path, beside=made)

    put_back(project, tmp_path, made)
    mine = (project / "notes.txt").read_text()
    put_back(project, tmp_path, again)

    assert mine == "mine\n"
    assert (project / "notes.txt").read_text() == "overwritten\n"


def test_a_file_that_changed_since_it_was_planned_is_not_overwritten(project, tmp_path):
    made = snapshot(project, tmp_path)
    (project / "app.py").write_text("two\n")
    found, folder = repository_of(project), tmp_path / "undo"
    folder.mkdir()
    planned = plan(found, folder, made)
    (project / "app.py").write_text("three, which nothing keeps\n")

    with pytest.raises(GitError):
        carry_out(found, folder, planned)

    assert (project / "app.py").read_text() == "three, which nothing keeps\n"


def test_of_a_folder_of_a_repository_the_rest_is_left_alone(project, tmp_path):
    api = project / "api"
    api.mkdir()
    (api / "main.py").write_text("mine\n")
    made = snapshot(api, tmp_path)
    (api / "main.py").write_text("theirs\n")
    (project / "app.py").write_text("somebody else's\n")
    (project / "beside.py").write_text("somebody else's\n")

    planned = put_back(api, tmp_path, made)

    assert [one.name for one in planned.steps] == ["api/main.py"]
    assert (api / "main.py").read_text() == "mine\n"
    assert (project / "app.py").read_text() == "somebody else's\n"
    assert (project / "beside.py").exists()


def test_without_a_commit_there_is_a_snapshot_all_the_same(tmp_path):
    place = (tmp_path / "fresh").resolve()
    place.mkdir()
    git(place, "init", "-q")
    (place / "app.py").write_text("mine\n")
    made = snapshot(place, tmp_path)
    (place / "app.py").unlink()
    (place / "b.py").write_text("b")
    git(place, "add", ".")
    git(place, "commit", "-qm", "first")

    put_back(place, tmp_path, made)

    assert listed(place) == {"app.py": ("file", b"mine\n")}
    found = repository_of(place)
    assert [subject for _, subject in commits(found, "", found.head())] == ["first"]


@pytest.mark.parametrize("is_bare", [False, True])
def test_where_there_is_no_working_tree_there_is_nothing_to_keep(tmp_path, is_bare):
    if is_bare:
        git(tmp_path, "init", "-q", "--bare", ".")

    assert repository_of(tmp_path) is None


def test_a_project_that_its_repository_ignores_is_in_none(project):
    inner = project / "node_modules" / "package"
    inner.mkdir(parents=True)

    assert repository_of(inner) is None


def test_a_merge_that_waits_for_somebody_is_kept_as_the_files_are(project, tmp_path):
    git(project, "checkout", "-qb", "other")
    (project / "app.py").write_text("other\n")
    git(project, "commit", "-qam", "other")
    git(project, "checkout", "-q", "main")
    (project / "app.py").write_text("main\n")
    git(project, "commit", "-qam", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    middle, state = listed(project), kept_by_git(project)
    made = snapshot(project, tmp_path)
    assert kept_by_git(project) == state
    (project / "app.py").write_text("resolved by an agent\n")
    git(project, "commit", "-qam", "merged")

    put_back(project, tmp_path, made)

    assert listed(project) == middle


def test_a_locked_index_is_no_hindrance(project, tmp_path):
    (project / ".git" / "index.lock").touch()
    (project / "app.py").write_text("mine\n")
    made = snapshot(project, tmp_path)
    (project / "app.py").write_text("two\n")

    put_back(project, tmp_path, made)

    assert (project / "app.py").read_text() == "mine\n"


def test_a_linked_worktree_has_its_own(project, tmp_path):
    git(project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = (tmp_path / "side").resolve()
    (side / "app.py").write_text("mine\n")
    made = snapshot(side, tmp_path)
    (side / "app.py").write_text("two\n")
    (side / ".gitignore").unlink()
    (side / ".env").write_text("kept")

    put_back(side, tmp_path, made)

    assert (side / "app.py").read_text() == "mine\n"
    assert (side / ".env").exists()
    assert (project / "app.py").read_text() == "one\n"


def test_submodules_and_repositories_inside_are_left_alone(project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-qm", "x", "--allow-empty")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other))
    git(project, "commit", "-qm", "with a submodule")
    inside = project / "inside"
    inside.mkdir()
    git(inside, "init", "-q")
    (inside / "file").write_text("mine")
    made = snapshot(project, tmp_path)
    git(project / "other", "commit", "-qm", "y", "--allow-empty")
    git(project, "commit", "-qam", "moved")
    moved = git(project / "other", "rev-parse", "HEAD")
    (project / "app.py").write_text("two\n")

    planned = put_back(project, tmp_path, made)

    assert [one.name for one in planned.steps] == ["app.py"]
    assert git(project / "other", "rev-parse", "HEAD") == moved
    assert (inside / "file").exists()
    assert left_out(project, tmp_path) == ("inside/: a repository of its own",)


def test_large_new_files_are_left_out_and_left_alone(project, tmp_path, monkeypatch):
    monkeypatch.setattr(taking, "LARGEST", 100)
    (project / "data.bin").write_bytes(b"x" * 101)
    made = snapshot(project, tmp_path)
    assert left_out(project, tmp_path) == ("data.bin: larger than 0 MB",)
    (project / "data.bin").write_bytes(b"y" * 101)
    (project / "more.bin").write_bytes(b"z" * 101)

    assert put_back(project, tmp_path, made).steps == ()

    assert (project / "more.bin").exists()


def test_what_was_left_out_stays_when_it_is_committed_since(project, tmp_path, monkeypatch):
    monkeypatch.setattr(taking, "LARGEST", 100)
    (project / "data.bin").write_bytes(b"x" * 101)
    inside = project / "inside"
    inside.mkdir()
    git(inside, "init", "-q")
    (inside / "file").write_text("mine")
    made = snapshot(project, tmp_path)
    (inside / ".git").rename(tmp_path / "away")
    git(project, "add", "-A", "-f")
    git(project, "commit", "-qm", "everything")
    (project / "new.py").write_text("new\n")

    planned = put_back(project, tmp_path, made)

    assert [one.name for one in planned.steps] == ["new.py"]
    assert planned.spared == ("data.bin", "inside/file")
    assert (inside / "file").exists()


def test_a_file_that_grew_is_kept_before_it_is_put_back(project, tmp_path, monkeypatch):
    monkeypatch.setattr(taking, "LARGEST", 100)
    (project / "notes").write_text("mine\n")
    made = snapshot(project, tmp_path)
    (project / "notes").write_text("y" * 200)
    again = snapshot(project, tmp_path, beside=made)

    put_back(project, tmp_path, made)
    mine = (project / "notes").read_text()
    put_back(project, tmp_path, again)

    assert (mine, (project / "notes").read_text()) == ("mine\n", "y" * 200)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_told_and_the_rest_is_kept(project, tmp_path):
    (project / "theirs").write_text("x")
    (project / "theirs").chmod(0)

    assert left_out(project, tmp_path) == ("theirs: it cannot be read",)


def test_a_folder_that_became_a_link_leads_nowhere_else(project, tmp_path):
    (project / "lib").mkdir()
    (project / "lib" / "a.py").write_text("mine\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "lib")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("outside\n")
    made = snapshot(project, tmp_path)
    (project / "lib" / "a.py").unlink()
    (project / "lib").rmdir()
    (project / "lib").symlink_to(outside)

    put_back(project, tmp_path, made)

    assert (project / "lib" / "a.py").read_text() == "mine\n"
    assert (outside / "a.py").read_text() == "outside\n"


def test_no_program_that_the_repository_names_is_run(project, tmp_path):
    trap, mark = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    trap.chmod(0o755)
    for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        hook = project / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(trap.read_text())
        hook.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(trap))
    git(project, "config", "core.hooksPath", str(project / ".git" / "hooks"))
    git(project, "config", "diff.external", str(trap))
    git(project, "config", "diff.x.textconv", str(trap))
    git(project, "config", "gpg.program", str(trap))
    git(project, "config", "log.showSignature", "true")
    (project / ".gitattributes").write_text("* diff=x\n")
    mark.unlink(missing_ok=True)
    made = snapshot(project, tmp_path)
    (project / "app.py").write_text("two\n")
    found = repository_of(project)
    list(lines(found, found.head(), made))
    commits(found, "", found.head())

    put_back(project, tmp_path, made)

    assert not mark.exists()


def test_filters_of_the_repositorys_own_are_refused(project):
    git(project, "config", "filter.crypt.clean", "tr a-z b-za")

    with pytest.raises(GitError, match="filters"):
        repository_of(project)
    with pytest.raises(GitError, match="filters"):
        there(str(project), "")


def test_a_person_s_own_filter_goes_both_ways(project, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "config"))
    (home / "config").write_text('[filter "r"]\n clean = tr a-m n-z\n smudge = tr n-z a-m\n')
    (project / ".gitattributes").write_text("*.r filter=r\n")
    (project / "x.r").write_text("abc\n")
    made = snapshot(project, tmp_path)
    (project / "x.r").unlink()

    put_back(project, tmp_path, made)

    assert (project / "x.r").read_text() == "abc\n"


def test_variables_that_lead_to_another_repository_lead_nowhere(project, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, "/nonexistent")

    found = repository_of(project)

    assert found is not None
    assert found.top == project
    assert len(found.head()) == 40


def test_a_look_leaves_no_objects_behind(project, tmp_path):
    dirty(project)
    made = snapshot(project, tmp_path)
    (project / "new.py").write_text("only looked at\n")
    before = git(project, "count-objects", "-v")
    found = repository_of(project).writing_to(tmp_path / "objects")

    now = taking.take(found, tmp_path / "index", beside=made)

    assert [one.name for one in changes(found, made, now.tree)] == ["new.py"]
    assert [(one.added, one.removed) for one in lines(found, made, now.tree)] == [(1, 0)]
    assert git(project, "count-objects", "-v") == before


def test_git_that_takes_too_long_is_ended(project, tmp_path, monkeypatch):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")

    with pytest.raises(GitError, match="longer than"):
        repository_of(project, Patience(seconds=0.3))


def test_git_that_is_not_wanted_any_more_is_ended(project, tmp_path, monkeypatch):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    patience = Patience(given_up=threading.Event())
    threading.Timer(0.3, patience.given_up.set).start()

    with pytest.raises(GitError):
        repository_of(project, patience)


def test_without_git_it_says_so(project, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(GitError, match="git is not installed"):
        repository_of(project)


def test_a_ref_that_leads_elsewhere_by_now_is_not_ours_to_remove(project, tmp_path):
    made = snapshot(project, tmp_path)
    found = repository_of(project)
    git(project, "update-ref", "refs/pcc/s/t", "HEAD")

    taking.forget(found, "refs/pcc/s/t", made)
    assert "refs/pcc/s/t" in git(project, "for-each-ref")

    taking.keep(found, "refs/pcc/s/t", made)
    taking.forget(found, "refs/pcc/s/t", made)
    taking.forget(found, "refs/pcc/s/t", made)
    assert "refs/pcc" not in git(project, "for-each-ref")


def test_what_was_taken_outlives_a_cleaning_up(project, tmp_path):
    dirty(project)
    evening = listed(project)
    made = snapshot(project, tmp_path)
    night(project)

    git(project, "reflog", "expire", "--expire=now", "--all")
    git(project, "gc", "-q", "--prune=now")
    put_back(project, tmp_path, made)

    assert listed(project) == evening


def sparse(project: Path) -> None:
    (project / "other").mkdir()
    (project / "other" / "far.py").write_text("far\n")
    git(project, "add", "other")
    git(project, "commit", "-qm", "more")
    git(project, "sparse-checkout", "set", "--sparse-index", "near")


def test_what_lies_outside_of_a_sparse_checkout_comes_back_as_well(project, tmp_path):
    sparse(project)
    commit = snapshot(project, tmp_path)
    (project / "other").mkdir()
    (project / "other" / "far.py").write_text("the agent's\n")
    (project / "other" / "new.py").write_text("new\n")
    (project / "app.py").write_text("two\n")
    morning, now = listed(project), snapshot(project, tmp_path, beside=commit)

    put_back(project, tmp_path, commit)
    assert not (project / "other" / "new.py").exists()
    assert (project / "other" / "far.py").read_text() == "far\n"

    put_back(project, tmp_path, now)
    assert listed(project) == morning


def test_what_a_sparse_checkout_does_not_show_is_not_gone(project, tmp_path):
    sparse(project)
    commit = snapshot(project, tmp_path)
    git(project, "sparse-checkout", "disable")

    assert put_back(project, tmp_path, commit).steps == ()


@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_what_git_is_told_not_to_look_at_is_kept_as_it_is_on_the_disk(project, tmp_path, mark):
    git(project, "update-index", mark, "app.py", "gone.py")
    (project / "app.py").write_text("mine alone\n")
    index, commit = kept_by_git(project), snapshot(project, tmp_path)
    (project / "app.py").write_text("the agent's\n")
    morning, now = listed(project), snapshot(project, tmp_path, beside=commit)

    put_back(project, tmp_path, commit)
    assert (project / "app.py").read_text() == "mine alone\n"
    assert kept_by_git(project) == index

    put_back(project, tmp_path, now)
    assert listed(project) == morning


def test_a_setting_that_marks_all_files_as_unchanged_hides_none(project, tmp_path):
    git(project, "config", "core.ignoreStat", "true")
    (project / "app.py").write_text("two\n")
    git(project, "add", "app.py")
    (project / "app.py").write_text("mine\n")
    before, commit = listed(project), snapshot(project, tmp_path)
    (project / "app.py").write_text("the agent's\n")
    (project / "new.py").write_text("new\n")
    git(project, "add", ".")
    morning, now = listed(project), snapshot(project, tmp_path)

    put_back(project, tmp_path, commit)
    assert listed(project) == before
    put_back(project, tmp_path, now)
    assert listed(project) == morning


def ignored_inside(place: Path) -> str:
    place.mkdir()
    (place / ".env").write_text("SECRET=2\n")
    return ".env"


def a_repository(place: Path) -> str:
    place.mkdir()
    git(place, "init", "-q")
    (place / "theirs.py").write_text("theirs\n")
    return "theirs.py"


def a_pipe_inside(place: Path) -> str:
    place.mkdir()
    os.mkfifo(place / "pipe")
    return "pipe"


@pytest.mark.parametrize("made", [ignored_inside, a_repository, a_pipe_inside])
@pytest.mark.parametrize("name", ["app.py", "notes.txt"])
def test_what_no_snapshot_has_is_not_removed_to_make_room(project, tmp_path, made, name):
    (project / "notes.txt").write_text("mine\n")
    commit = snapshot(project, tmp_path)
    (project / name).unlink()
    inside = made(project / name)
    (project / "gone.py").unlink()
    morning = listed(project)

    with pytest.raises(GitError, match=f"{name}/{inside}' is in the way"):
        put_back(project, tmp_path, commit)

    assert listed(project) == morning


def test_a_folder_that_became_an_ignored_file_is_not_put_over_it(project, tmp_path):
    (project / "out").mkdir()
    (project / "out" / "kept.txt").write_text("mine\n")
    commit = snapshot(project, tmp_path)
    (project / "out" / "kept.txt").unlink()
    (project / "out").rmdir()
    (project / ".gitignore").write_text("out\n")
    (project / "out").write_text("a result of hours\n")

    with pytest.raises(GitError, match="'out' is in the way"):
        put_back(project, tmp_path, commit)

    assert (project / "out").read_text() == "a result of hours\n"


@pytest.mark.parametrize("name", ["two\nlines", "line\n", 'quo"te\\', "#not"])
def test_a_project_of_any_name_is_kept(tmp_path, name):
    for place in (tmp_path / name, tmp_path / "around" / name):
        top = place if place.parent == tmp_path else place.parent
        place.mkdir(parents=True)
        git(top, "init", "-q")
        (place / "app.py").write_text("mine\n")
        commit = snapshot(place, tmp_path)
        (place / "app.py").write_text("two\n")

        look = repository_of(place).writing_to(tmp_path / f"objects-{os.urandom(4).hex()}")
        found = taking.take(look, tmp_path / "index-look", beside=commit)
        assert [one.kind for one in changes(look, commit, found.tree)] == ["changed"]
        put_back(place, tmp_path, commit)
        assert (place / "app.py").read_text() == "mine\n"


def test_a_file_that_becomes_a_folder_while_it_is_looked_at_costs_no_snapshot(
    project, tmp_path, monkeypatch
):
    (project / "moving").write_text("a file\n")
    look, found = taking._new, []

    def moved(private):
        found.append(look(private))
        if len(found) == 1:
            (project / "moving").unlink()
            (project / "moving").mkdir()
        return found[-1]

    monkeypatch.setattr(taking, "_new", moved)

    assert snapshot(project, tmp_path)
    assert len(found) == 2


def test_a_folder_that_could_not_be_looked_into_is_told_and_left_alone(project, tmp_path):
    closed = project / "closed"
    closed.mkdir()
    (closed / "inside").write_text("theirs\n")
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("root reads everything")
        assert left_out(project, tmp_path) == ("closed/: it cannot be read",)
        commit = snapshot(project, tmp_path)
    finally:
        closed.chmod(0o755)

    assert put_back(project, tmp_path, commit).spared == ("closed/inside",)
    assert (closed / "inside").read_text() == "theirs\n"


@pytest.mark.parametrize("leads_to", ["/dev/zero", "."])
def test_an_index_that_is_no_file_is_not_read(project, tmp_path, leads_to):
    (project / ".git" / "index").unlink()
    (project / ".git" / "index").symlink_to(leads_to)

    with pytest.raises(GitError, match="is no file"):
        snapshot(project, tmp_path)


def test_a_git_that_does_not_say_whose_filters_there_are_is_too_old(project, tmp_path, monkeypatch):
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = --show-scope ] && exit 129; done\nexec {real} "$@"\n'
    )
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    with pytest.raises(GitError, match="too old"):
        repository_of(project)


@pytest.mark.parametrize("place", ["bin", "{project}/bin", ""])
def test_a_git_that_the_project_brought_is_not_run(tmp_path, monkeypatch, place):
    project = tmp_path / "project"  # a colon ends a folder in PATH
    project.mkdir()
    git(project, "init", "-q")
    for folder in (project / "bin", project):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'run'}\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{place.format(project=project)}:{os.environ['PATH']}")

    found = repository_of(project)
    taking.take(found, tmp_path / "index-theirs")

    assert not (tmp_path / "run").exists()
