"""What `pcc diff` and `pcc undo` share: which snapshot is meant, and where its files are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.look import fit, one_line
from perpetualcc.cli.results import private_folder
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import counted
from perpetualcc.domain.times import moment

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client
    from perpetualcc.sessions.snapshots.record import Snapshot
    from perpetualcc.sessions.snapshots.repository import Repository

TaskArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TASK",
        help="A task's id or text, or what pcc undo made, such as undo-1 [default: the first]",
        show_default=False,
        autocompletion=completion.snapshots,
    ),
]
COMMITS = 10
"""So many are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A snapshot of a session, as the daemon tells of it."""

    session: dict[str, Any]
    snapshot: dict[str, Any]
    until: dict[str, Any] | None
    """The one of the next task, where a task was named and there is one."""
    at_work: Sequence[dict[str, Any]]
    all: Sequence[dict[str, Any]]

    @property
    def called(self) -> str:
        """For people: when it was taken, and before what."""
        one = self.snapshot
        before = f"before task {one['task']}: {one_line(one['prompt'])}"
        which = before if one["task"] else f"kept as {one['name']}"
        return fit(f"{moment(one['at'])}, {which}", 100)


def chosen(daemon: "Client", session: str | None, task: str | None, command: str) -> Chosen:
    """Raises PerpetualError: it can be several sessions, or there is no such snapshot."""
    meant = the_session(daemon, session, command)
    told = daemon.call("snapshot.list", session=meant, task=task)
    by_name = {one["name"]: one for one in told["snapshots"]}
    return Chosen(
        session=told["session"],
        snapshot=by_name[told["chosen"]],
        until=by_name.get(told["until"]),
        at_work=told["at_work"],
        all=told["snapshots"],
    )


def recorded(told: dict[str, Any]) -> "Snapshot":
    """As it is on record, from what the daemon tells of it."""
    from perpetualcc.sessions.snapshots.record import Snapshot

    return Snapshot(**{one.name: told[one.name] for one in fields(Snapshot)})


@contextmanager
def opened(snapshot: dict[str, Any]) -> Iterator[tuple["Repository", Path]]:
    """The repository, and a private folder for what is read of it."""
    from perpetualcc.sessions.snapshots.repository import there

    if not Path(snapshot["top"]).is_dir():
        raise PerpetualError(
            f"'{snapshot['top']}' is gone",
            hint=f"What was kept of it: pcc undo {snapshot['session']} --list",
        )
    with private_folder() as folder:
        repository = there(snapshot["top"], snapshot["prefix"])
        if repository.asked("cat-file", "-e", f"{snapshot['commit']}^{{tree}}").returncode:
            raise PerpetualError(
                f"The snapshot is not in the repository at '{snapshot['top']}' any more",
                hint="That is another one by now, or git has removed what only refs/pcc/ led to",
            )
        yield repository, folder


def commits_told(commits: Sequence[tuple[str, str]]) -> Iterator[str]:
    if commits:
        yield f"{counted(len(commits), 'commit')} since:"
    for short, subject in commits[:COMMITS]:
        yield f"  {fit(f'{short} {one_line(subject)}', 100)}"
    if len(commits) > COMMITS:
        yield "  …"
