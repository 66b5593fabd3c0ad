"""What `pcc review`, `pcc accept` and `pcc discard` share: which worktree is meant."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from perpetualcc.cli.look import one_line, printable
from perpetualcc.domain.errors import PerpetualError, ProjectGoneError
from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.texts import first_few

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client
    from perpetualcc.sessions.worktrees.worktree import Worktree


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """A session, and the worktree it works in."""

    session: dict[str, Any]
    tree: "Worktree"

    @property
    def id(self) -> str:
        return str(self.session["id"])

    @property
    def branch(self) -> str:
        return printable(self.tree.branch or self.tree.head[:12])


def place_of(session: dict[str, Any]) -> Path:
    """The top of its worktree, where it is one of those that we make; else its project."""
    project = str(session["project"])
    outer, holder, inner = project.rpartition(WORKTREES)
    return Path(outer + holder + inner.partition("/")[0]) if holder else Path(project)


def meant(session: dict[str, Any]) -> Meant:
    """Raises PerpetualError: it works in no worktree, or git does not do."""
    from perpetualcc.sessions.snapshots.repository import GitError
    from perpetualcc.sessions.worktrees.worktree import worktree_of

    place = place_of(session)
    if not place.is_dir():
        gone = ProjectGoneError(place)
        raise PerpetualError(
            gone.message, hint=f"What was kept of it: pcc undo {session['id']} --list"
        )
    try:
        tree = worktree_of(place)
    except GitError as error:
        by_hand = f"git -C {shlex.quote(str(place))} log --stat HEAD"
        raise PerpetualError(error.message, hint=f"Do it by hand; see: {by_hand}") from error
    if tree is None:
        raise PerpetualError(
            f"Session {session['name']!r} works in the main working tree itself",
            hint=f"See it: pcc diff {session['id']}  Take it back: pcc undo {session['id']}",
        )
    return Meant(session=session, tree=tree)


@contextmanager
def private_folder() -> Iterator[Path]:
    from perpetualcc.claude.scratch import scratch

    with scratch("files") as folder:
        yield folder


def refuse_beside_work(daemon: "Client", *places: Path) -> None:
    """Nothing changes below the hands of a session that works, or goes on by itself."""
    for place in places:
        for one in daemon.call("folder.at_work", folder=str(place)):
            raise PerpetualError(
                f"Session {one['name']} ({one['id']}) works on these files",
                hint=f"Wait for it, or: pcc pause {one['id']}, or for good: pcc stop {one['id']}",
            )


def tell(daemon: "Client", session: str, kind: str, **facts: Any) -> None:
    """Write into the session's log what a person does."""
    daemon.call("result.tell", session=session, kind=kind, facts=facts)


def refuse_from_within(place: Path) -> None:
    if Path(os.path.realpath(Path.cwd())).is_relative_to(os.path.realpath(place)):
        raise PerpetualError(f"You are in '{place}', which would be removed", hint="cd ~")


def ask(question: str, otherwise: str) -> None:
    """Raises PerpetualError where nobody can be asked, or says no."""
    if not sys.stdin.isatty():
        raise PerpetualError(f"{otherwise}: nobody can be asked", hint="Say it with: --yes")
    if not typer.confirm(question, default=False):
        raise PerpetualError(otherwise)


def few(names: Sequence[str]) -> str:
    return first_few([printable(one_line(one)) for one in names], 5)


def in_git(place: Path, words: str) -> str:
    """A command of git's for a person to type."""
    return f"git -C {shlex.quote(str(place))} {words}"
