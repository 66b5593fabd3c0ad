"""`pcc accept`: merge what a session made in its worktree into the main working tree."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.discard import removed
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import GlobalOptions, JsonOption, session_argument
from perpetualcc.cli.pushing import Way, push_it
from perpetualcc.cli.results import (
    ask,
    meant,
    private_folder,
    refuse_beside_work,
    refuse_from_within,
    tell,
)
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.texts import counted

if TYPE_CHECKING:
    from perpetualcc.sessions.worktrees.accepting import Merge, Offer
    from perpetualcc.sessions.worktrees.meant import Meant

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way(Way):
    """How a person wants a merge done."""

    removes: bool


@app.command()
def accept(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    session: Annotated[str, session_argument()],
    remote: Annotated[
        str | None,
        typer.Argument(metavar="REMOTE", help="With --push: where to", show_default=False),
    ] = None,
    push: Annotated[
        bool, typer.Option("--push", help="Push the branch, for a pull request, and merge nothing")
    ] = False,
    squash: Annotated[
        bool, typer.Option("--squash", help="As one commit, without those of the branch")
    ] = False,
    commit: Annotated[
        bool, typer.Option("--commit", help="Commit first what is not committed in the worktree")
    ] = False,
    message: Annotated[
        str, typer.Option("--message", "-m", help="Of the commit that is made, which is made then")
    ] = "",
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the worktree and its branch afterwards")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Merge what a session made in its worktree into the branch of the main working tree, or push it.

    Where nothing else was committed there meanwhile, the branch just moves along, unless merge.ff
    is false. Conflicts change nothing. No hook of the repository is run, and nothing is signed.

    With --push the branch goes to a remote (that of the main branch's upstream, else origin), and
    what that answers is printed, such as the address where a pull request is made.

    Example: pcc accept dark-mode --remove
    """
    no_run_of_ours(ctx.obj, "takes over what an agent made")
    if as_json and not yes:
        raise Mistyped("--json cannot ask", hint="Say --yes, or look first: pcc review")
    if remote is not None and not push:
        raise Mistyped(f"{remote!r} is one word too many", hint="To push to a remote, say --push")
    if push and (squash or remove):
        raise Mistyped("--push merges nothing: there is nothing to squash or remove yet")
    from perpetualcc.sessions.worktrees.accepting import Wish, refuse_unready

    wish = Wish(squash=squash, commits=commit, message=message.strip())
    way = _Way(wish=wish, removes=remove, asks=not yes, as_json=as_json)
    with connect(ctx.obj) as daemon:
        found = meant(daemon.call("session.get", session=session))
        refuse_beside_work(daemon, found.tree.place, found.tree.main.top)
    refuse_unready(found)
    if remove:
        refuse_from_within(found.tree.place)
    with private_folder() as folder:
        if push:
            push_it(ctx.obj, found, folder, way, remote or "")
        else:
            _accept(ctx.obj, found, folder, way)


def _accept(options: GlobalOptions, found: "Meant", folder: Path, way: _Way) -> None:
    from perpetualcc.daemon.putting_back import putting_back
    from perpetualcc.sessions.worktrees.accepting import NOTHING_DONE, offered

    offer = offered(found, folder, way.wish)
    if offer.is_nothing:
        head = f"Nothing to merge: {found.branch} is merged already"
        _tell(options, found, way, None, head)
        return
    if way.asks:
        ask(offer.question, NOTHING_DONE)
    main = found.tree.main
    with putting_back(options.locations, main.top) as lock:
        with connect(options) as daemon:
            refuse_beside_work(daemon, found.tree.place, main.top)
        tree = replace(found.tree, main=replace(main, held=(lock,)))
        offer = replace(offer, found=replace(found, tree=tree))
        done = _merge(options, offer, folder)
    many = f"{counted(done.files, 'file')}"
    head = f"Merged {found.branch} into {found.tree.target}: {many}, now {done.now[:12]}"
    _tell(options, done.found, way, done, head)


def _merge(options: GlobalOptions, offer: "Offer", folder: Path) -> "Merge":
    from perpetualcc.domain.events import MergeBegan, MergeDone
    from perpetualcc.sessions.worktrees.accepting import prepared, written

    merge = prepared(offer, folder)
    with connect(options) as daemon:
        tell(daemon, merge.told(MergeBegan))
    written(merge, folder)
    with connect(options) as daemon:
        tell(daemon, merge.told(MergeDone))
    return merge


def _tell(
    options: GlobalOptions, found: "Meant", way: _Way, done: "Merge | None", head: str
) -> None:
    tree = found.tree
    gone = removed(options, found) if way.removes and not _is_kept(options, found) else None
    if way.as_json:
        told: dict[str, Any] = {"session": found.id, "branch": tree.branch, "into": tree.target}
        was = {"before": tree.onto, "now": done.now if done else tree.onto}
        print_json({**told, **was, "merged": bool(done), "removed": gone and gone.name})
        return
    print(printable(head))
    if done:
        print(printable(f"Take that back with: {done.back}"))
    if gone:
        print(gone.told)
    elif not way.removes:
        print(f"Remove the worktree with: pcc accept {found.id} --remove")


def _is_kept(options: GlobalOptions, found: "Meant") -> bool:
    """Somebody has still something to do there."""
    place = found.tree.place
    with connect(options) as daemon:
        there = daemon.call("session.list", status=None, project=str(place), limit=None)
    for one in there:
        if SessionStatus(one["status"]) not in ENDED:
            name = f"{printable(one['name'])} ({one['id']})"
            print(f"note: The worktree stays: session {name} is not over", file=sys.stderr)
            return True
    return False
