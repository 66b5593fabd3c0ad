"""
The files of a project, as its ignore rules leave them.

Git answers where there is git: it knows nested, global and negated rules, and a list of 28,000
files costs 70 ms. Elsewhere the folders are walked and `.gitignore` is read as git reads it.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from perpetualcc.knowledge.scan.filters import VENDORED

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

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
    if listed:
        yield from _with_metadata(project, listed)
    else:
        yield from _walk(project, "", [])


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
    for name in names:
        if not VENDORED.isdisjoint(name.split("/")[:-1]):
            continue
        try:
            metadata = os.lstat(project / name)
        except OSError:
            continue
        mode = metadata.st_mode & 0o170000
        if mode == 0o100000:
            yield name, metadata
        elif mode == 0o040000:  # a submodule, or a repository inside this one
            yield from _walk(project, name.rstrip("/"), [])


def _walk(
    project: Path, folder: str, rules: "list[tuple[str, GitIgnoreSpec]]"
) -> Iterator[tuple[str, os.stat_result]]:
    """Depth first in the order of names. Symbolic links are skipped, so there are no loops."""
    try:
        entries = sorted(os.scandir(project / folder), key=lambda entry: entry.name)
    except OSError:
        return
    names = {entry.name for entry in entries}
    if folder and not names.isdisjoint({"CACHEDIR.TAG", "pyvenv.cfg"}):
        return
    rules = [*rules, *_rules_of(project, folder, names)]
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder:
                if entry.name not in VENDORED and not _is_ignored(path + "/", rules):
                    yield from _walk(project, path, rules)
            elif entry.is_file(follow_symlinks=False) and not _is_ignored(path, rules):
                yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue


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


def _is_ignored(path: str, rules: "list[tuple[str, GitIgnoreSpec]]") -> bool:
    """The innermost file with an opinion decides, as in gitignore(5)."""
    for folder, spec in reversed(rules):
        inside = PurePosixPath(path).relative_to(folder).as_posix() if folder else path
        verdict = spec.check_file(inside + "/" if path.endswith("/") and folder else inside)
        if verdict.include is not None:
            return verdict.include
    return False
