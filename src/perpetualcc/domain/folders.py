"""Folders as a person means them."""

import os
from collections.abc import Iterator
from pathlib import Path


def expanded(path: Path) -> Path:
    """`~` and `~name` are a home directory; where nobody is called so, it is a file's name."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def outward(folder: Path) -> Iterator[Path]:
    """The folder, then those it is in, as far as the repository (a submodule, a worktree) goes."""
    for place in (folder, *folder.parents):
        yield place
        if is_repository(place):
            return


def above(folder: Path) -> tuple[Path, ...]:
    """
    The folders it is in, the nearest first, as far as its repository goes.

    Outside of a repository there are none: what is in `/tmp` or `/home` may be anybody's.
    """
    folders = tuple(outward(folder))
    return folders[1:] if is_repository(folders[-1]) else ()


def is_repository(folder: Path) -> bool:
    """Whether it is the top of one, as far as one may look."""
    return os.path.exists(folder / ".git")  # noqa: PTH110  # False, whatever is wrong
