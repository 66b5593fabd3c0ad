"""What `pcc review`, `pcc accept` and `pcc discard` share: whose worktree, and who is asked."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from perpetualcc.cli.look import printable
from perpetualcc.domain.errors import PerpetualError

if TYPE_CHECKING:
    from perpetualcc.domain.events import Event
    from perpetualcc.gateway.client import Client
    from perpetualcc.sessions.worktrees.meant import Meant


def meant(session: dict[str, Any]) -> "Meant":
    """Raises PerpetualError: it works in no worktree, or git does not do."""
    from perpetualcc.sessions.worktrees.meant import meant as found

    tasks = session.get("tasks")
    task = tasks[0]["prompt"] if tasks else ""
    return found(str(session["id"]), str(session["name"]), str(session["project"]), task)


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


def tell(daemon: "Client", event: "Event") -> None:
    """Write into a session's log what a person does; who that is the daemon knows."""
    facts = {name: value for name, value in event.data().items() if name != "by"}
    daemon.call("result.tell", session=event.session, kind=event.kind, facts=facts)


def refuse_from_within(place: Path) -> None:
    if Path(os.path.realpath(Path.cwd())).is_relative_to(os.path.realpath(place)):
        raise PerpetualError(f"You are in '{place}', which would be removed", hint="cd ~")


def few(names: Sequence[str]) -> str:
    """Fit to be printed."""
    from perpetualcc.sessions.worktrees.meant import few as found

    return printable(found(names))


def ask(question: str, otherwise: str) -> None:
    """Raises PerpetualError where nobody can be asked, or says no."""
    if not sys.stdin.isatty():
        raise PerpetualError(f"{otherwise}: nobody can be asked", hint="Say it with: --yes")
    if not typer.confirm(printable(question), default=False):
        raise PerpetualError(otherwise)
