"""Directories for a moment, also where the process that made them was killed before it was over."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perpetualcc.claude.processes import is_alive

_NAME = re.compile(r"pcc-[a-z]+-(\d+)-\w+")


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """
    A directory of its own, 0700; those that killed processes of ours left behind are removed.

    Raises:
        OSError: the disk takes none.
    """
    _remove_orphans(kind)
    with tempfile.TemporaryDirectory(prefix=f"pcc-{kind}-{os.getpid()}-") as folder:
        yield Path(folder)


def _remove_orphans(kind: str) -> None:
    for left in Path(tempfile.gettempdir()).glob(f"pcc-{kind}-*"):
        named = _NAME.fullmatch(left.name)
        with suppress(FileNotFoundError):  # another one removes them, too
            is_ours = not left.is_symlink() and left.stat().st_uid == os.getuid()
            if named and is_ours and not is_alive(int(named[1])):
                shutil.rmtree(left, ignore_errors=True)
