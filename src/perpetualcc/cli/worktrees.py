"""`pcc worktrees`: what sessions side by side have left on the disk, and what of it may go."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli.look import print_json, printable, table
from perpetualcc.cli.options import GlobalOptions, JsonOption, directory
from perpetualcc.cli.statuses import SHOWN
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.cli.worktree import ask_git, git_says
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import WORKTREE_BRANCH, WORKTREES, canonical, main_tree
from perpetualcc.domain.git import OWN_FILTERS, without_filters
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import bytes_in_words, counted

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A linked worktree of a project."""

    path: Path
    branch: str
    """Empty: none is checked out."""
    size: int
    """Bytes on the disk."""
    keeps: tuple[str, ...]
    """Why it stays. Empty: all that was made there is committed, and merged."""

    @property
    def name(self) -> str:
        return self.path.name

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": str(self.path),
            "branch": self.branch or None,
            "bytes": self.size,
            "removable": not self.keeps,
            "keeps": list(self.keeps),
        }


@app.command()
def worktrees(
    ctx: typer.Context,
    project: Annotated[
        Path, typer.Argument(metavar="PROJECT", help="The project's directory")
    ] = Path(),
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove those that may go, with their branches")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """
    List a project's worktrees in .claude/worktrees, and which of them may go.

    One may go when all in it is committed and merged, and no session works there. What git ignores
    in it (.env, node_modules) goes with it.

    Example: pcc worktrees ./api --remove
    """
    if remove:
        no_run_of_ours(ctx.obj, "removes worktrees")
    top = _top(project)
    sessions = _sessions(ctx.obj)
    found = [_tree(top, told, sessions) for told in _linked(top)]
    may_go = [tree for tree in found if not tree.keeps]
    gone = [tree for tree in may_go if remove and _removed(top, tree)]
    if as_json:
        print_json([tree.as_json() | {"removed": tree in gone} for tree in found])
    elif not remove:
        where = "" if project == Path() else f" {shlex.quote(str(project))}"
        _show(found, f"pcc worktrees{where} --remove")
    elif gone:
        for one in gone:
            print(printable(f"Removed {one.name}, {bytes_in_words(one.size, digits=1)}"))
    else:
        print("None went. See why with: pcc worktrees")


def _show(found: Sequence[Tree], removes: str) -> None:
    if not found:
        print("No worktrees. Begin with one: pcc start --worktree NAME")
        return
    rows = [
        (
            tree.name,
            tree.branch,
            bytes_in_words(tree.size, digits=1),
            "\n".join(tree.keeps) or "may go",
        )
        for tree in found
    ]
    print(table(["Worktree", "Branch", "Size", "State"], rows))
    if may_go := [tree.size for tree in found if not tree.keeps]:
        much = bytes_in_words(sum(may_go), digits=1)
        print(f"{counted(len(may_go), 'worktree')} may go, {much}: {removes}")


def _top(project: Path) -> Path:
    home = main_tree(directory(project))
    none = f"'{project}' is in no git repository (pcc worktrees PROJECT)"
    return canonical(Path(git_says(home, "rev-parse", "--show-toplevel", why=none)))


def _linked(top: Path) -> Iterator[dict[str, str]]:
    """What git says of each worktree where Claude Code makes them."""
    said = git_says(top, "worktree", "list", "--porcelain", why="git lists no worktrees")
    for block in said.split("\n\n"):
        told = dict(line.partition(" ")[::2] for line in block.splitlines())
        if told.get("worktree", "").startswith(f"{top}{WORKTREES}"):
            yield told


def _tree(top: Path, told: dict[str, str], sessions: Sequence[tuple[str, str, Path]]) -> Tree:
    path = Path(told["worktree"])
    print(printable(f"Looking at '{path}' …"), file=sys.stderr)
    return Tree(
        path=path,
        branch=told.get("branch", "").removeprefix("refs/heads/"),
        size=sum(_sizes(path)),
        keeps=tuple(_reasons(top, path, told, sessions)),
    )


def _reasons(
    top: Path, path: Path, told: dict[str, str], sessions: Sequence[tuple[str, str, Path]]
) -> Iterator[str]:
    for session, status, project in sessions:
        if project.is_relative_to(path):
            yield f"session {session} is {SHOWN[SessionStatus(status)][1].lower()}"
    if Path.cwd().is_relative_to(path):
        yield "you are in it"
    if "locked" in told:
        yield f"locked: {told['locked']}".removesuffix(": ")
    if "prunable" in told:
        yield "gone; git worktree prune"
        return
    filters = _no_filters(path)
    if filters is None:
        yield "not looked at: the repository's own settings name filters"
    elif changed := _changed(path, filters):
        yield f"{counted(changed, 'file')} not committed"
    why = f"git does not know what of '{path}' is merged"
    ahead = int(git_says(top, "rev-list", "--count", f"HEAD..{told['HEAD']}", why=why))
    if ahead:
        yield f"{counted(ahead, 'commit')} not merged"


def _no_filters(path: Path) -> tuple[str, ...] | None:
    return without_filters(ask_git(path, *OWN_FILTERS).stdout)


def _changed(path: Path, filters: Sequence[str]) -> int:
    """How many files are not as they were committed."""
    words = (*filters, "status", "--porcelain", "--untracked-files=all")
    said = git_says(path, *words, why=f"git does not know what is new in '{path}'")
    return len(said.splitlines())


def _sessions(options: GlobalOptions) -> list[tuple[str, str, Path]]:
    from perpetualcc.store.recorded import open_sessions

    return open_sessions(options.locations.database)


def _removed(top: Path, tree: Tree) -> bool:
    """Without force: git looks once more whether something is lost."""
    try:
        filters = _no_filters(tree.path) or ()
        words = (*filters, "worktree", "remove", str(tree.path))
        git_says(top, *words, why=f"git keeps '{tree.path}'")
        if tree.branch.startswith(WORKTREE_BRANCH):
            git_says(top, "branch", "-d", tree.branch, why=f"git keeps the branch {tree.branch}")
    except PerpetualError as error:
        print(printable(f"note: {error.message}. {error.hint or ''}".strip()), file=sys.stderr)
    return not tree.path.exists()


def _sizes(folder: Path) -> Iterator[int]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    yield from _sizes(Path(entry.path))
    except OSError:
        return
