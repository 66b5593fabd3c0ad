"""Files for their owner alone, whatever the umask: that belongs to what Claude writes."""

import fcntl
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600


def opened(path: Path | str, flags: int) -> int:
    """A descriptor of a file that is 0600 from here on, also when an older version left it open."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):  # and not /dev/null by way of a link
        os.fchmod(descriptor, PRIVATE)
    return descriptor


def opened_log(path: Path, flags: int = 0) -> int:
    """The same, to add lines to, whatever stands in its place: no reader is waited for."""
    make_way(path)
    return opened(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | flags)


def make_way(path: Path) -> None:
    """Move aside what is in the place of a file of ours and cannot be one: a pipe, a directory."""
    with suppress(OSError):  # whoever opens it says what is wrong
        kind = path.stat().st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISDIR(kind) or stat.S_ISSOCK(kind):
            path.rename(path.with_name(f"{path.name}.aside-{time.time_ns()}"))


def write_whole(
    path: Path, text: str | bytes, *, mode: int = PRIVATE, durable: bool = False
) -> None:
    """
    Replace a file in one step: a reader sees the old or the new one, never half.

    It is its owner's alone, unless `mode` says otherwise. With `durable` it also survives the power
    going. Missing directories are made.

    Raises:
        OSError: the old file is as it was.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    # Half a character, of a file that anybody wrote, is JSON as an escape only.
    data = text if isinstance(text, bytes) else text.encode(errors="backslashreplace")
    descriptor = opened(fresh, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            if durable:
                flush_to_disk(descriptor)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def flush_to_disk(descriptor: int) -> None:
    """
    Return once what was written survives the power going.

    On macOS `fsync` only hands it to the disk, which may keep it in its own memory (fsync(2)).
    """
    wholly = getattr(fcntl, "F_FULLFSYNC", None)
    if wholly is not None:
        with suppress(OSError):  # a file system that has none of it
            fcntl.fcntl(descriptor, wholly)
            return
    os.fsync(descriptor)


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
