"""`pcc discard`: throw away what a session made in its worktree, and be able to bring it back."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import GlobalOptions, JsonOption, session_argument
from perpetualcc.cli.results import (
    Meant,
    ask,
    few,
    in_git,
    meant,
    place_of,
    private_folder,
    refuse_beside_work,
    refuse_from_within,
    tell,
)
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.texts import counted

app = typer.Typer(rich_markup_mode=None)

_NOTHING_DONE = "Nothing was thrown away"


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
    with connect(ctx.obj) as daemon:
        known = daemon.call("session.get", session=session)
    gone = _finished(ctx.obj, known)
    if gone is None:
        found = meant(known)
        with connect(ctx.obj) as daemon:
            refuse_beside_work(daemon, found.tree.place)
        made = refuse_what_would_be_lost(found)
        if not yes:
            ask(_question(found, made), _NOTHING_DONE)
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


def removed(options: GlobalOptions, found: Meant) -> Gone:
    """Raises PerpetualError: something of it could not be kept, and it is where it was."""
    refuse_what_would_be_lost(found)
    with connect(options) as daemon:
        folder = str(found.tree.place)
        kept = daemon.call("folder.give_up", session=found.id, folder=folder)["snapshot"]
    if not kept["is_kept"]:
        raise PerpetualError(f"{_NOTHING_DONE}: {kept['trouble']}")
    if kept["left_out"] or _tree_now(found, kept["commit"]) != _tree_of(found, kept["commit"]):
        again = f"pcc discard {found.id}"
        raise PerpetualError(f"{_NOTHING_DONE}: files have changed meanwhile", hint=again)
    return _remove(options, found.id, found.tree.main.top, found.tree.place, kept)


def _remove(
    options: GlobalOptions, session: str, main: Path, place: Path, kept: dict[str, Any]
) -> Gone:
    from perpetualcc.sessions.snapshots.repository import there
    from perpetualcc.sessions.worktrees.removing import remove

    stays = remove(there(str(main), ""), place, kept["branch"], kept["head"])
    with connect(options) as daemon:
        tell(daemon, session, "DiscardDone", branch=kept["branch"], kept=kept["name"])
    return Gone(session=session, place=place, name=kept["name"], ref=kept["ref"], stays=stays)


def _tree_now(found: Meant, beside: str) -> str:
    from perpetualcc.sessions.snapshots.taking import take

    with private_folder() as folder:
        here = found.tree.here.writing_to(folder / "objects")
        return take(here, folder / "index", beside=beside).tree


def _tree_of(found: Meant, commit: str) -> str:
    return found.tree.here.git("rev-parse", f"{commit}^{{tree}}").decode().strip()


def refuse_what_would_be_lost(found: Meant) -> Sequence[str]:
    """What is not committed there. Raises PerpetualError: it is no worktree to remove as it is."""
    from perpetualcc.sessions.snapshots.changes import changes
    from perpetualcc.sessions.snapshots.taking import take
    from perpetualcc.sessions.worktrees.worktree import submodules

    tree = found.tree
    name = shlex.quote(str(tree.place))
    by_hand = f"By hand: {in_git(tree.main.top, f'worktree remove {name}')}"
    if not tree.is_ours:
        raise PerpetualError(
            f"'{tree.place}' was not made by pcc start --worktree, and stays", hint=by_hand
        )
    refuse_from_within(tree.place)
    if Path(tree.here.absolute("locked")).exists():
        raise PerpetualError(
            f"'{tree.place}' is locked", hint=in_git(tree.main.top, f"worktree unlock {name}")
        )
    if names := list(submodules(tree.here)):
        raise PerpetualError(f"No snapshot holds submodules: {few(names)}", hint=by_hand)
    with private_folder() as folder:
        here = tree.here.writing_to(folder / "objects")
        now = take(here, folder / "index")
        if now.untold:
            raise PerpetualError(
                f"No snapshot holds these, and they would be lost: {few(now.untold)}",
                hint=f"Move or delete them yourself in '{tree.place}'",
            )
        return [one.name for one in changes(here, tree.head, now.tree)]


def _question(found: Meant, not_committed: Sequence[str]) -> str:
    from perpetualcc.sessions.snapshots.changes import commits

    tree = found.tree
    parts = [counted(len(commits(tree.here, tree.onto, tree.head)), "commit") + " not merged"]
    parts += [f"{counted(len(not_committed), 'file')} not committed"] if not_committed else []
    place = printable(str(tree.place))
    return f"Throw away '{place}' and the branch {found.branch}: {', '.join(parts)}?"


def _finished(options: GlobalOptions, session: dict[str, Any]) -> Gone | None:
    """The rest of one that was ended in the middle. None: it was not."""
    from perpetualcc.sessions.worktrees.removing import remains_of

    place = place_of(session)
    if place.exists() or WORKTREES not in str(place):
        return None
    with connect(options) as daemon:
        found = daemon.call("snapshot.list", session=session["id"], task=None)["snapshots"]
    kept = next((one for one in reversed(found) if one["top"] == str(place)), None)
    if kept is None or kept["task"] is not None:
        return None
    main = Path(str(place).rpartition(WORKTREES)[0])
    is_half = remains_of(place).exists() or _is_known(main, place)
    return _remove(options, session["id"], main, place, kept) if is_half else None


def _is_known(main: Path, place: Path) -> bool:
    from perpetualcc.sessions.snapshots.repository import there

    listed = there(str(main), "").git("worktree", "list", "--porcelain").decode(errors="replace")
    return f"worktree {place}\n" in listed
