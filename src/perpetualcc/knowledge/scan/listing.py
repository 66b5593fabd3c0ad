"""
The files of a project, as its ignore rules leave them.

Git answers where there is git: it knows nested, global and negated rules, and a list of 28,000
files costs 70 ms. Elsewhere the folders are walked and `.gitignore` is read as git reads it.
"""

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from perpetualcc.knowledge.scan.filters import VENDORED, is_vendored

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    _Rules = tuple[tuple[str, GitIgnoreSpec], ...]

_NOT_SOURCE = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""A folder with one of these holds what a tool has made."""
_GIT = (
    "git",
    # A repository's own configuration must not start programs because somebody searched it.
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"),
)


def list_files(project: Path) -> Iterator[tuple[str, os.stat_result]]:
    """
    Every regular file that is not ignored, with its metadata; links are not followed.

    Unreadable folders and files that vanish meanwhile are left out.
    """
    listed = _listed_by_git(project)
    return _with_metadata(project, listed) if listed else _walk(project, "")


def _listed_by_git(project: Path) -> list[str]:
    command = [*_GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        found = subprocess.run(  # whichever git the user has
            command, cwd=project, capture_output=True, check=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return sorted({os.fsdecode(name) for name in found.stdout.split(b"\0") if name})


def _with_metadata(project: Path, names: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    root = f"{project}/"
    for name in names:
        if is_vendored(name.rpartition("/")[0]):
            continue
        try:
            metadata = os.lstat(root + name)
        except OSError:
            continue
        if stat.S_ISREG(metadata.st_mode):
            yield name, metadata
        elif stat.S_ISDIR(metadata.st_mode):  # a submodule, or a repository inside this one
            yield from _walk(project, name.rstrip("/"))


def _walk(project: Path, start: str) -> Iterator[tuple[str, os.stat_result]]:
    """Folder by folder. Symbolic links are skipped, so there are no loops."""
    waiting: list[tuple[str, _Rules]] = [(start, ())]
    while waiting:
        folder, rules = waiting.pop()
        entries = _entries(project / folder)
        names = {entry.name for entry in entries}
        if folder and not names.isdisjoint(_NOT_SOURCE):
            continue
        rules = (*rules, *_rules_of(project, folder, names))
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in VENDORED and not _is_ignored(path + "/", rules):
                    waiting.append((path, rules))
            elif entry.is_file(follow_symlinks=False) and not _is_ignored(path, rules):
                with suppress(OSError):
                    yield path, entry.stat(follow_symlinks=False)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _rules_of(project: Path, folder: str, names: set[str]) -> "Iterator[tuple[str, GitIgnoreSpec]]":
    if not folder:
        yield from _read_rules("", Path.home() / ".config/git/ignore")
        yield from _read_rules("", project / ".git/info/exclude")
    if ".gitignore" in names:
        yield from _read_rules(folder, project / folder / ".gitignore")


def _read_rules(folder: str, file: Path) -> "Iterator[tuple[str, GitIgnoreSpec]]":
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  # 20 ms that a git checkout never pays

    yield folder, GitIgnoreSpec.from_lines(lines)


def _is_ignored(path: str, rules: "_Rules") -> bool:
    """The innermost file with an opinion decides, as in gitignore(5)."""
    for folder, spec in reversed(rules):
        verdict = spec.check_file(path[len(folder) + 1 :] if folder else path)
        if verdict.include is not None:
            return verdict.include
    return False
