"""A project's files at two moments: at a snapshot, and at a later one or now."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.sessions.snapshots.changes import commits
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.sessions.snapshots.repository import Repository
from perpetualcc.sessions.snapshots.taking import take


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two moments of one repository."""

    repository: Repository
    before: str
    after: str
    """Trees, or commits."""
    commits: Sequence[tuple[str, str]]
    left_out: Sequence[str]


def compared(
    repository: Repository, folder: Path, since: Snapshot, until: Snapshot | None
) -> Compared:
    """
    Until now, where there is no later one; in `folder` is what the present is read into.

    Raises:
        GitError: git fails, or takes too long.
    """
    if until is not None:
        after, head, left_out = until.commit, until.head, until.left_out
    else:
        repository = repository.writing_to(folder / "objects")
        now = take(repository, folder / "index", beside=since.commit)
        after, head, left_out = now.tree, repository.head(), now.untold
    return Compared(
        repository=repository,
        before=since.commit,
        after=after,
        commits=commits(repository, since.head, head),
        left_out=left_out,
    )
