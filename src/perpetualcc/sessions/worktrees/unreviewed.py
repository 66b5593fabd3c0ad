"""Which worktrees of a repository hold something that nobody has taken or thrown away."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from perpetualcc.domain.folders import canonical
from perpetualcc.sessions.snapshots.repository import GitError, Patience
from perpetualcc.sessions.worktrees.merging import Kind, judge
from perpetualcc.sessions.worktrees.worktree import worktree_of


@dataclass(frozen=True, slots=True)
class Beside:
    """The linked worktrees of one repository, seen from one of them."""

    own: Path
    others: Sequence[Path]


def beside(project: Path, patience: Patience | None = None) -> Beside | None:
    """None: it is in no linked worktree. Raises GitError, as `worktree_of`."""
    tree = worktree_of(project, patience)
    if tree is None:
        return None
    listed = os.fsdecode(tree.main.git("worktree", "list", "--porcelain")).split("\n")
    places = [Path(line.removeprefix("worktree ")) for line in listed if line[:9] == "worktree "]
    own, main = canonical(tree.place), canonical(tree.main.top)
    found = [canonical(one) for one in places if one.is_dir()]
    return Beside(own, [one for one in found if one not in {own, main}])


def is_unreviewed(place: Path, patience: Patience | None = None) -> bool:
    """
    Whether anything there is not committed, or is not in what the main working tree has checked
    out; also where git cannot say. What was taken as one commit is in it.
    """
    try:
        tree = worktree_of(place, patience)
        if tree is None:
            return False
        with TemporaryDirectory(prefix="pcc-") as folder:
            merge = judge(tree.main.writing_to(Path(folder)), tree.onto, tree.head)
        if merge.kind is not Kind.NOTHING:
            return True
        changed, more = tree.here.beginning("status", "--porcelain", most=1)
    except (GitError, OSError, ValueError):  # of what git prints, the last
        return place.is_dir()
    return bool(changed or more)
