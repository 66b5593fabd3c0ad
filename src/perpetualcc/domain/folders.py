"""Folders as a person means them."""

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
        if (place / ".git").exists():
            return
