"""`pcc accept`: merge what a session made in its worktree into the main working tree."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.discard import removed
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import GlobalOptions, JsonOption, session_argument
from perpetualcc.cli.results import (
    Meant,
    ask,
    few,
    in_git,
    meant,
    private_folder,
    refuse_beside_work,
    refuse_from_within,
    tell,
)
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.texts import counted, first_line

if TYPE_CHECKING:
    from perpetualcc.sessions.worktrees.merging import Judged

app = typer.Typer(rich_markup_mode=None)

_NOTHING_DONE = "Nothing was merged"
_SUBJECT = 72
"""Characters of a commit's first line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """How a person wants it."""

    squash: bool
    commits: bool
    message: str
    removes: bool
    asks: bool
    as_json: bool


@app.command()
def accept(  # one parameter an option
    ctx: typer.Context,
    session: Annotated[str, session_argument()],
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
    Merge what a session made in its worktree into the branch of the main working tree.

    Where nothing else was committed there meanwhile, the branch just moves along, unless merge.ff
    is false. Conflicts change nothing. No hook of the repository is run, and nothing is signed.

    Example: pcc accept dark-mode --remove
    """
    no_run_of_ours(ctx.obj, "takes over what an agent made")
    if as_json and not yes:
        raise Mistyped("--json cannot ask", hint="Say --yes, or look first: pcc review")
    wish = _Wish(
        squash=squash,
        commits=commit,
        message=message.strip(),
        removes=remove,
        asks=not yes,
        as_json=as_json,
    )
    with connect(ctx.obj) as daemon:
        found = meant(daemon.call("session.get", session=session))
        refuse_beside_work(daemon, found.tree.place, found.tree.main.top)
    _refuse_unready(found)
    if remove:
        refuse_from_within(found.tree.place)
    with private_folder() as folder:
        _accept(ctx.obj, found, folder, wish)


def _refuse_unready(found: Meant) -> None:
    from perpetualcc.sessions.worktrees.worktree import unfinished

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


def _accept(options: GlobalOptions, found: Meant, folder: Path, wish: _Wish) -> None:
    from perpetualcc.daemon.putting_back import putting_back
    from perpetualcc.sessions.worktrees.merging import Kind, identity

    who = identity(found.tree.main) if wish.commits or wish.squash or wish.message else ()
    fresh, judged = _looked_at(found, folder, wish, who)
    if judged.kind is Kind.NOTHING:
        _tell(options, found, wish, "", f"Nothing to merge: {found.branch} is merged already")
        return
    if wish.asks:
        ask(_question(found, fresh), _NOTHING_DONE)
    main = found.tree.main
    with putting_back(options.locations, main.top) as lock:
        with connect(options) as daemon:
            refuse_beside_work(daemon, found.tree.place, main.top)
        tree = replace(found.tree, main=replace(main, held=(lock,)))
        done = _merge(options, replace(found, tree=tree), folder, wish, fresh)
    many = f"{counted(done.files, 'file')}"
    head = f"Merged {found.branch} into {printable(found.tree.target)}: {many}, now {done.now[:12]}"
    _tell(options, done.found, wish, done.now, head)


def _looked_at(
    found: Meant, folder: Path, wish: _Wish, who: "tuple[tuple[str, str], ...]"
) -> "tuple[Sequence[str], Judged]":
    """
    What would be committed first, and what the merge comes to; no trace is left.

    Raises PerpetualError, with the way out: it cannot be taken as it is.
    """
    from perpetualcc.sessions.snapshots.changes import changes
    from perpetualcc.sessions.snapshots.taking import take
    from perpetualcc.sessions.worktrees.merging import commit, in_the_way, judge

    tree = found.tree
    here, main = (one.writing_to(folder / "objects") for one in (tree.here, tree.main))
    now = take(here, folder / "index-here")
    fresh = [one.name for one in changes(here, tree.head, now.tree)]
    _refuse_not_committed(found, fresh, now.untold, wish)
    head = commit(here, now.tree, [tree.head], "pcc", who) if fresh else tree.head
    judged = judge(main, tree.onto, head)
    _refuse_unmergeable(found, judged)
    if judged.tree and (names := in_the_way(main, folder, tree.onto, judged.tree).names):
        raise PerpetualError(
            f"{_NOTHING_DONE}: changed in '{tree.main.top}', and in the way: {few(names)}",
            hint=f"Commit them, or put them aside: {in_git(tree.main.top, 'stash -u')}",
        )
    return fresh, judged


def _refuse_not_committed(
    found: Meant, fresh: Sequence[str], left_out: Sequence[str], wish: _Wish
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


def _refuse_unmergeable(found: Meant, judged: "Judged") -> None:
    from perpetualcc.sessions.worktrees.merging import Kind

    tree = found.tree
    if judged.kind is Kind.CONFLICTS:
        task = f'"Merge {printable(tree.target)} into this branch and resolve the conflicts"'
        raise PerpetualError(
            f"{_NOTHING_DONE}: conflicts in {few(judged.conflicts)}",
            hint=f"Let the session resolve them: pcc add {found.id} {task}",
        )
    if judged.kind is Kind.UNKNOWN:
        raise PerpetualError(
            f"{_NOTHING_DONE}: whether it has conflicts needs git 2.38",
            hint=f"By hand: {in_git(tree.main.top, f'merge {found.branch}')}",
        )


def _question(found: Meant, fresh: Sequence[str]) -> str:
    from perpetualcc.sessions.snapshots.changes import commits

    tree = found.tree
    many = counted(len(commits(tree.here, tree.onto, tree.head)), "commit")
    into = f"into {printable(tree.target)} in '{printable(str(tree.main.top))}'"
    also = f", and {counted(len(fresh), 'file')} committed first" if fresh else ""
    return f"Merge {found.branch} ({many}{also}) {into}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """A merge."""

    found: Meant
    now: str
    files: int


def _merge(
    options: GlobalOptions, found: Meant, folder: Path, wish: _Wish, fresh: Sequence[str]
) -> _Done:
    from perpetualcc.sessions.snapshots.changes import changes
    from perpetualcc.sessions.worktrees.merging import (
        check_out,
        commit_all,
        identity,
        in_the_way,
        judge,
    )

    tree = found.tree
    if fresh:
        text = wish.message or _first_task(found)
        head, taken = commit_all(tree.here, folder, tree.head, text, identity(tree.main))
        tree = replace(tree, head=head)
        if taken.left_out:
            raise PerpetualError(f"{_NOTHING_DONE}: files have changed meanwhile")
    judged = judge(tree.main, tree.onto, tree.head)
    _refuse_unmergeable(found, judged)
    found = replace(found, tree=tree)
    new = _commit(found, judged, wish)
    way = in_the_way(tree.main, folder, tree.onto, new)
    if way.names:
        raise PerpetualError(f"{_NOTHING_DONE}: files have changed meanwhile: {few(way.names)}")
    done = _Done(found=found, now=new, files=len(changes(tree.main, tree.onto, new)))
    _tell_of(options, "MergeBegan", done)
    check_out(tree.main, folder, way.plan, tree.onto, new, f"pcc accept: {tree.branch}")
    _tell_of(options, "MergeDone", done)
    return done


def _tell_of(options: GlobalOptions, kind: str, done: _Done) -> None:
    tree = done.found.tree
    facts = {"branch": tree.branch, "into": tree.target, "files": done.files}
    with connect(options) as daemon:
        tell(daemon, done.found.id, kind, **facts, before=tree.onto, after=done.now)


def _commit(found: Meant, judged: "Judged", wish: _Wish) -> str:
    """The commit that the branch is to be at."""
    from perpetualcc.sessions.worktrees.merging import Kind, commit, identity

    tree = found.tree
    wanted = tree.main.asked("config", "--get", "merge.ff").stdout.decode().strip()
    is_forward = judged.kind is Kind.FORWARD
    if not (wish.squash or wish.message or wanted in _NEVER) and is_forward:
        return tree.head
    if wanted == "only" and not (is_forward or wish.squash):
        raise PerpetualError(
            f"{_NOTHING_DONE}: merge.ff is 'only', and {tree.target} has moved on",
            hint=f"As one commit on top: pcc accept {found.id} --squash",
        )
    parents = [tree.onto] if wish.squash else [tree.onto, tree.head]
    text = wish.message or (_squashed(found) if wish.squash else _merged(found))
    return commit(tree.main, judged.tree, parents, text, identity(tree.main))


_NEVER = frozenset({"false", "no", "off", "0"})


def _merged(found: Meant) -> str:
    """As git says it."""
    into = "" if found.tree.target in {"main", "master"} else f" into {found.tree.target}"
    return f"Merge branch '{found.tree.branch}'{into}"


def _squashed(found: Meant) -> str:
    from perpetualcc.sessions.snapshots.changes import commits

    made = [f"* {subject}" for _, subject in commits(found.tree.here, found.tree.onto, "HEAD")]
    return "\n".join([_first_task(found), "", *reversed(made)])


def _first_task(found: Meant) -> str:
    tasks = found.session["tasks"]
    return first_line(tasks[0]["prompt"], _SUBJECT) if tasks else f"Work of {found.branch}"


def _tell(options: GlobalOptions, found: Meant, wish: _Wish, now: str, head: str) -> None:
    tree = found.tree
    gone = removed(options, found) if wish.removes and not _is_kept(options, found) else None
    if wish.as_json:
        told: dict[str, Any] = {"session": found.id, "branch": tree.branch, "into": tree.target}
        was = {"before": tree.onto, "now": now or tree.onto}
        print_json({**told, **was, "merged": bool(now), "removed": gone and gone.name})
        return
    print(head)
    if now:
        back = in_git(tree.main.top, f"reset --keep {tree.onto[:12]}")
        print(f"Take that back with: {back}")
    if gone:
        print(gone.told)
    elif not wish.removes:
        print(f"Remove the worktree with: pcc accept {found.id} --remove")


def _is_kept(options: GlobalOptions, found: Meant) -> bool:
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
