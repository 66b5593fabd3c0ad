"""`pcc undo`: put a project's files back as they were before a task, and take that back, too."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.brought_back import gone_in_words, is_gone, make_again
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import fit, one_line, print_json, printable, table
from perpetualcc.cli.options import DryRunOption, GlobalOptions, JsonOption, LookedAtArgument
from perpetualcc.cli.results import ask, few
from perpetualcc.cli.snapshots import Chosen, TaskArgument, chosen, commits_told, opened
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import counted
from perpetualcc.domain.times import moment

if TYPE_CHECKING:
    from perpetualcc.sessions.snapshots.repository import Repository
    from perpetualcc.sessions.snapshots.restoring import Plan

app = typer.Typer(rich_markup_mode=None)

_SHOWN = 30
"""Files that are listed."""
_BECOMES = {"added": "bring back", "changed": "put back", "deleted": "remove"}


@app.command()
def undo(
    ctx: typer.Context,
    session: LookedAtArgument = None,
    task: TaskArgument = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    dry_run: DryRunOption = False,
    list_them: Annotated[
        bool, typer.Option("--list", help="Only list the session's snapshots")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Put a project's files back as they were before a session, or one of its tasks, began.

    What they are now is kept first, and the command is printed that brings it back. Commits stay in
    their branch, the index as it is, and what git ignores is left alone.

    Example: pcc undo shop
    """
    no_run_of_ours(ctx.obj, "takes work back")
    if as_json and not (yes or dry_run or list_them):
        raise Mistyped("--json cannot ask", hint="Say --yes, or --dry-run to see what would change")
    with connect(ctx.obj) as daemon:
        meant = chosen(daemon, session, task, "pcc undo")
    if list_them:
        _list(meant, as_json=as_json)
        return
    if not dry_run:
        _refuse_beside_work(meant)
    if is_gone(meant.snapshot):
        told = gone_in_words(meant.snapshot)
        if dry_run:
            print(told)
            return
        if not yes:
            ask(f"{told}. Make it again?", "Nothing was put back")
        make_again(meant.snapshot)
        yes = True
    with opened(meant.snapshot) as (repository, folder):
        _undo(ctx.obj, meant, repository, folder, asks=not yes, is_dry=dry_run, as_json=as_json)


def _undo(
    options: GlobalOptions,
    meant: Chosen,
    repository: "Repository",
    folder: Path,
    *,
    asks: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    from perpetualcc.daemon.putting_back import putting_back
    from perpetualcc.sessions.snapshots.restoring import carry_out, check_kept, plan

    # To look leaves no trace in the repository.
    private = repository.writing_to(folder / "objects")
    planned = plan(private, folder, meant.snapshot["commit"])
    if not planned.steps or is_dry:
        _tell(meant, repository, planned, "", as_json=as_json)
        return
    if asks:
        _ask(meant, repository, planned)
    with putting_back(options.locations, repository.top / repository.prefix) as lock:
        kept = _kept(options, meant)
        try:
            check_kept(private, planned, kept["commit"])
        except PerpetualError as error:
            raise PerpetualError(
                f"Nothing was put back: {error.message}", hint=f"Again: {_same(meant)}"
            ) from error
        try:
            carry_out(replace(repository, held=(lock,)), folder, planned)
        except PerpetualError as error:
            raise PerpetualError(
                f"Not put back: {error.message}",
                hint=f"What changed meanwhile is left alone. Try it again: {_same(meant)}",
            ) from error
    _tell(meant, repository, planned, kept["name"], as_json=as_json)


def _kept(options: GlobalOptions, meant: Chosen) -> dict[str, Any]:
    """The present, in a snapshot. Raises PerpetualError: somebody is at work; or there is none."""
    session, snapshot = meant.session["id"], meant.snapshot
    with connect(options) as daemon:
        _refuse_beside_work(chosen(daemon, session, snapshot["name"], "pcc undo"))
        kept: dict[str, Any] = daemon.call(
            "snapshot.take", session=session, beside=snapshot["commit"]
        )
    if not kept["is_kept"]:
        raise PerpetualError(f"Nothing was put back: {kept['trouble']}")
    return kept


def _same(meant: Chosen) -> str:
    return f"pcc undo {meant.session['id']} {meant.snapshot['name']}"


def _refuse_beside_work(meant: Chosen) -> None:
    for one in meant.at_work:
        raise PerpetualError(
            f"Session {one['name']} ({one['id']}) works on these files",
            hint=f"Wait for it, or: pcc pause {one['id']}, or for good: pcc stop {one['id']}",
        )


def _ask(meant: Chosen, repository: "Repository", planned: "Plan") -> None:
    """Raises PerpetualError where nobody can be asked, or says no."""
    print(f"To {printable(str(repository.top / repository.prefix))} as it was {meant.called}")
    print("\n".join(_steps(planned)))
    ask("Put it back?", "Nothing was put back")


def _steps(planned: "Plan") -> Iterator[str]:
    for one in planned.steps[:_SHOWN]:
        yield f"  {_BECOMES[one.kind]:<10}  {printable(one_line(one.name))}"
    if len(planned.steps) > _SHOWN:
        yield f"  … and {counted(len(planned.steps) - _SHOWN, 'file')} more"


def _tell(
    meant: Chosen, repository: "Repository", planned: "Plan", kept: str, *, as_json: bool
) -> None:
    from perpetualcc.sessions.snapshots.changes import commits

    head = repository.head()
    since = commits(repository, meant.snapshot["head"], head)
    if as_json:
        print_json(
            {
                "session": meant.session["id"],
                "to": meant.snapshot["name"],
                "files": [{"name": one.name, "change": one.kind} for one in planned.steps],
                "spared": list(planned.spared),
                "kept": kept or None,
                "commits": [{"id": short, "subject": subject} for short, subject in since],
            }
        )
        return
    if not planned.steps:
        print(f"Nothing to put back: the files are as they were {meant.called}")
    elif not kept:
        print(f"To the files as they were {meant.called}")
        print("\n".join(_steps(planned)))
    else:
        print(f"Put back {counted(len(planned.steps), 'file')}: all is as it was {meant.called}")
        print(f"Take that back with: pcc undo {meant.session['id']} {kept}")
    if planned.spared:
        print(f"Left alone, as it was not in the snapshot: {few(planned.spared)}")
    for line in _of_history(meant, repository, since, head):
        print(line)


def _of_history(
    meant: Chosen, repository: "Repository", since: Sequence[tuple[str, str]], head: str
) -> Iterator[str]:
    """Commits stay: the command for those who want the branch back, too."""
    was = meant.snapshot
    if was["head"] == head and was["branch"] == repository.branch():
        return
    yield from commits_told(since)
    where = f"git -C {shlex.quote(str(repository.top))}"
    yield "Commits stay in their branch: this is about files."
    if not was["head"]:
        return
    if was["branch"] and was["branch"] != repository.branch():
        name = shlex.quote(f"refs/heads/{was['branch']}")
        yield f"To be on the branch of then, files as they are: {where} symbolic-ref HEAD {name}"
    yield f"To take the branch back, files as they are: {where} reset {was['head'][:12]}"


def _list(meant: Chosen, *, as_json: bool) -> None:
    if as_json:
        print_json(list(meant.all))
        return
    rows = [
        (
            one["name"],
            moment(one["at"]),
            fit(one_line(one["prompt"] or "pcc undo, accept or discard"), 60),
            str(len(one["left_out"]) or ""),
        )
        for one in meant.all
    ]
    print(table(["Snapshot", "Taken", "Before", "Left out"], rows))
