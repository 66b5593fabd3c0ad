"""
Which files of a project changed since a moment, however they were changed.

A shell command writes files too. Git is asked where there is a repository, since it knows what to
leave out; elsewhere the tree is looked through, up to a limit. Never raises.
"""

import math
import os
from pathlib import Path

from perpetualcc.sessions.handover.repository import (
    changed_since,
    committed_since,
    is_versioned,
    uncommitted,
)

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
    if is_versioned(project):
        found = {*changed_since(project, uncommitted(project), since)}
        found.update(committed_since(project, since))
    else:
        found = _written(project, since)
    return sorted(name for name in found if not (_OURS | _LEFT_OUT).intersection(Path(name).parts))[
        :_MOST
    ]


def _written(project: Path, since: float) -> set[str]:
    found: set[str] = set()
    folders, seen = [""], 0
    while folders and seen <= _ENTRIES:
        folder = folders.pop()
        for entry in _entries(project / folder):
            seen += 1
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _LEFT_OUT | _OURS:
                    folders.append(name)
            elif _modified_at(entry) >= since:
                found.add(name)
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _modified_at(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return math.inf
