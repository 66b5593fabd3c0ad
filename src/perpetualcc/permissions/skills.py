"""
Skills that a person who trusted the project has not seen.

In a trusted project Claude Code (2.1.330) also finds the skills of every directory in which it
reads or writes a file, with the hooks in their front matter, and calls them by their own names.
What `pcc trust` shows and watches is the project's own `.claude`.
"""

import os

_MOST = 5_000
"""Directories that are looked into; in a larger project nobody can tell, so a person is asked."""


def has_unseen_skill(project: str, home: str, name: str) -> bool:
    """Whether the skill `name` may be one of a directory deeper in the project."""
    own = (f"skills/{name}/SKILL.md", f"commands/{name}.md")
    known = [f"{root}/.claude/{place}" for root in (project, home) for place in own]
    if name and "/" not in name and any(map(os.path.lexists, known)):
        return False
    for looked_into, (place, folders, _) in enumerate(os.walk(project)):
        named = {folder: folder.lower() for folder in folders}  # `.Claude`, where that is the same
        if looked_into > _MOST or (place != project and ".claude" in named.values()):
            return True
        folders[:] = [one for one, name in named.items() if name not in {".claude", ".git"}]
    return False
