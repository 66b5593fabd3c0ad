"""
Whose instructions a skill is: a person's own, of a project that they looked at, or nobody's.

In a trusted project Claude Code (2.1.330) also finds the skills of every directory in which it
reads or writes a file, with the hooks in their front matter, and calls them by their own names.
What `pcc trust` shows and watches is the project's own `.claude`.
"""

import os
from pathlib import Path

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.permissions.trust import EXECUTED, FILE_LIMIT

_MOST = 5_000
"""Directories that are looked into; in a larger project nobody can tell, so a person is asked."""


def own_skill(project: str, home: str, name: str) -> str:
    """The file of a person's own skill or command, or of one that `pcc trust` shows; or empty."""
    if not name or "/" in name or ".." in name:
        return ""
    own = (f"skills/{name}/SKILL.md", f"commands/{name.replace(':', '/')}.md")
    known = (f"{root}/.claude/{place}" for root in (project, home) for place in own)
    return next(filter(os.path.lexists, known), "")


def runs_commands(skill: str) -> bool:
    """
    Whether a skill's file has commands that run as it is loaded (``!`git log $ARGUMENTS` ``).

    Measured on 2.1.332: an `!` in the arguments runs nothing.
    """
    try:
        text = read_regular(Path(skill), FILE_LIMIT + 1).decode("utf-8", "replace")
    except (OSError, ValueError):
        return True
    return len(text) > FILE_LIMIT or EXECUTED.search(text) is not None


def has_unseen_skill(project: str) -> bool:
    """Whether some skill may be one of a directory deeper in the project."""
    for looked_into, (place, folders, _) in enumerate(os.walk(project)):
        named = {folder: folder.lower() for folder in folders}  # `.Claude`, where that is the same
        if looked_into > _MOST or (place != project and ".claude" in named.values()):
            return True
        folders[:] = [one for one, name in named.items() if name not in {".claude", ".git"}]
    return False
