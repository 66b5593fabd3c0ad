"""
Claude Code's own worktrees: `PROJECT/.claude/worktrees/NAME`, one to a session or a subagent.

What lies in one is judged as if the worktree were the project. The directory that holds them
stays what it is, a part of `.claude`.
"""

import re

from perpetualcc.domain.folders import WORKTREES

_NAME = re.compile(r"([\w-][\w.+-]*)(?:/|\Z)", re.ASCII)
"""As Claude Code makes them (2.1.330). A pattern, or what is known at run time, may mean `..`."""


def is_worktree(project: str, path: str) -> bool:
    """Whether `path` is where Claude Code has, or would make, a worktree of `project`."""
    holder = project + WORKTREES
    name = _NAME.fullmatch(path, len(holder)) if path.startswith(holder) else None
    return name is not None


def root_of(project: str, path: str) -> str:
    """The worktree of `project` that `path` lies in, else `project`; both normalised, absolute."""
    root = project
    while path.startswith(holder := root + WORKTREES):
        name = _NAME.match(path, len(holder))
        if name is None:
            break
        root = holder + name[1]
    return root
