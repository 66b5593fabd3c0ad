"""Files that several processes read and write."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.private_files import opened


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None when the file is missing, damaged or something else."""
    try:
        found = json.loads(read_regular(path).decode(errors="surrogateescape"))
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
