"""
Merges a commit into what the main working tree has checked out, and runs nothing of the repository.

The commit is made first, out of git's objects alone. Then the files are written, then the index,
and the branch moves last: whatever is ended before that, the same again does the rest.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from perpetualcc.sessions.snapshots.changes import Change, changes
from perpetualcc.sessions.snapshots.repository import GitError, Repository
from perpetualcc.sessions.snapshots.restoring import Plan, carry_out
from perpetualcc.sessions.snapshots.taking import Taken, take

_USAGE = 129
"""How git ends that does not know the words."""


class Kind(StrEnum):
    """What a merge comes to."""

    NOTHING = "nothing"
    """All of it is merged, or was taken as one commit."""
    FORWARD = "forward"
    """The branch moves along; no commit is made."""
    CLEAN = "clean"
    CONFLICTS = "conflicts"
    UNKNOWN = "unknown"
    """This git does not say it beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A merge, before anything is done."""

    kind: Kind
    tree: str = ""
    """What would be checked out; empty: it is not known."""
    conflicts: tuple[str, ...] = ()
    """Files, from the top."""


def judge(main: Repository, onto: str, commit: str) -> Judged:
    """Nothing changes but git's objects. Raises GitError: such as nothing in common."""
    if _is_in(main, commit, onto):
        return Judged(kind=Kind.NOTHING)
    if _is_in(main, onto, commit):
        return Judged(kind=Kind.FORWARD, tree=_tree_of(main, commit))
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit)
    done = main.asked(*words)
    if done.returncode == _USAGE:
        return Judged(kind=Kind.UNKNOWN)
    if done.returncode not in {0, 1}:
        main.git(*words)  # it says why
    tree, *names = (os.fsdecode(one) for one in done.stdout.split(b"\0") if one)
    if done.returncode == 0:
        is_there = tree == _tree_of(main, onto)
        return Judged(kind=Kind.NOTHING) if is_there else Judged(kind=Kind.CLEAN, tree=tree)
    return Judged(kind=Kind.CONFLICTS, conflicts=tuple(dict.fromkeys(names)))


def _is_in(repository: Repository, older: str, newer: str) -> bool:
    return repository.asked("merge-base", "--is-ancestor", older, newer).returncode == 0


def _tree_of(repository: Repository, commit: str) -> str:
    return repository.git("rev-parse", f"{commit}^{{tree}}").decode().strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class InTheWay:
    """What the files on the disk have to do with it."""

    plan: Plan
    names: tuple[str, ...]
    """Files that are not as they were committed, and would be written."""


def in_the_way(main: Repository, folder: Path, onto: str, new: str) -> InTheWay:
    """
    `new`: the tree, or commit, to be checked out. What is on the disk already as it will be is in
    nobody's way, nor is the beginning of that: it was written before something ended us, or before
    the disk was full.
    """
    wanted = {one.name for one in changes(main, onto, new)}
    now = take(main, folder / "index", beside=new)
    steps = tuple(one for one in changes(main, now.tree, new) if one.name in wanted)
    changed = {one.name for one in changes(main, onto, now.tree)}
    local = changed - {one.name for one in steps if one.name in changed and _is_begun(main, one)}
    names = {one.name for one in steps}
    clash = {one for one in local if one in names or not _above(one).isdisjoint(names)}
    clash |= {above for name in names for above in _above(name) & (local - wanted)}
    return InTheWay(plan=Plan(now=now, steps=steps), names=tuple(sorted(clash)))


def _is_begun(main: Repository, step: Change) -> bool:
    """What is on the disk goes on in what is to be there: nothing of it would be lost."""
    place = main.top / step.name
    if step.kind == "deleted" or place.is_symlink() or not place.is_file():
        return False
    return main.git("cat-file", "blob", step.identity).startswith(place.read_bytes())


def _above(name: str) -> set[str]:
    return {str(one) for one in PurePosixPath(name).parents}


def check_out(main: Repository, folder: Path, plan: Plan, onto: str, new: str, why: str) -> None:
    """
    Let the branch of the main working tree, its index and its files be `new`. Again is harmless.

    Raises:
        GitError: something is staged that would be lost, or a file or the branch changed meanwhile,
            and nothing has been done; or it was ended in the middle, and the same again does the
            rest.
    """
    if main.git("rev-parse", "HEAD").decode().strip() != onto:
        raise GitError(
            f"Nothing was merged: something else was committed in '{main.top}' meanwhile",
            hint="Look again: the same command goes by what is there now",
        )
    words = ("read-tree", "-i", "-m")
    main.git(*words, "-n", onto, new)
    try:
        carry_out(main, folder, plan)
    except GitError as error:
        again = "Then the same command does the rest"
        raise GitError(
            error.message, hint=f"Make room on the disk, if it is full. {again}"
        ) from error
    main.git(*words, onto, new)
    _move(main, onto, new, why)


def commit_all(
    here: Repository, folder: Path, head: str, message: str, who: "Identity"
) -> tuple[str, Taken]:
    """
    Commit what is new and changed in a working tree; the commit, and what was taken.

    Nothing is done where something is left out, or nothing is new.
    """
    taken = take(here, folder / "index")
    if taken.left_out or taken.tree == _tree_of(here, head):
        return head, taken
    new = commit(here, taken.tree, [head], message, who)
    here.git("read-tree", "-i", "-m", new)
    _move(here, head, new, first_of(message))
    return new, taken


def _move(repository: Repository, before: str, after: str, why: str) -> None:
    repository.asked("update-index", "-q", "--refresh")  # it grumbles where files are changed
    repository.git("update-ref", "-m", why, "HEAD", after, before)


def first_of(message: str) -> str:
    return message.partition("\n")[0]


Identity = tuple[tuple[str, str], ...]
"""Variables of git's: who makes a commit."""


def identity(repository: Repository) -> Identity:
    """The person, as git would take them. Raises GitError: it does not know."""
    return tuple(
        (f"GIT_{role.upper()}_{part.upper()}", _told_of(repository, role, part))
        for role in ("author", "committer")
        for part in ("name", "email")
    )


def _told_of(repository: Repository, role: str, part: str) -> str:
    told = os.environ.get(f"GIT_{role.upper()}_{part.upper()}", "")
    for key in (f"{role}.{part}", f"user.{part}"):
        told = told or os.fsdecode(repository.asked("config", "--get", key).stdout).strip()
    if not told:
        raise GitError(f"git does not know your {part}: git config --global user.{part} …")
    return told


def commit(
    repository: Repository, tree: str, parents: Collection[str], message: str, who: Identity
) -> str:
    """Its id; nothing leads to it yet. It is not signed: nobody is there to be asked."""
    told = (word for one in parents for word in ("-p", one))
    by = replace(repository, variables=(*repository.variables, *who))
    given = f"{message.strip()}\n".encode("utf-8", "surrogateescape")
    return by.git("commit-tree", tree, *told, "-F", "-", given=given).decode().strip()
