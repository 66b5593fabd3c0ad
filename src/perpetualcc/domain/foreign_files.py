"""
Files that anybody may have put there: a repository, an agent, another user of the machine.

Opening a pipe waits for a writer for ever, and `/dev/zero` never ends.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


def is_there(path: str) -> bool:
    """Also what cannot be looked at, and a link that leads nowhere: somebody meant it to count."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in _NOTHING_THERE
    except ValueError:
        return False
    return True


def read_regular(path: Path, limit: int = -1) -> bytes:
    """
    The first `limit` bytes of a regular file, or all; links to one count as it.

    Raises:
        OSError: it is gone, unreadable, or no regular file.
    """
    with open_regular(path) as file:
        return file.read(limit)


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """
    The same, to be read bit by bit. `follow`: a link to one counts as it.

    Raises:
        OSError: it is gone, unreadable, or no regular file.
    """
    links = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"Not a regular file: {path}")
    return os.fdopen(descriptor, "rb")
