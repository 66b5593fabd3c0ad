"""
What no sandboxed command may read (seed 003, NFR-3): the credentials in the home that there are.

They are those that the gate knows (`protected.toml`), since a test that was written to do harm
passes it as any test does.
"""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from perpetualcc.domain.folders import canonical
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.protected import Guard
from perpetualcc.permissions.settings import PermissionSettings


def unreadable(settings: PermissionSettings, project: Path) -> list[Path]:
    """Files and folders that there are now, none of them in another or around the project."""
    places = _Places()
    found = {
        canonical(path)
        for pattern in (*_known(), *settings.credential_paths)
        for path in places.of(pattern, settings.home)
    }
    found |= {
        canonical(path)
        for pattern in settings.credential_paths
        if not pattern.startswith(("/", "~"))
        for path in places.of(pattern, project)
    }
    kept = (canonical(settings.home), canonical(project))
    closed = {
        path
        for path in found
        if os.path.exists(path) and not any(one.is_relative_to(path) for one in kept)  # noqa: PTH110  # False, whatever is wrong
    }
    return sorted(path for path in closed if closed.isdisjoint(path.parents))


@cache
def _known() -> tuple[str, ...]:
    """The patterns of the home's credentials."""
    spared, places = load_table("unreadable"), load_table("protected")["place"]
    patterns = [
        pattern
        for place in places
        if place["guard"] == Guard.CREDENTIAL and place["read"] == Risk.HIGH
        for pattern in place["patterns"]
        if not pattern.startswith("/") and pattern not in spared["needed"]
    ]
    return (*patterns, *spared["beside"])


class _Places:
    """What a disk has of a pattern, however it writes the names."""

    def __init__(self) -> None:
        self._listed: dict[Path, dict[str, list[str]]] = {}

    def of(self, pattern: str, home: Path) -> Iterator[Path]:
        """Of one from the root, or from `home`."""
        parts = [part for part in pattern.lower().split("/") if part not in {"", "~"}]
        if parts:
            yield from self._below(Path("/") if pattern.startswith("/") else home, parts)

    def _below(self, folder: Path, parts: Sequence[str]) -> Iterator[Path]:
        names = self._names(folder)
        for name in (parts[0],) if parts[0] in names else names:
            if fnmatchcase(name, parts[0]) or name == parts[0]:
                for written in names[name]:
                    path = folder / written
                    yield from self._below(path, parts[1:]) if parts[1:] else (path,)

    def _names(self, folder: Path) -> dict[str, list[str]]:
        """By their names in small letters."""
        if folder not in self._listed:
            listed: dict[str, list[str]] = {}
            try:
                for name in os.listdir(folder):  # noqa: PTH208  # names are all that is wanted
                    listed.setdefault(name.lower(), []).append(name)
            except OSError:
                listed = {}
            self._listed[folder] = listed
        return self._listed[folder]
