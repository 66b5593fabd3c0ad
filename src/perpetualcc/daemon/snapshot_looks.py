"""
What git says of a snapshot, as clients that cannot ask it themselves are shown it: cut to what a
page can carry, and without what looks like a secret, as in a log.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.texts import cut
from perpetualcc.sessions.snapshots.changes import Change, changes, commits, counted, patch
from perpetualcc.sessions.snapshots.comparing import compared
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.sessions.snapshots.repository import GitError, Patience, Repository, there
from perpetualcc.sessions.snapshots.restoring import carry_out, check_kept, plan

FILES = 300
"""Files that are named; of all of them there are the sums."""
_FEW = 10
"""Commits, and names beside the files."""
_PATCH_BYTES = 200_000
_PATCH_LINES = 2_000
_LINE = 1_000
"""Characters."""
_HEADING = ("diff --git ", "index ", "--- ", "+++ ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """From a snapshot to a later one, or to now."""

    since: Snapshot
    until: Snapshot | None = None
    folder: Path
    """A private one, that goes afterwards."""
    patience: Patience

    @property
    def repository(self) -> Repository:
        return there(self.since.top, self.since.prefix, self.patience)


def changes_of(look: Look) -> dict[str, Any]:
    """Files with their counts, and the commits."""
    found = compared(look.repository, look.folder, look.since, look.until)
    told = list(counted(found.repository, found.before, found.after))
    return {
        "files": [
            {**_file(one), "id": identity(one.name), "added": lines.added, "removed": lines.removed}
            for one, lines in told[:FILES]
        ],
        "total": len(told),
        "added": sum(lines.added or 0 for _, lines in told),
        "removed": sum(lines.removed or 0 for _, lines in told),
        **commits_told(found.commits),
        **some("left_out", found.left_out),
    }


def patch_of(look: Look, file: str) -> dict[str, Any]:
    """
    Of one file, which is named by its `id`: no name from a page reaches git.

    Raises:
        PerpetualError: it does not differ, or not any more.
    """
    found = compared(look.repository, look.folder, look.since, look.until)
    listed = changes(found.repository, found.before, found.after)
    name = next((one.name for one in listed if identity(one.name) == file), None)
    if name is None:
        raise PerpetualError("That file does not differ any more", hint="Look again")
    text, is_cut = patch(found.repository, found.before, found.after, name, _PATCH_BYTES)
    lines, is_short = _lines(text, is_cut=is_cut)
    return {"name": _readable(name), "text": "\n".join(lines), "is_cut": is_short}


def plan_of(look: Look) -> dict[str, Any]:
    """What putting back would change, and of which files of now."""
    # To look leaves no trace in the repository.
    private = look.repository.writing_to(look.folder / "objects")
    planned = plan(private, look.folder, look.since.commit)
    return {
        "files": [_file(one) for one in planned.steps[:FILES]],
        "total": len(planned.steps),
        **some("spared", planned.spared),
        "present": planned.now.tree,
        **commits_told(commits(private, look.since.head, private.head())),
    }


def put_back(look: Look, kept: str, present: str, lock: int) -> int:
    """
    How many files. The commit `kept` holds them as they are now, and `present` is what they were
    when somebody was shown what would change. The `lock` is git's, too, and outlives us with it.

    Raises:
        GitError: files have changed meanwhile, and nothing has been done; or not all of it is.
    """
    private = look.repository.writing_to(look.folder / "objects")
    planned = plan(private, look.folder, look.since.commit)
    check_kept(private, planned, kept)
    if planned.now.tree != present:
        raise GitError("Nothing was put back: files have changed since you looked")
    if planned.steps:
        carry_out(replace(look.repository, held=(lock,)), look.folder, planned)
    return len(planned.steps)


def identity(name: str) -> str:
    """Of a file's name, which need not be text."""
    return sha256(os.fsencode(name)).hexdigest()[:24]


def _file(one: Change) -> dict[str, Any]:
    return {"name": redact(_readable(one.name)), "change": one.kind}


def some(name: str, found: Sequence[str]) -> dict[str, Any]:
    """The first of these names, or `NAME: why`, and how many there are."""
    return {name: [redact(_readable(one)) for one in found[:_FEW]], f"{name}_total": len(found)}


def commits_told(found: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The newest, and how many there are."""
    told = [{"id": short, "subject": redact(cut(subject, 200))} for short, subject in found[:_FEW]]
    return {"commits": told, "commits_total": len(found)}


def _readable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")


def _lines(patch: bytes, *, is_cut: bool) -> tuple[list[str], bool]:
    """Without the heading, which says the name again; and whether that is not all of it."""
    lines = redact(patch.decode("utf-8", "replace")).split("\n")
    # Half a line may be half a secret.
    lines = lines[:-1] if is_cut or not lines[-1] else lines
    body = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    heading = [line for line in lines[:body] if not line.startswith(_HEADING)]
    told = [*heading, *lines[body:]]
    shown = [cut(line, _LINE) for line in told[:_PATCH_LINES]]
    return shown, is_cut or len(told) > _PATCH_LINES or shown != told
