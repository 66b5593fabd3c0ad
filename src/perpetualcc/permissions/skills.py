"""
Skills that a person who trusted the project has not seen.

In a trusted project Claude Code (2.1.330) also finds the skills of every directory in which it
reads or writes a file, with the hooks in their front matter, and calls them by their own names.
What `pcc trust` shows and watches is the project's own `.claude`.
"""

import os

_MOST = 20_000
"""Directories that are looked into; in a larger project nobody can tell, so a person is asked."""


def has_unseen_skill(project: str, name: str) -> bool:
    """Whether the skill `name` may come from a directory below the project's own ones."""
    if (
        name
        and "/" not in name
        and any(os.path.lexists(f"{project}/.claude/{p}") for p in _own(name))
    ):
        return False
    for looked_into, (place, folders, _) in enumerate(os.walk(project)):
        if looked_into > _MOST:
            return True
        if place != project and ".claude" in folders:
            return True
        folders[:] = [folder for folder in folders if folder not in {".claude", ".git"}]
    return False


def _own(name: str) -> tuple[str, ...]:
    return f"skills/{name}/SKILL.md", f"commands/{name}.md"
