"""`pcc review`: what a person wants to know before they take a session's work or throw it away."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import coloured, fit, hung, one_line, print_json, printable
from perpetualcc.cli.options import JsonOption, LookedAtArgument
from perpetualcc.cli.report import session_lines
from perpetualcc.cli.results import meant, private_folder
from perpetualcc.cli.snapshots import commits_told
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.texts import counted

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client
    from perpetualcc.sessions.snapshots.changes import Lines
    from perpetualcc.sessions.worktrees.meant import Meant
    from perpetualcc.sessions.worktrees.reviewing import Review

app = typer.Typer(rich_markup_mode=None)

_FILES = 20
"""So many are listed."""
_EVER = 1e10
"""Seconds: since before there was any session."""


@app.command()
def review(
    ctx: typer.Context, session: LookedAtArgument = None, as_json: JsonOption = False
) -> None:
    """
    Show what a session made in its worktree, before you take it or throw it away.

    Its tasks and checks, what was refused, commits, files, what is not committed, and whether it
    would merge with what the main working tree has checked out. Nothing is changed.

    Example: pcc review dark-mode
    """
    from perpetualcc.sessions.worktrees.reviewing import review as looked_at

    with connect(ctx.obj) as daemon:
        told = _told(daemon, the_session(daemon, session, "pcc review"))
        found = meant(told["session"])
    with private_folder() as folder:
        seen = looked_at(found.tree, folder)
    if as_json:
        print_json(_as_json(told, found, seen))
        return
    ways = _ways(found, seen)
    for line in (*session_lines(told), *_proofs(told), "", *_made(found, seen), "", *ways):
        print(hung(line))


def _told(daemon: "Client", name: str) -> dict[str, Any]:
    """As `pcc report` has it, of all its time."""
    found = daemon.call("session.get", session=name)
    sessions = daemon.call("report.show", session=found["id"], seconds=_EVER)["sessions"]
    told: dict[str, Any] = sessions[0] if sessions else {}
    return _NOTHING | told | {"session": found}


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("tasks", "answers", "refused", "files", "limits", "budgets", "problems"), ()),
    **dict.fromkeys(("checks", "handovers", "runs", "allowed", "tokens", "usd"), 0),
}
"""What is told of a session that has no events any more."""


def _as_json(told: dict[str, Any], found: "Meant", seen: "Review") -> dict[str, Any]:
    tree, made = found.tree, asdict(seen)
    return {
        **told,
        "worktree": str(tree.place),
        "branch": tree.branch or None,
        "head": tree.head,
        "main": str(tree.main.top),
        "into": tree.target or None,
        "commits": [{"id": short, "subject": subject} for short, subject in seen.commits],
        "not_committed": [{"name": one.name, "change": one.kind} for one in seen.not_committed],
        "lines": made["files"],
        "left_out": list(seen.left_out),
        "merge": seen.merge.kind.value,
        "conflicts": list(seen.merge.conflicts),
        "blocked": list(seen.blocked),
    }


def _proofs(told: dict[str, Any]) -> Iterator[str]:
    for command, trouble in told.get("proofs", {}).items():
        sign = coloured("✗", "red") if trouble else coloured("✓", "green")
        said = f": {one_line(trouble)}" if trouble else ""
        yield f"  {sign} Check {fit(one_line(command) + said, 100)}"


def _made(found: "Meant", seen: "Review") -> Iterator[str]:
    from perpetualcc.sessions.worktrees.meant import few

    tree = found.tree
    into = tree.target or "nothing: no branch is checked out"
    yield printable(f"Branch {found.branch}, into {into} ({tree.main.top})")
    if not (seen.commits or seen.not_committed or seen.left_out):
        yield "Nothing is there that the main working tree has not."
        return
    for line in commits_told(seen.commits):
        yield line.replace(" since:", ":")
    if seen.not_committed:
        yield printable(f"Not committed: {few([one.name for one in seen.not_committed])}")
    if seen.left_out:
        yield printable(f"Not looked at: {few(seen.left_out)}")
    yield from _lines(seen.files)
    yield printable(_merges(found, seen))


def _lines(files: "Any") -> Iterator[str]:
    if not files:
        return
    added, removed = (sum(getattr(one, kind) or 0 for one in files) for kind in _KINDS)
    yield f"{counted(len(files), 'file')}, {added:,} lines more, {removed:,} less:"
    for one in files[:_FILES]:
        yield f"  {_count(one):>12}  {fit(one_line(one.name), 100)}"
    if len(files) > _FILES:
        yield f"  … and {counted(len(files) - _FILES, 'file')} more"


_KINDS = ("added", "removed")


def _count(one: "Lines") -> str:
    return "no text" if one.added is None else f"+{one.added} -{one.removed}"


def _merges(found: "Meant", seen: "Review") -> str:
    from perpetualcc.sessions.worktrees.meant import few, in_git
    from perpetualcc.sessions.worktrees.merging import Kind

    if seen.blocked:
        return f"In the way, as changed in the main working tree: {few(seen.blocked)}"
    match seen.merge.kind:
        case Kind.NOTHING:
            return "All that is committed is merged."
        case Kind.FORWARD:
            return "Merges cleanly: the branch just moves along."
        case Kind.CLEAN:
            return "Merges cleanly."
        case Kind.CONFLICTS:
            return f"Conflicts in {counted(len(seen.merge.conflicts), 'file')}: " + few(
                seen.merge.conflicts
            )
    by_hand = in_git(found.tree.main.top, f"merge {found.branch}")
    return f"Whether it merges is not known: that needs git 2.38. By hand: {by_hand}"


def _ways(found: "Meant", seen: "Review") -> Iterator[str]:
    from perpetualcc.sessions.worktrees.accepting import resolving
    from perpetualcc.sessions.worktrees.merging import Kind

    yield f"See it all:     pcc diff {found.id}"
    if seen.merge.kind is Kind.CONFLICTS:
        yield printable(f"Resolve it:     {resolving(found)}")
    elif seen.commits or seen.not_committed:
        commits = " --commit" if seen.not_committed else ""
        yield f"Take it:        pcc accept {found.id}{commits}"
    yield f"Throw it away:  pcc discard {found.id}"
