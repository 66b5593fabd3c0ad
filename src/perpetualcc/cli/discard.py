"""`pcc discard`: throw away what a session made in its worktree, and be able to bring it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import GlobalOptions, JsonOption, session_argument
from perpetualcc.cli.results import (
    ask,
    meant,
    private_folder,
    refuse_beside_work,
    refuse_from_within,
    tell,
)
from perpetualcc.cli.typist import no_run_of_ours

if TYPE_CHECKING:
    from perpetualcc.sessions.worktrees.discarding import Loss
    from perpetualcc.sessions.worktrees.meant import Meant

app = typer.Typer(rich_markup_mode=None)


@app.command()
def discard(
    ctx: typer.Context,
    session: Annotated[str, session_argument()],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Remove a session's worktree and its branch, merged or not; the session is stopped.

    All of it is kept first, commits and what is not committed, and the command is printed that
    brings it back. What git ignores there (.env, node_modules) goes with it.

    Example: pcc discard dark-mode
    """
    no_run_of_ours(ctx.obj, "throws work away")
    if as_json and not yes:
        raise Mistyped("--json cannot ask", hint="Say --yes, or look first: pcc review")
    from perpetualcc.sessions.worktrees.discarding import NOTHING_DONE

    with connect(ctx.obj) as daemon:
        known = daemon.call("session.get", session=session)
    gone = _finished(ctx.obj, known)
    if gone is None:
        found = meant(known)
        with connect(ctx.obj) as daemon:
            refuse_beside_work(daemon, found.tree.place)
        loss = _refuse_loss(found)
        if not yes:
            ask(loss.question, NOTHING_DONE)
        gone = removed(ctx.obj, found)
    if as_json:
        print_json({"session": known["id"], "kept": gone.name, "ref": gone.ref})
        return
    print(gone.told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A worktree that was removed, and what is kept of it."""

    session: str
    place: Path
    name: str
    """Of the snapshot."""
    ref: str
    stays: str = ""

    @property
    def told(self) -> str:
        note = f"\n{printable(self.stays)}" if self.stays else ""
        return (
            f"Removed '{printable(str(self.place))}'{note}\n"
            f"Bring it back with: pcc undo {self.session} {self.name}"
        )


def removed(options: GlobalOptions, found: "Meant") -> Gone:
    """Raises PerpetualError: something of it could not be kept, and it is where it was."""
    from perpetualcc.sessions.worktrees.discarding import check_kept

    _refuse_loss(found)
    with connect(options) as daemon:
        folder = str(found.tree.place)
        kept = daemon.call("folder.give_up", session=found.id, folder=folder)["snapshot"]
    with private_folder() as private:
        check_kept(found, private, kept)
    return _remove(options, found.id, found.tree.main.top, found.tree.place, kept)


def _refuse_loss(found: "Meant") -> "Loss":
    from perpetualcc.sessions.worktrees.discarding import lost

    with private_folder() as folder:
        loss = lost(found, folder)
    refuse_from_within(found.tree.place)
    return loss


def _remove(
    options: GlobalOptions, session: str, main: Path, place: Path, kept: Mapping[str, Any]
) -> Gone:
    from perpetualcc.domain.events import DiscardDone
    from perpetualcc.domain.ids import SessionId
    from perpetualcc.sessions.worktrees.discarding import removed as without

    stays = without(main, place, kept)
    done = DiscardDone(session=SessionId(session), branch=kept["branch"], kept=kept["name"])
    with connect(options) as daemon:
        tell(daemon, done)
    return Gone(session=session, place=place, name=kept["name"], ref=kept["ref"], stays=stays)


def _finished(options: GlobalOptions, session: dict[str, Any]) -> Gone | None:
    """The rest of one that was ended in the middle. None: it was not."""
    from perpetualcc.sessions.worktrees.discarding import half_removed, may_be_half_removed

    if not may_be_half_removed(session["project"]):
        return None
    with connect(options) as daemon:
        found = daemon.call("snapshot.list", session=session["id"], task=None)["snapshots"]
    half = half_removed(session["project"], found)
    return _remove(options, session["id"], *half) if half else None
