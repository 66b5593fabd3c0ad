"""Files for their owner alone, whatever the umask: that belongs to what Claude writes."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

PRIVATE = 0o600


def opened(path: Path | str, flags: int) -> int:
    """A descriptor of a file that is 0600 from here on, also when an older version left it open."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    os.fchmod(descriptor, PRIVATE)
    return descriptor


def make_private(paths: Iterable[Path]) -> None:
    """Take from regular files of ours what others may do with them. Links and strangers' stay."""
    for path in paths:
        try:
            found = path.lstat()
            is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
            if is_ours and stat.S_IMODE(found.st_mode) != PRIVATE:
                path.chmod(PRIVATE)
        except OSError:  # gone meanwhile
            continue
