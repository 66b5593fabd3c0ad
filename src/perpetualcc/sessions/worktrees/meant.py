"""Which worktree is meant by a session, and words for what is found in it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError, ProjectGoneError
from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.texts import first_few, first_line
from perpetualcc.sessions.snapshots.repository import GitError, Patience
from perpetualcc.sessions.worktrees.worktree import Worktree, worktree_of

_SUBJECT = 72
"""Characters of a commit's first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """A session, and the worktree it works in."""

    id: str
    task: str
    """The prompt of its first task; empty: it has none."""
    tree: Worktree

    @property
    def branch(self) -> str:
        return self.tree.branch or self.tree.head[:12]

    @property
    def subject(self) -> str:
        """The first line of a commit with its work."""
        return first_line(self.task, _SUBJECT) or f"Work of {self.branch}"


def place_of(project: str) -> Path:
    """The top of its worktree, where it is one of those that we make; else the project."""
    outer, holder, inner = project.rpartition(WORKTREES)
    return Path(outer + holder + inner.partition("/")[0]) if holder else Path(project)


def meant(
    session: str, name: str, project: str, task: str, patience: Patience | None = None
) -> Meant:
    """
    `session`: its id; `task`: the prompt of its first one.

    Raises:
        PerpetualError: it works in no worktree, or git does not do.
    """
    place = place_of(project)
    if not place.is_dir():
        gone = ProjectGoneError(place)
        raise PerpetualError(gone.message, hint=f"What was kept of it: pcc undo {session} --list")
    try:
        tree = worktree_of(place, patience)
    except GitError as error:
        by_hand = in_git(place, "log --stat HEAD")
        raise PerpetualError(error.message, hint=f"Do it by hand; see: {by_hand}") from error
    if tree is None:
        raise PerpetualError(
            f"Session {name!r} works in the main working tree itself",
            hint=f"See it: pcc diff {session}  Take it back: pcc undo {session}",
        )
    return Meant(id=session, task=task, tree=tree)


def few(names: Sequence[str]) -> str:
    return first_few([" ".join(one.split()) for one in names], 5)


def in_git(place: Path, words: str) -> str:
    """A command of git's for a person to type."""
    return f"git -C {shlex.quote(str(place))} {words}"
