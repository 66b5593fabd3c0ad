"""A linked worktree beside the main working tree of its repository."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from perpetualcc.domain.folders import WORKTREES, is_worktree, main_tree
from perpetualcc.sessions.snapshots.changes import SUBMODULE
from perpetualcc.sessions.snapshots.repository import (
    GitError,
    Patience,
    Repository,
    repository_of,
)

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """Both working trees, and what is checked out in them."""

    here: Repository
    main: Repository
    head: str
    branch: str
    """The one that is checked out; empty: none is."""
    onto: str
    """The commit that is checked out in the main working tree; empty: there is none yet."""
    target: str
    """The branch there; empty: none is."""

    @property
    def place(self) -> Path:
        return self.here.top

    @property
    def is_ours(self) -> bool:
        """Where `pcc start --worktree` and Claude Code make them."""
        return str(self.place.parent) + "/" == f"{self.main.top}{WORKTREES}"


def worktree_of(project: Path, patience: Patience | None = None) -> Worktree | None:
    """
    None: it is in no linked worktree, or in one of a repository without a main working tree.

    Raises:
        GitError: git is not there, refuses, or the repository's own settings name programs that
            merging would run.
    """
    found = repository_of(project, patience)
    if found is None or not is_worktree(found.top):
        return None
    here = replace(found, prefix="")
    home = main_tree(here.top)
    main = None if home == here.top else repository_of(home, patience)
    if main is None:
        return None
    _check_drivers(main)
    return Worktree(
        here=here,
        main=main,
        head=here.head(),
        branch=here.branch(),
        onto=main.head(),
        target=main.branch(),
    )


def _check_drivers(repository: Repository) -> None:
    words = ("config", "--show-scope", "--name-only", "--null")
    listed = repository.asked(*words, "--get-regexp", r"^merge\..*\.driver$").stdout
    if not {b"local", b"worktree"}.isdisjoint(listed.split(b"\0")):
        raise GitError("This repository's own settings name merge drivers, which are programs")


def unfinished(repository: Repository) -> str:
    """What of git's is in the middle there, in words; empty: nothing is."""
    there = (why for name, why in _UNFINISHED.items() if os.path.exists(repository.absolute(name)))  # noqa: PTH110
    return next(there, "")


def submodules(repository: Repository) -> Iterator[str]:
    """Those that are checked out: a snapshot does not look into them."""
    for told in repository.names("ls-files", "--stage", "-z"):
        facts, _, name = told.partition("\t")
        if facts.startswith(SUBMODULE) and (repository.top / name / ".git").exists():
            yield name
