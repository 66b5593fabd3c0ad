"""
In a worktree of its own branch the rules let git merge what the main working tree has checked out.

The repositories are real, and git says what a name means in them.
"""

import asyncio
from pathlib import Path

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import QuestionContext
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.requirements import parse_requirements
from tests.repositories import git


def is_approved(project: Path, command: str) -> bool:
    call = ToolCall(tool="Bash", input={"command": command}, project=project)
    found = analyse(call, PermissionSettings()).assessment()
    brain = RuleBasedBrain(parse_requirements)
    asked = brain.evaluate_permission(call, found, QuestionContext(project=str(project)))
    return asyncio.run(asked).approve


@pytest.fixture
def main(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Anna")
    git(place, "config", "user.email", "anna@example.com")
    (place / "app.py").write_text("light\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "First")
    git(place, "branch", "other")
    return place


@pytest.fixture
def tree(main: Path) -> Path:
    place = main / ".claude" / "worktrees" / "dark"
    git(main, "worktree", "add", "-q", "-b", "worktree-dark", str(place))
    return place


SETTLES = [
    "git merge main",
    "git merge main --no-edit 2>&1 | tail -20",
    "git merge -m 'Merge main' main",
    'git merge --no-ff main -m "Merge main"',
    "git rebase main",
    "git cherry-pick --abort",
    "git merge --abort",
    "git merge --continue",
    "GIT_EDITOR=true git rebase --continue",
    "git checkout --theirs app.py && git add app.py && git commit --no-edit",
    "git rm -q old.py",
    "git fetch --dry-run; git merge main || git status",
]
NOT = [
    "git merge other",
    "git merge origin/main",
    "git merge main other",
    "git merge -s ours main",
    "git merge -X theirs main",
    "git merge --squash main",
    "git merge --no-verify main",
    "git merge main~1",
    "git merge $B",
    "git merge --quit",
    "git rebase other",
    "git rebase --skip",
    "git rebase --onto main other",
    "git rebase main other",
    "git cherry-pick main",
    "git rm -f old.py",
    "git rm old.py -f",
    "git rm ../x.py",
    "git checkout --theirs .",
    "git checkout --theirs app.py -f",
    "git -C .. merge main",
    "cd ../../.. && git merge main",
    "GIT_EDITOR='rm x' git merge --continue",
    "GIT_DIR=/x git merge main",
    "git merge main && git push",
]


@pytest.mark.parametrize("command", SETTLES)
def test_a_merge_of_what_is_checked_out_is_local_there(command: str, tree: Path) -> None:
    assert is_approved(tree, command)


@pytest.mark.parametrize("command", NOT)
def test_what_may_take_work_away_or_bring_what_nobody_saw_is_a_persons(
    command: str, tree: Path
) -> None:
    assert not is_approved(tree, command)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("command", SETTLES[:9])
def test_in_the_main_working_tree_it_stays_a_persons(command: str, main: Path) -> None:
    assert not is_approved(main, command)


@pytest.mark.parametrize("name", ["main", "dark"])
def test_elsewhere_or_on_another_branch_it_stays_a_persons(name: str, main: Path) -> None:
    place = main.parent / "beside"
    git(main, "worktree", "add", "-q", "-b", f"worktree-{name}x", str(place))
    there = main / ".claude" / "worktrees" / name
    git(main, "worktree", "add", "-q", "-b", "feature", str(there))

    assert not is_approved(place, "git merge main")
    assert not is_approved(there, "git merge main")


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_tag_of_the_same_name_is_what_git_would_merge(
    is_packed: bool, main: Path, tree: Path
) -> None:
    git(main, "tag", "main", "other")
    if is_packed:
        git(main, "pack-refs", "--all")

    assert not is_approved(tree, "git merge main")


def test_in_the_middle_of_a_rebase_it_may_be_gone_on_with(main: Path, tree: Path) -> None:
    for place, text in ((tree, "dark\n"), (main, "lighter\n")):
        (place / "app.py").write_text(text)
        git(place, "commit", "-qam", text)
    with pytest.raises(Exception, match="rebase"):
        git(tree, "rebase", "main")

    assert "rebase in progress" in git(tree, "status")
    assert is_approved(tree, "git rebase --abort")
    assert is_approved(tree, "git add -A && GIT_EDITOR=true git rebase --continue")
