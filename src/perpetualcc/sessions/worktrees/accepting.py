"""Takes over what a session made: what is refused, what would be done, and the merge itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import MergeBegan, MergeDone
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.texts import counted
from perpetualcc.sessions.snapshots.changes import changes, commits
from perpetualcc.sessions.snapshots.taking import take
from perpetualcc.sessions.worktrees.meant import Meant, few, in_git
from perpetualcc.sessions.worktrees.merging import (
    InTheWay,
    Judged,
    Kind,
    check_out,
    commit,
    commit_all,
    identity,
    in_the_way,
    judge,
)
from perpetualcc.sessions.worktrees.worktree import unfinished

NOTHING_DONE = "Nothing was merged"
_NEVER = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a person wants it."""

    squash: bool = False
    commits: bool = False
    """What is not committed is, before."""
    message: str = ""


def refuse_unready(found: Meant) -> None:
    """Raises PerpetualError: one of both working trees is in no state to be merged."""
    tree = found.tree
    for repository in (tree.main, tree.here):
        if what := unfinished(repository):
            raise PerpetualError(
                f"'{repository.top}' is in the middle of {what}",
                hint=f"Finish it, or give it up; see: {in_git(repository.top, 'status')}",
            )
    for repository, branch in ((tree.main, tree.target), (tree.here, tree.branch)):
        if not branch:
            raise PerpetualError(
                f"No branch is checked out in '{repository.top}'",
                hint=f"Such as: {in_git(repository.top, 'switch -c NAME')}",
            )
    if not tree.onto:
        raise PerpetualError(f"The branch {tree.target} has no commit yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What would be done."""

    found: Meant
    wish: Wish
    fresh: Sequence[str]
    """Files that would be committed first."""
    judged: Judged

    @property
    def is_nothing(self) -> bool:
        return self.judged.kind is Kind.NOTHING

    @property
    def many(self) -> int:
        """Commits that the main working tree has not."""
        tree = self.found.tree
        return len(commits(tree.here, tree.onto, tree.head))

    @property
    def question(self) -> str:
        tree = self.found.tree
        also = f", and {counted(len(self.fresh), 'file')} committed first" if self.fresh else ""
        into = f"into {tree.target} in '{tree.main.top}'"
        return f"Merge {self.found.branch} ({counted(self.many, 'commit')}{also}) {into}?"


def offered(found: Meant, folder: Path, wish: Wish) -> Offer:
    """
    What would be committed first, and what the merge comes to; no trace is left.

    Raises PerpetualError, with the way out: it cannot be taken as it is.
    """
    tree = found.tree
    who = identity(tree.main) if wish.commits or wish.squash or wish.message else ()
    fresh, now = not_committed(found, folder, wish)
    here, main = (one.writing_to(folder / "objects") for one in (tree.here, tree.main))
    head = commit(here, now, [tree.head], "pcc", who) if fresh else tree.head
    judged = judge(main, tree.onto, head)
    _refuse_unmergeable(found, judged)
    if judged.tree and (names := in_the_way(main, folder, tree.onto, judged.tree).names):
        raise PerpetualError(
            f"{NOTHING_DONE}: changed in '{tree.main.top}', and in the way: {few(names)}",
            hint=f"Commit them, or put them aside: {in_git(tree.main.top, 'stash -u')}",
        )
    return Offer(found=found, wish=wish, fresh=fresh, judged=judged)


def not_committed(found: Meant, folder: Path, wish: Wish) -> tuple[Sequence[str], str]:
    """
    What would be committed first, and the tree with it.

    Raises PerpetualError: there is some, and nobody wished for that.
    """
    tree = found.tree
    here = tree.here.writing_to(folder / "objects")
    now = take(here, folder / "index-here")
    fresh = [one.name for one in changes(here, tree.head, now.tree)]
    _refuse_not_committed(found, fresh, now.untold, wish)
    return fresh, now.tree


def _refuse_not_committed(
    found: Meant, fresh: Sequence[str], left_out: Sequence[str], wish: Wish
) -> None:
    place = found.tree.place
    if (fresh or left_out) and not wish.commits:
        raise PerpetualError(
            f"Not committed in '{place}': {few([*fresh, *left_out])}",
            hint=f"Commit it with the rest: pcc accept {found.id} --commit, or see it:"
            f" {in_git(place, 'status')}",
        )
    if left_out:
        raise PerpetualError(
            f"Not to be committed unseen in '{place}': {few(left_out)}",
            hint="Commit, move or ignore it yourself",
        )


def resolving(found: Meant) -> str:
    """The command that has the session resolve what conflicts."""
    task = f'"Merge {found.tree.target} into this branch and resolve the conflicts"'
    return f"pcc add {found.id} {task}"


def _refuse_unmergeable(found: Meant, judged: Judged) -> None:
    tree = found.tree
    if judged.kind is Kind.CONFLICTS:
        raise PerpetualError(
            f"{NOTHING_DONE}: conflicts in {few(judged.conflicts)}",
            hint=f"Let the session resolve them: {resolving(found)}",
        )
    if judged.kind is Kind.UNKNOWN:
        raise PerpetualError(
            f"{NOTHING_DONE}: whether it has conflicts needs git 2.38",
            hint=f"By hand: {in_git(tree.main.top, f'merge {found.branch}')}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge whose commit is made, and of which nothing is written yet."""

    found: Meant
    now: str
    """The commit that the branch is to be at."""
    files: int
    way: InTheWay

    def told(
        self, kind: type[MergeBegan] | type[MergeDone], by: str = ""
    ) -> MergeBegan | MergeDone:
        """For the log."""
        tree = self.found.tree
        return kind(
            session=SessionId(self.found.id),
            branch=tree.branch,
            into=tree.target,
            before=tree.onto,
            after=self.now,
            files=self.files,
            by=by,
        )

    @property
    def back(self) -> str:
        """What takes it back."""
        tree = self.found.tree
        return in_git(tree.main.top, f"reset --keep {tree.onto[:12]}")


def prepared(offer: Offer, folder: Path) -> Merge:
    """
    What is not committed is committed, and the merge is, in git's objects alone.

    Raises PerpetualError: it is not as it was offered any more.
    """
    found = all_committed(offer.found, offer.fresh, offer.wish, folder)
    tree = found.tree
    judged = judge(tree.main, tree.onto, tree.head)
    _refuse_unmergeable(found, judged)
    new = _commit(found, judged, offer.wish)
    way = in_the_way(tree.main, folder, tree.onto, new)
    if way.names:
        raise PerpetualError(f"{NOTHING_DONE}: files have changed meanwhile: {few(way.names)}")
    return Merge(found=found, now=new, files=len(changes(tree.main, tree.onto, new)), way=way)


def written(merge: Merge, folder: Path) -> None:
    """The files, the index, and last the branch. Again is harmless. Raises GitError."""
    tree = merge.found.tree
    why = f"pcc accept: {tree.branch}"
    check_out(tree.main, folder, merge.way.plan, tree.onto, merge.now, why)


def all_committed(
    found: Meant, fresh: Sequence[str], wish: Wish, folder: Path, otherwise: str = NOTHING_DONE
) -> Meant:
    """
    With what was to be committed first, `fresh`, in its branch.

    Raises PerpetualError: files have changed meanwhile; `otherwise` says what was not done.
    """
    tree = found.tree
    if not fresh:
        return found
    text = wish.message or found.subject
    head, taken = commit_all(tree.here, folder, tree.head, text, identity(tree.main))
    if taken.left_out:
        raise PerpetualError(f"{otherwise}: files have changed meanwhile")
    return replace(found, tree=replace(tree, head=head))


def _commit(found: Meant, judged: Judged, wish: Wish) -> str:
    """The commit that the branch is to be at."""
    tree = found.tree
    wanted = tree.main.asked("config", "--get", "merge.ff").stdout.decode().strip()
    is_forward = judged.kind is Kind.FORWARD
    if not (wish.squash or wish.message or wanted in _NEVER) and is_forward:
        return tree.head
    if wanted == "only" and not (is_forward or wish.squash):
        raise PerpetualError(
            f"{NOTHING_DONE}: merge.ff is 'only', and {tree.target} has moved on",
            hint=f"As one commit on top: pcc accept {found.id} --squash",
        )
    parents = [tree.onto] if wish.squash else [tree.onto, tree.head]
    text = wish.message or (_squashed(found) if wish.squash else _merged(found))
    return commit(tree.main, judged.tree, parents, text, identity(tree.main))


def _merged(found: Meant) -> str:
    """As git says it."""
    into = "" if found.tree.target in {"main", "master"} else f" into {found.tree.target}"
    return f"Merge branch '{found.tree.branch}'{into}"


def _squashed(found: Meant) -> str:
    made = [f"* {subject}" for _, subject in commits(found.tree.here, found.tree.onto, "HEAD")]
    return "\n".join([found.subject, "", *reversed(made)])
