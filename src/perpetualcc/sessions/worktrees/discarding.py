"""Throws a worktree away: what is refused, what would go, and what is known to be kept."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.texts import counted
from perpetualcc.sessions.snapshots.changes import changes, commits
from perpetualcc.sessions.snapshots.repository import there
from perpetualcc.sessions.snapshots.taking import take
from perpetualcc.sessions.worktrees.meant import Meant, few, in_git, place_of
from perpetualcc.sessions.worktrees.removing import remains_of, remove
from perpetualcc.sessions.worktrees.worktree import submodules

NOTHING_DONE = "Nothing was thrown away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What would go, and be kept."""

    found: Meant
    not_committed: Sequence[str]
    tree: str
    """Git's, of the files as they are."""

    @property
    def many(self) -> int:
        """Commits that are not merged."""
        tree = self.found.tree
        return len(commits(tree.here, tree.onto, tree.head))

    @property
    def question(self) -> str:
        parts = [counted(self.many, "commit") + " not merged"]
        if self.not_committed:
            parts.append(f"{counted(len(self.not_committed), 'file')} not committed")
        place, branch = self.found.tree.place, self.found.branch
        return f"Throw away '{place}' and the branch {branch}: {', '.join(parts)}?"


def lost(found: Meant, folder: Path) -> Loss:
    """It leaves no trace. Raises PerpetualError: it is no worktree to remove as it is."""
    tree = found.tree
    name = shlex.quote(str(tree.place))
    by_hand = f"By hand: {in_git(tree.main.top, f'worktree remove {name}')}"
    if not tree.is_ours:
        raise PerpetualError(
            f"'{tree.place}' was not made by pcc start --worktree, and stays", hint=by_hand
        )
    if Path(tree.here.absolute("locked")).exists():
        raise PerpetualError(
            f"'{tree.place}' is locked", hint=in_git(tree.main.top, f"worktree unlock {name}")
        )
    if names := list(submodules(tree.here)):
        raise PerpetualError(f"No snapshot holds submodules: {few(names)}", hint=by_hand)
    here = tree.here.writing_to(folder / "objects")
    now = take(here, folder / "index")
    if now.untold:
        raise PerpetualError(
            f"No snapshot holds these, and they would be lost: {few(now.untold)}",
            hint=f"Move or delete them yourself in '{tree.place}'",
        )
    names = [one.name for one in changes(here, tree.head, now.tree)]
    return Loss(found=found, not_committed=names, tree=now.tree)


def check_kept(found: Meant, folder: Path, kept: Mapping[str, Any]) -> None:
    """Raises PerpetualError: the snapshot does not hold all that is there now."""
    if not kept["is_kept"]:
        raise PerpetualError(f"{NOTHING_DONE}: {kept['trouble']}")
    here = found.tree.here.writing_to(folder / "objects")
    held = here.git("rev-parse", f"{kept['commit']}^{{tree}}").decode().strip()
    if kept["left_out"] or take(here, folder / "index", beside=kept["commit"]).tree != held:
        again = f"pcc discard {found.id}"
        raise PerpetualError(f"{NOTHING_DONE}: files have changed meanwhile", hint=again)


def removed(main: Path, place: Path, kept: Mapping[str, Any]) -> str:
    """Whatever became of the branch, where it stays. Raises GitError, OSError."""
    return remove(there(str(main), ""), place, kept["branch"], kept["head"])


def may_be_half_removed(project: str) -> bool:
    """It was one of ours, and is not there."""
    place = place_of(project)
    return WORKTREES in str(place) and not place.exists()


def half_removed(
    project: str, snapshots: Sequence[Mapping[str, Any]]
) -> tuple[Path, Path, Mapping[str, Any]] | None:
    """
    Of one that was ended in the middle: the main working tree, the place, and what is kept.
    `snapshots`: the session's, oldest first.
    """
    place = place_of(project)
    kept = next((one for one in reversed(snapshots) if one["top"] == str(place)), None)
    if kept is None or kept["task"] is not None:
        return None
    main = Path(str(place).rpartition(WORKTREES)[0])
    return (main, place, kept) if remains_of(place).exists() or _is_known(main, place) else None


def _is_known(main: Path, place: Path) -> bool:
    listed = there(str(main), "").git("worktree", "list", "--porcelain").decode(errors="replace")
    return f"worktree {place}\n" in listed
