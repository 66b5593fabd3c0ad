"""
Which files of a project changed since a moment, however they were changed.

A shell command writes files too. Git is asked where there is a repository, since it knows what to
leave out; elsewhere the tree is looked through, up to a limit. Never raises.
"""

import os
from pathlib import Path

from perpetualcc.sessions.handover.repository import changed_since, committed_since, uncommitted

_MOST = 200
"""Files that are told of; of more, the first by name."""
_ENTRIES = 20_000
"""Entries of a tree without git that are looked at: about 40 ms."""
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", "target", ".tox"}
)
_OURS = frozenset({".perpetualcc", ".claude-handover", ".claude"})


def changed_files(project: Path, since: float) -> list[str]:
    """Relative to the project, by name; in a repository those that are gone as well."""
    if (project / ".git").exists():
        found = {*changed_since(project, uncommitted(project), since)}
        found.update(committed_since(project, since))
    else:
        found = _written(project, since)
    return sorted(name for name in found if not (_OURS | _LEFT_OUT).intersection(Path(name).parts))[
        :_MOST
    ]


def _written(project: Path, since: float) -> set[str]:
    found, seen = set(), 0
    for folder, folders, names in os.walk(project):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT | _OURS)
        seen += len(folders) + len(names)
        relative = [str((Path(folder) / name).relative_to(project)) for name in sorted(names)]
        found.update(changed_since(project, relative, since))
        if seen > _ENTRIES:
            break
    return found
