"""Real git: which worktrees hold what a person has neither taken nor thrown away."""

import shutil

import pytest

from perpetualcc.sessions.worktrees.unreviewed import Beside, beside, is_unreviewed
from tests.repositories import git
from tests.unit.sessions.test_worktrees import change, main, there

__all__ = ["main", "there"]


def squashed(main):
    git(main, "merge", "-q", "--squash", "worktree-x")
    git(main, "commit", "-qm", "As one")


@pytest.mark.parametrize(
    ("made", "done", "waits"),
    [
        ("nothing", None, False),
        ("a commit", None, True),
        ("a file", None, True),
        ("an ignored file", None, False),
        ("a commit", lambda main: git(main, "merge", "-q", "worktree-x"), False),
        ("a commit", squashed, False),
        ("a commit", lambda main: change(main, "app.py", "0\n"), True),
    ],
)
def test_what_was_made_waits_until_it_is_in_the_main_working_tree(main, there, made, done, waits):
    match made:
        case "a commit":
            change(there, "app.py", "2\n")
        case "a file":
            (there / "new.py").write_text("new")
        case "an ignored file":
            (there / ".env").write_text("A=1")
    if done:
        done(main)
    before = git(main, "count-objects", "-v"), git(there, "status", "--porcelain")

    assert is_unreviewed(there) is waits
    assert before == (git(main, "count-objects", "-v"), git(there, "status", "--porcelain"))


def test_where_git_cannot_say_it_waits_as_long_as_it_is_there(main, there):
    git(main, "config", "filter.x.clean", "cat")

    assert is_unreviewed(there)
    shutil.rmtree(there)
    assert not is_unreviewed(there)


def test_those_beside_it_are_told_wherever_they_are_and_none_of_the_main_tree(main, there):
    (there / "api").mkdir()
    elsewhere = main.parent / "elsewhere"
    git(main, "worktree", "add", "-q", "-b", "other", str(elsewhere))
    git(main, "worktree", "add", "-q", "-b", "gone", ".claude/worktrees/gone")
    shutil.rmtree(main / ".claude/worktrees/gone")

    assert beside(there / "api") == Beside(there, [elsewhere])
    assert beside(elsewhere) == Beside(elsewhere, [there])
    assert beside(main) is None
    assert beside(main.parent) is None
