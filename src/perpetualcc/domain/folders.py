"""Folders as a person means them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from perpetualcc.domain.foreign_files import read_regular

_MACOS_DATA = Path("/System/Volumes/Data")
"""Where macOS keeps what `/Users` and others show: the same folders by another name."""

WORKTREES = "/.claude/worktrees/"
"""Where Claude Code (2.1.330) makes worktrees of a project, one to a session or a subagent."""
WORKTREE_BRANCH = "worktree-"
"""How branches are called that are made with a worktree, by us and by Claude Code."""
_LEADS_TO = b"gitdir:"
_LONGEST_LINK = 10_000
"""Bytes: a path, and a word."""


def expanded(path: Path) -> Path:
    """`~` and `~name` are a home directory; where nobody is called so, it is a file's name."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_folder(path: Path) -> bool:
    """Also of what no path can be: a text, typed where a folder's name was meant."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def canonical(path: Path) -> Path:
    """
    The one name of a folder: without links, and as the disk spells it.

    On the usual disk of a Mac `SRC` is `src`: what is known about one must hold for the other.
    """
    resolved = expanded(path).resolve()
    if resolved.is_relative_to(_MACOS_DATA):
        plain = Path("/") / resolved.relative_to(_MACOS_DATA)
        with suppress(OSError):
            resolved = plain if plain.samefile(resolved) else resolved
    found = Path(resolved.anchor)
    for name in resolved.parts[1:]:
        found /= _spelled(found, name)
    return found


def _spelled(folder: Path, name: str) -> str:
    """As `folder` lists it; as it was given where that is not another spelling of what is there."""
    with suppress(OSError):
        there = os.stat(folder / name)  # noqa: PTH116  # as below
        if name.isascii() and not os.path.samestat(there, os.stat(folder / name.swapcase())):  # noqa: PTH116
            return name
        listed = os.listdir(folder)  # noqa: PTH208
        same = (one for one in listed if alike(one) == alike(name))
        if name not in listed:
            return next((one for one in same if (folder / one).stat().st_ino == there.st_ino), name)
    return name


def alike(name: str) -> str:
    """What all spellings of a name have in common that some disk takes for one."""
    import unicodedata  # noqa: PLC0415  # a supervisor hardly ever needs it

    return unicodedata.normalize("NFKD", name).casefold()


def outward(folder: Path) -> Iterator[Path]:
    """The folder, then those it is in, as far as the repository (a submodule, a worktree) goes."""
    for place in (folder, *folder.parents):
        yield place
        if is_repository(place):
            return


def main_tree(folder: Path) -> Path:
    """
    The folder in its repository's main working tree; as it is where that is no linked worktree.

    A worktree that Claude Code made, and that is gone, is known by its path.
    """
    *_, top = outward(folder)
    main = _main_of(top)
    if main is None:
        return Path(str(folder).partition(WORKTREES)[0]) if not folder.exists() else folder
    same = main / folder.relative_to(top)
    return same if same.is_dir() else main


def home_of(place: Path) -> Path:
    """The same place in the project that the worktree of Claude Code's it lies in is one of."""
    outer, holder, inner = str(place).rpartition(WORKTREES)
    if not holder:
        return place
    _name, _, below = inner.partition("/")
    return home_of(Path(outer) / below)


def is_inside(place: Path, folder: Path) -> bool:
    """Whether it lies below a folder, and in no worktree there: that is a checkout of its own."""
    return folder in place.parents and not str(place).startswith(f"{folder}{WORKTREES}")


def outside(path: str, folder: Path | None = None) -> str:
    """
    A PATH without relative folders, and without those that lie in `folder`; None: in any
    repository. What a project has there under the name of a system's program is not that program.
    """
    kept = []
    for one in path.split(os.pathsep):
        place = Path(os.path.realpath(one))
        of = [*outward(place)][-1] if folder is None else folder
        is_theirs = is_repository(of) if folder is None else place.is_relative_to(of)
        if os.path.isabs(one) and not is_theirs:  # noqa: PTH117
            kept.append(one)
    return os.pathsep.join(kept)


def overlap(one: Path, other: Path) -> bool:
    """Whether what is written in one of them may be a file of the other."""
    return one == other or is_inside(one, other) or is_inside(other, one)


def is_worktree(folder: Path) -> bool:
    """Whether it is the top of a linked worktree: another checkout of a repository."""
    return git_of_worktree(folder) is not None


def _main_of(top: Path) -> Path | None:
    """The main working tree of a linked one; a bare repository has none, a submodule is its own."""
    linked = git_of_worktree(top)
    if linked is None or linked.parent.parent.name != ".git":
        return None
    with suppress(OSError):  # git writes there where the worktree is: nobody just claims to be one
        if Path(
            os.fsdecode(read_regular(linked / "gitdir", _LONGEST_LINK).strip())
        ).parent.samefile(top):
            return linked.parent.parent.parent
    return None


def git_of_worktree(top: Path) -> Path | None:
    """What a worktree's `.git` file leads to: a place among the repository's worktrees."""
    try:
        line = read_regular(top / ".git", _LONGEST_LINK).partition(b"\n")[0]
    except OSError:
        return None
    if not line.startswith(_LEADS_TO):
        return None
    place = os.path.normpath(top / os.fsdecode(line.removeprefix(_LEADS_TO).strip()))
    return Path(place) if Path(place).parent.name == "worktrees" else None


def above(folder: Path) -> tuple[Path, ...]:
    """
    The folders it is in, the nearest first, as far as its repository goes.

    Outside of a repository there are none: what is in `/tmp` or `/home` may be anybody's.
    """
    folders = tuple(outward(folder))
    return folders[1:] if is_repository(folders[-1]) else ()


def is_repository(folder: Path) -> bool:
    """Whether it is the top of one, as far as one may look."""
    # At every tool call: plain text, as making a `Path` takes longer than the look.
    return os.path.exists(f"{folder}/.git")  # noqa: PTH110  # False, whatever is wrong
