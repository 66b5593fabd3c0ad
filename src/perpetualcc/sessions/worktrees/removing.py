"""Removes a worktree and its branch, at once for whoever looks; what was in it is kept before."""

import os
import shutil
from pathlib import Path

from perpetualcc.domain.folders import WORKTREE_BRANCH
from perpetualcc.sessions.snapshots.repository import Repository


def remains_of(place: Path) -> Path:
    """Where a worktree's files are while they are deleted: git, and everybody, sees them gone."""
    return place.with_name(f".{place.name}.gone")


def remove(main: Repository, place: Path, branch: str, head: str) -> str:
    """
    Again does what was left undone, which is known by the remains. Returns what became of the
    branch, where it stays.

    Raises:
        GitError: git keeps it.
        OSError: it cannot be moved.
    """
    if place.exists():
        shutil.rmtree(remains_of(place), ignore_errors=True)
        place.rename(remains_of(place))
    listed = os.fsdecode(main.git("worktree", "list", "--porcelain")).split("\n")
    if f"worktree {place}" in listed:
        main.git("worktree", "remove", "--force", str(place))
    stays = _without_branch(main, branch, head)
    shutil.rmtree(remains_of(place), ignore_errors=True)
    return stays


def _without_branch(main: Repository, branch: str, head: str) -> str:
    """One that somebody else named, or that has moved on, is left alone."""
    ref = f"refs/heads/{branch}"
    found = main.asked("rev-parse", "--verify", "--quiet", ref).stdout.decode().strip()
    if not branch or not found:
        return ""
    if not branch.startswith(WORKTREE_BRANCH):
        return f"The branch {branch} stays"
    if found != head:
        return f"The branch {branch} stays: it has moved on"
    main.git("update-ref", "-d", ref, head)
    return ""
