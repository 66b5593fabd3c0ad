"""What differs between two moments: files, and the commits made between them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.sessions.snapshots.repository import Repository

SUBMODULE = "160000"
_WORDS = {"A": "added", "D": "deleted", "M": "changed", "T": "changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file that is another one, on the way from one tree to the other."""

    name: str
    """From the top of the working tree."""
    kind: str
    """added, changed or deleted."""
    mode: str
    identity: str
    """Git's, of what it is afterwards; zeros: nothing."""
    is_submodule: bool = False


def changes(repository: Repository, before: str, after: str) -> list[Change]:
    """Of the project's files, from one tree or commit to another."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", before, after)
    told = list(repository.names(*words, *repository.here))
    return [_change(facts, name) for facts, name in zip(told[::2], told[1::2], strict=True)]


def _change(facts: str, name: str) -> Change:
    was, mode, _, identity, state = facts.removeprefix(":").split(" ")
    return Change(
        name=name,
        kind=_WORDS.get(state[:1], "changed"),
        mode=mode,
        identity=identity,
        is_submodule=SUBMODULE in {was, mode},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What became of a file's lines; None: it is no text."""

    name: str
    added: int | None
    removed: int | None


def lines(repository: Repository, before: str, after: str) -> Iterator[Lines]:
    """Of each file that differs. No program is run to read one."""
    plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-commit-id")
    words = ("diff-tree", "-r", "-z", "--numstat", *plain, before, after)
    for told in repository.names(*words, *repository.here):
        added, removed, name = told.split("\t", 2)
        yield Lines(name=name, added=_number(added), removed=_number(removed))


def counted(repository: Repository, before: str, after: str) -> Iterator[tuple[Change, Lines]]:
    """What differs, with what became of its lines."""
    told = {one.name: one for one in lines(repository, before, after)}
    for one in changes(repository, before, after):
        yield one, told.get(one.name) or Lines(name=one.name, added=None, removed=None)


def patch(
    repository: Repository, before: str, after: str, name: str, most: int
) -> tuple[bytes, bool]:
    """Of one file, at most so many bytes, and whether there are more. No program is run."""
    plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-commit-id", "--no-color")
    words = ("diff-tree", "-r", "-p", "--submodule=short", *plain, before, after, "--", name)
    return repository.beginning(*words, most=most)


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def commits(repository: Repository, before: str, after: str) -> list[tuple[str, str]]:
    """
    Short id and subject of what `after` has and `before` has not, newest first; `before` may be
    empty: all of them. None where they are not there any more.
    """
    if not after or before == after:
        return []
    since = (f"^{before}",) if before else ()
    try:
        told = repository.git("log", "-z", "--format=%h %s", after, *since)
    except PerpetualError:
        return []
    pairs = (os.fsdecode(one).partition(" ")[::2] for one in told.split(b"\0") if one)
    return [(short, subject) for short, subject in pairs]
