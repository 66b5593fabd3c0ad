"""Writing a file whole or not at all."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perpetualcc.domain.private_files import opened


def write_whole(path: Path, text: str, *, durable: bool = False) -> None:
    """
    Replace a file in one step: a reader sees the old or the new one, never half.

    It is its owner's alone (0600). With `durable` it also survives the power going. Missing
    directories are made.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = opened(fresh, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    try:
        # Half a character, of a file that anybody wrote, is JSON as an escape only.
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None when the file is missing, damaged or something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file. Waits; the lock goes with the process."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Where a repository brought a link, what it leads to is none of ours.
    descriptor = opened(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
