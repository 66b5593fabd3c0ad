"""`pcc start --worktree`: a working tree of its own, made where Claude Code makes them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import printable
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import WORKTREE_BRANCH, WORKTREES, canonical, is_worktree, main_tree
from perpetualcc.domain.git import GIT, OWN_FILTERS, git_environment

_NAME = re.compile(r"[\w-][\w.+-]*", re.ASCII)
"""As Claude Code takes them (2.1.330)."""
_NO_COMMIT = "It has no commit yet, and a worktree begins with one"


def worktree_of(project: Path, name: str) -> Path:
    """
    `project` as it is in its repository's worktree `name`, which is made unless it is there.

    A new one begins with the newest commit, on a branch `worktree-NAME`, as `claude -w NAME` names
    it too; git does not see the directory that holds them.

    Raises:
        PerpetualError: there is no repository, no commit, or git refuses.
    """
    if not _NAME.fullmatch(name) or ".." in name or name.startswith("-"):
        raise Mistyped(
            f"A worktree cannot be called {name!r}", hint="Letters, digits, '-', '_', '.' and '+'"
        )
    if not project.is_dir():
        raise PerpetualError(f"Project path '{project}' is not a directory")
    home = main_tree(canonical(project))
    top = Path(
        git_says(home, "rev-parse", "--show-toplevel", why=f"'{project}' is in no git repository")
    )
    place = Path(f"{top}{WORKTREES}{name}")
    if is_worktree(place):
        _refuse_unfinished(place)
    else:
        make(top, place, f"{WORKTREE_BRANCH}{name}")
    inner = place / home.relative_to(canonical(top))
    if not inner.is_dir():
        raise PerpetualError(
            f"'{inner}' is not in the worktree",
            hint="Is it committed? A worktree holds what its branch does",
        )
    return inner


def make(top: Path, place: Path, branch: str, begins: str = "HEAD") -> None:
    """
    On that branch; a new one begins with the commit `begins`, and without a name there is none.

    Raises PerpetualError: the repository names filters, has no commit, or git refuses.
    """
    by_hand = f"git -C {shlex.quote(str(top))} worktree add {shlex.quote(str(place))}"
    if ask_git(top, *OWN_FILTERS).stdout:
        raise PerpetualError(
            "This repository's own settings name filters, which are programs",
            hint=f"Make the worktree yourself, and start there: {by_hand}",
        )
    git_says(top, "rev-parse", "--verify", "--quiet", f"{begins}^{{commit}}", why=_NO_COMMIT)
    known = ask_git(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}").returncode
    is_known = branch and known == 0
    new = ("-b", branch) if branch else ("--detach",)
    words = ("--", str(place), branch) if is_known else (*new, "--", str(place), begins)
    _hide(place.parent)
    where = f"on the branch {branch}" if branch else f"at {begins[:12]}"
    print(printable(f"Making the worktree '{place}', {where} …"), file=sys.stderr)
    git_says(top, "worktree", "add", "--quiet", *words, why=f"git makes no worktree '{place}'")


def _refuse_unfinished(place: Path) -> None:
    """While git makes one, and where it was killed meanwhile, the worktree is locked so."""
    why = f"git does not know '{place}'"
    own = Path(git_says(place, "rev-parse", "--absolute-git-dir", why=why))
    lock = own / "locked"
    if lock.exists() and lock.read_text("utf-8", "replace").strip() == "initializing":
        raise PerpetualError(
            f"git has not finished making the worktree '{place}'",
            hint=f"If it was ended: git worktree remove --force --force {shlex.quote(str(place))}",
        )


def _hide(holder: Path) -> None:
    """`git add -A` in the main working tree is not to take the worktrees along."""
    holder.mkdir(parents=True, exist_ok=True)
    ignored = holder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")


def git_says(place: Path, *words: str, why: str) -> str:
    """What it prints. Raises PerpetualError, which says why, in our words and in its own."""
    done = ask_git(place, *words)
    if done.returncode != 0:
        own = done.stderr.strip().removeprefix("fatal: ")
        raise PerpetualError(why, hint=f"git says: {own}" if own else None)
    return done.stdout.removesuffix("\n")


def ask_git(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            [*GIT, "-C", str(place), *words],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
            env=git_environment(place),
            check=False,
        )
    except OSError as error:
        raise PerpetualError("git cannot be run", hint=str(error)) from error
