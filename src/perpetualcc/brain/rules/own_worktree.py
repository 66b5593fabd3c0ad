"""
What git may do in a worktree of its own branch: `.claude/worktrees/NAME` on `worktree-NAME`.

The work of a person is in none: what git does to it stays on its branch and in its reflog, and
its snapshot is taken before each task. Only files are read, and git is not asked.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from perpetualcc.domain.folders import (
    WORKTREE_BRANCH,
    WORKTREES,
    git_of_worktree,
    main_tree,
    outward,
)
from perpetualcc.domain.foreign_files import is_there, read_regular

# What takes one side without looking (`-s`, `-X`, `--squash`) is nobody's to approve: accepted
# later, it would take away what the other side has.
_MERGES_SO = r"(?:\s+(?:-[mqv]|--(?:message|quiet|(?:no-)?(?:edit|ff)|ff-only|no-commit|stat)))*"
_COMMANDS = re.compile(
    rf"""(?:(?:GIT_)?EDITOR=(?:true|:)\s+)?git\s+(?:
        (?:merge|rebase|cherry-pick)\s+--(?:continue|abort)
      | merge{_MERGES_SO}\s+(?P<merged>[\w.][\w./-]*){_MERGES_SO}
      | rebase(?:\s+(?:-q|--quiet))?\s+(?P<base>[\w.][\w./-]*)
      | checkout\s+--(?:ours|theirs)\s+(?:--\s+)?[^-\s;&|<>`$][^;&|<>`$\n]*
      | rm(?:\s+(?:-q|--quiet|--cached))*\s+(?:--\s+)?[^-\s;&|<>`$][^;&|<>`$\n]*
    )""",
    re.VERBOSE,
)
_OPTION_AFTER = re.compile(r"git (?:checkout|rm) .*\s-(?!-?\s|-ours|-theirs|q\b|-quiet|-cached)")
_REFERENCE = "ref: refs/heads/"
_LONGEST = 10_000
"""Bytes: the name of a branch."""
_LONGEST_LIST = 5_000_000
"""Bytes: the references of a repository in one file."""


def settles_in_its_worktree(project: Path, command: str) -> bool:
    """
    Whether it merges what the main working tree has checked out into a worktree's own branch,
    or goes on with such a merge, or takes it back.
    """
    found = _COMMANDS.fullmatch(command.strip())
    if found is None or _OPTION_AFTER.search(command):
        return False
    *_, top = outward(Path(os.path.realpath(project)))
    git = git_of_worktree(top) if str(top.parent).endswith(WORKTREES.rstrip("/")) else None
    if git is None or not _is_its_own(git, top.name):
        return False
    branch = found["merged"] or found["base"]
    return branch is None or _is_checked_out(branch, main_tree(top), top, git)


def _is_its_own(git: Path, name: str) -> bool:
    """In the middle of a rebase no branch is checked out, and git has noted which one it was."""
    own = f"refs/heads/{WORKTREE_BRANCH}{name}"
    rebased = (_line(git / place / "head-name") for place in ("rebase-merge", "rebase-apply"))
    return f"ref: {own}" == _line(git / "HEAD") or own in rebased


def _is_checked_out(branch: str, main: Path, top: Path, git: Path) -> bool:
    """Whether that name is the main working tree's branch, and to git no tag or anything else."""
    common = main / ".git"
    if main == top or _line(common / "HEAD") != _REFERENCE + branch:
        return False
    others = [f"refs/{branch}", f"refs/tags/{branch}"]
    if any(is_there(f"{place}/{one}") for place in (git, common) for one in (branch, *others)):
        return False
    try:
        packed = read_regular(common / "packed-refs", _LONGEST_LIST)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    names = {line.partition(b" ")[2].strip() for line in packed.splitlines()}
    return len(packed) < _LONGEST_LIST and names.isdisjoint(map(os.fsencode, others))


def _line(file: Path) -> str:
    with suppress(OSError):
        return os.fsdecode(read_regular(file, _LONGEST)).strip()
    return ""
