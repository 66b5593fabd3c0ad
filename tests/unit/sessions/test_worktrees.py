"""Real git: what a worktree is merged with, what stands in the way, and that nothing is run."""

import os
import subprocess
from pathlib import Path

import pytest

from perpetualcc.sessions.snapshots.repository import GitError
from perpetualcc.sessions.worktrees import merging, removing
from perpetualcc.sessions.worktrees.merging import (
    Kind,
    check_out,
    commit,
    commit_all,
    identity,
    in_the_way,
    judge,
)
from perpetualcc.sessions.worktrees.reviewing import review
from perpetualcc.sessions.worktrees.worktree import Worktree, unfinished, worktree_of
from tests.repositories import git

HOOKS = (
    *("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "pre-merge-commit"),
    *("post-merge", "post-checkout", "post-index-change", "reference-transaction"),
)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    place = (tmp_path / "pro:ject").resolve()
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Anna")
    git(place, "config", "user.email", "anna@example.com")
    (place / ".gitignore").write_text(".env\n.claude\n")
    (place / "app.py").write_text("1\n2\n3\n4\n5\n")
    (place / "other.py").write_text("other\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "first")
    git(place, "worktree", "add", "-q", "-b", "worktree-x", ".claude/worktrees/x")
    return place


@pytest.fixture
def there(main: Path) -> Path:
    return main / ".claude" / "worktrees" / "x"


def change(place: Path, name: str, text: str, message: str = "change") -> None:
    (place / name).parent.mkdir(exist_ok=True, parents=True)
    (place / name).write_text(text)
    git(place, "add", "-f", name)
    git(place, "commit", "-qm", message)


def found(there: Path) -> Worktree:
    tree = worktree_of(there)
    assert tree is not None
    return tree


def merged(there: Path, folder: Path) -> str:
    """As `pcc accept` does it."""
    tree = found(there)
    judged = judge(tree.main, tree.onto, tree.head)
    parents = [tree.onto, tree.head]
    new = commit(tree.main, judged.tree, parents, "Merged", identity(tree.main))
    way = in_the_way(tree.main, new_folder(folder), tree.onto, new)
    assert way.names == ()
    check_out(tree.main, folder, way.plan, tree.onto, new, "merged")
    return new


def new_folder(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def blocked(there: Path, folder: Path) -> tuple[str, ...]:
    tree = found(there)
    return in_the_way(tree.main, new_folder(folder), tree.onto, tree.head).names


def test_a_merge_is_what_git_makes_of_it_and_what_is_not_committed_stays(main, there, tmp_path):
    change(there, "app.py", "one\n2\n3\n4\n5\n")
    change(there, "été/new file.py", "new\n")
    git(there, "rm", "-q", "other.py")
    git(there, "commit", "-qm", "gone")
    change(main, "app.py", "1\n2\n3\n4\nfive\n")
    (main / "notes.txt").write_text("mine\n")
    (main / ".env").write_text("SECRET\n")
    (main / "staged.py").write_text("staged\n")
    git(main, "add", "staged.py")

    merged(there, tmp_path / "private")

    assert (main / "app.py").read_text() == "one\n2\n3\n4\nfive\n"
    assert (main / "été" / "new file.py").read_text() == "new\n"
    assert not (main / "other.py").exists()
    assert git(main, "status", "--porcelain") == "A  staged.py\n?? notes.txt\n"
    assert git(main, "log", "-1", "--format=%an %ae %P").startswith("Anna anna@example.com ")
    assert git(main, "log", "-1", "--format=%P").count(" ") == 1
    assert (main / ".env").read_text() == "SECRET\n"
    assert git(main, "diff", "HEAD~", "--stat")


def test_every_kind_of_merge_is_told(main, there):
    tree = found(there)
    assert judge(tree.main, tree.onto, tree.head).kind is Kind.NOTHING
    change(there, "app.py", "9\n")
    tree = found(there)
    assert judge(tree.main, tree.onto, tree.head).kind is Kind.FORWARD
    change(main, "other.py", "mine\n")
    tree = found(there)
    assert judge(tree.main, tree.onto, tree.head).kind is Kind.CLEAN
    change(main, "app.py", "8\n")
    tree = found(there)
    judged = judge(tree.main, tree.onto, tree.head)
    assert (judged.kind, judged.conflicts) == (Kind.CONFLICTS, ("app.py",))
    git(there, "checkout", "-q", "--orphan", "apart")
    git(there, "commit", "-qm", "apart")
    tree = found(there)
    with pytest.raises(GitError, match="unrelated"):
        judge(tree.main, tree.onto, tree.head)


def test_what_was_taken_as_one_commit_is_nothing_to_merge(main, there):
    change(there, "app.py", "9\n")
    change(main, "app.py", "9\n")

    tree = found(there)

    assert judge(tree.main, tree.onto, tree.head).kind is Kind.NOTHING


def test_an_older_git_is_told_of(main, there, tmp_path, monkeypatch):
    change(there, "app.py", "9\n")
    change(main, "other.py", "mine\n")
    tree = found(there)
    (fake := tmp_path / "bin").mkdir()
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout
    (fake / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" --write-tree "*) exit 129;; esac\nexec {real.strip()} "$@"\n'
    )
    (fake / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")

    assert judge(tree.main, tree.onto, tree.head).kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    ("name", "makes"),
    [
        ("app.py", lambda main: (main / "app.py").write_text("mine\n")),
        ("app.py", lambda main: (main / "app.py").unlink()),
        ("new.py", lambda main: (main / "new.py").write_text("not tracked\n")),
        (".env", lambda main: (main / ".env").write_text("ignored\n")),
        ("deep", lambda main: (main / "deep").write_text("a file where a folder is to be\n")),
        (
            "flat/x",
            lambda main: ((main / "flat").mkdir(), (main / "flat" / "x").write_text("mine\n")),
        ),
    ],
)
def test_what_would_be_overwritten_is_named(main, there, tmp_path, name, makes):
    for one in ("app.py", "new.py", ".env", "deep/er.py", "flat"):
        change(there, one, "theirs\n")
    makes(main)

    assert blocked(there, tmp_path / "private") == (name,)


def test_what_is_in_nobodys_way_is_not_named(main, there, tmp_path):
    change(there, "app.py", "9\n")
    (main / "other.py").write_text("mine\n")
    (main / "app.py").write_text("9\n")  # as it will be

    assert blocked(there, tmp_path / "private") == ()


def test_what_is_staged_and_not_on_the_disk_stops_it_before_a_file_is_written(
    main, there, tmp_path
):
    change(there, "app.py", "9\n")
    change(there, "new.py", "new\n")
    (main / "app.py").write_text("staged\n")
    git(main, "add", "app.py")
    (main / "app.py").write_text("1\n2\n3\n4\n5\n")

    with pytest.raises(GitError, match=r"app\.py"):
        merged(there, tmp_path / "private")

    assert not (main / "new.py").exists()


def test_what_another_has_merged_meanwhile_stops_it_before_a_file_is_written(main, there, tmp_path):
    change(there, "new.py", "new\n")
    tree = found(there)
    way = in_the_way(tree.main, new_folder(tmp_path / "private"), tree.onto, tree.head)
    change(main, "other.py", "theirs\n")

    with pytest.raises(GitError, match="meanwhile"):
        check_out(tree.main, tmp_path / "private", way.plan, tree.onto, tree.head, "merged")

    assert git(main, "status", "--porcelain") == ""


@pytest.mark.parametrize("as_far_as", [0, 3])
def test_a_file_that_was_written_in_part_when_the_disk_was_full_is_in_nobodys_way(
    main, there, tmp_path, as_far_as
):
    change(there, "app.py", "9\n8\n7\n")
    change(there, "new.py", "new\nand more\n")
    change(main, "other.py", "mine\n")
    for name in ("app.py", "new.py"):
        (main / name).write_bytes((there / name).read_bytes()[:as_far_as])

    new = merged(there, tmp_path / "private")

    assert git(main, "rev-parse", "HEAD").strip() == new
    assert git(main, "status", "--porcelain") == ""
    assert (main / "new.py").read_text() == "new\nand more\n"


def test_a_disk_that_takes_no_more_is_said_with_the_way_on(main, there, tmp_path, monkeypatch):
    def full(*_):
        raise GitError("git read-tree: unable to write file app.py")

    change(there, "app.py", "9\n")
    change(main, "other.py", "mine\n")
    monkeypatch.setattr(merging, "carry_out", full)

    with pytest.raises(GitError, match="unable to write") as refused:
        merged(there, tmp_path / "private")

    assert "the same command does the rest" in refused.value.hint


@pytest.mark.parametrize("written", [0, 1, 2])
def test_whatever_was_written_when_it_was_ended_the_same_again_does_the_rest(
    main, there, tmp_path, written
):
    change(there, "app.py", "9\n")
    change(there, "new.py", "new\n")
    change(main, "other.py", "mine\n")
    for name in ("app.py", "new.py")[:written]:
        (main / name).write_bytes((there / name).read_bytes())
    new = merged(there, tmp_path / "private")

    assert git(main, "rev-parse", "HEAD").strip() == new
    assert git(main, "status", "--porcelain") == ""


def test_a_look_leaves_no_trace(main, there, tmp_path):
    change(there, "app.py", "9\n")
    change(main, "other.py", "mine\n")
    (there / "notes.txt").write_text("new\n")
    before = sorted(str(one) for one in (main / ".git").rglob("*"))
    index = (main / ".git" / "index").read_bytes()

    seen = review(found(there), new_folder(tmp_path / "private"))

    assert sorted(str(one) for one in (main / ".git").rglob("*")) == before
    assert (main / ".git" / "index").read_bytes() == index
    assert seen.merge.kind is Kind.CLEAN
    assert [one.name for one in seen.files] == ["app.py", "notes.txt"]
    assert [one.name for one in seen.not_committed] == ["notes.txt"]


def test_no_program_of_the_repository_is_run(main, there, tmp_path):
    ran = tmp_path / "ran"
    hooks = main / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{ran}'\n")
        (hooks / name).chmod(0o755)
    program = f"touch '{ran}'; false"
    for key in ("gpg.program", "core.editor", "core.pager", "core.fsmonitor", "diff.external"):
        git(main, "config", key, program)
    git(main, "config", "commit.gpgSign", "true")
    git(main, "config", "merge.verifySignatures", "true")
    git(main, "config", "branch.main.mergeoptions", "-s evil")
    git(main, "config", "core.fsmonitor", program)
    ran.unlink(missing_ok=True)
    (there / "app.py").write_text("9\n")
    (main / "other.py").write_text("mine\n")
    tree = found(there)

    who = identity(tree.main)
    commit_all(tree.here, new_folder(tmp_path / "private"), tree.head, "all", who)
    merged(there, tmp_path / "private")

    assert git(main, "show", "HEAD:app.py") == "9\n"
    assert not ran.exists()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("filter.x.clean", "filters"),
        ("filter.x.smudge", "filters"),
        ("filter.x.process", "filters"),
        ("merge.x.driver", "merge drivers"),
    ],
)
def test_a_repository_whose_own_settings_name_programs_is_refused(main, there, key, said):
    git(main, "config", key, "true")

    with pytest.raises(GitError, match=said):
        worktree_of(there)


def test_what_is_not_committed_is_committed_whole_and_the_index_with_it(there, tmp_path):
    (there / "app.py").write_text("9\n")
    (there / "new.py").write_text("new\n")
    (there / "other.py").unlink()
    git(there, "add", "new.py")
    (there / ".env").write_text("ignored\n")
    tree = found(there)

    made, _ = commit_all(
        tree.here, new_folder(tmp_path / "p"), tree.head, "all\n\nof it", identity(tree.main)
    )

    assert git(there, "rev-parse", "HEAD").strip() == made
    assert git(there, "status", "--porcelain") == ""
    assert git(there, "show", "--format=%B", "--name-only").split("\n")[:2] == ["all", ""]


def test_what_is_too_large_to_be_committed_unseen_stops_it(there, tmp_path, monkeypatch):
    monkeypatch.setattr("perpetualcc.sessions.snapshots.taking.LARGEST", 3)
    (there / "data.bin").write_text("1234")
    tree = found(there)

    head, taken = commit_all(
        tree.here, new_folder(tmp_path / "p"), tree.head, "all", identity(tree.main)
    )

    assert (head, list(taken.left_out)) == (tree.head, ["data.bin"])


def test_nobody_is_made_up_where_git_does_not_know_who_commits(main, there, monkeypatch):
    git(main, "config", "--unset", "user.email")
    for name in [one for one in os.environ if one.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")

    with pytest.raises(GitError, match=r"your email: git config --global user\.email"):
        identity(found(there).main)


def test_the_main_working_tree_and_other_places_are_no_worktree(main, tmp_path):
    assert worktree_of(main) is None
    assert worktree_of(tmp_path) is None


def test_what_is_in_the_middle_is_told(main, there):
    change(there, "app.py", "9\n")
    change(main, "app.py", "8\n")
    subprocess.run(["git", "-C", there, "merge", "-q", "main"], check=False, capture_output=True)

    assert unfinished(found(there).here) == "a merge"
    assert unfinished(found(there).main) == ""


class Ended(BaseException):
    """As by kill -9."""


@pytest.mark.parametrize("at", range(8))
def test_a_removal_that_is_ended_anywhere_is_finished_by_the_same_again(
    main, there, monkeypatch, at
):
    change(there, "app.py", "9\n")
    tree, steps = found(there), iter(range(100))
    real = type(tree.main).asked

    def asked(*words, **more):
        if next(steps) == at:
            raise Ended
        return real(*words, **more)

    with monkeypatch.context() as patched:
        patched.setattr(type(tree.main), "asked", asked)
        try:
            removing.remove(tree.main, there, tree.branch, tree.head)
        except Ended:
            assert at < 7
            assert removing.remains_of(there).exists(), "by which it is known"
    removing.remove(tree.main, there, tree.branch, tree.head)

    assert not there.exists()
    assert not removing.remains_of(there).exists()
    assert git(main, "branch", "--format=%(refname:short)") == "main\n"
    assert git(main, "worktree", "list").count("\n") == 1


def test_a_branch_that_moved_or_is_somebody_elses_stays(main, there):
    tree = found(there)
    change(there, "app.py", "9\n")

    assert removing.remove(tree.main, there, tree.branch, tree.head).endswith("it has moved on")
    git(main, "worktree", "add", "-q", "-b", "feature", ".claude/worktrees/x")
    tree = found(there)
    assert removing.remove(tree.main, there, "feature", tree.head) == "The branch feature stays"
    assert {"feature", "worktree-x"} <= set(
        git(main, "branch", "--format=%(refname:short)").split()
    )
