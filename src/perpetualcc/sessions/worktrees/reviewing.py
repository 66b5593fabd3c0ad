"""What a person wants to know of a worktree before they take it or throw it away."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.sessions.snapshots.changes import Change, Lines, changes, commits, lines
from perpetualcc.sessions.snapshots.taking import take
from perpetualcc.sessions.worktrees.merging import Judged, in_the_way, judge
from perpetualcc.sessions.worktrees.worktree import Worktree


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """As it is now."""

    commits: Sequence[tuple[str, str]]
    """Which the main working tree has not, newest first."""
    not_committed: Sequence[Change]
    left_out: Sequence[str]
    """`NAME: why`: what no commit or snapshot of ours would hold."""
    files: Sequence[Lines]
    """All that was made, committed or not."""
    merge: Judged
    blocked: Sequence[str]
    """Files in the main working tree that are changed there, and a merge would write."""


def review(tree: Worktree, folder: Path) -> Review:
    """It leaves no trace in the repository. Raises GitError."""
    here, main = tree.here.writing_to(folder / "objects"), tree.main.writing_to(folder / "objects")
    now = take(here, folder / "index-here")
    base = here.asked("merge-base", tree.onto, tree.head).stdout.decode().strip()
    merge = judge(main, tree.onto, tree.head)
    blocked = in_the_way(main, folder, tree.onto, merge.tree).names if merge.tree else ()
    return Review(
        commits=commits(here, tree.onto, tree.head),
        not_committed=changes(here, tree.head, now.tree),
        left_out=now.untold,
        files=list(lines(here, base or tree.head, now.tree)),
        merge=merge,
        blocked=blocked,
    )
