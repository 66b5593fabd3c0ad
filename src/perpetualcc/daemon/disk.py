"""
How much room the data directory takes, and how much is left for it.

What cannot be written cannot be kept.

Imports next to nothing: `pcc daemon status` looks too, without waking the engine.
"""

import errno
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from perpetualcc.domain.texts import bytes_in_words

NEARLY_FULL = 500_000_000
"""Bytes. A busy night's log, transcripts and checkpoints were below a tenth of that."""
FULL = 20_000_000
"""Bytes. SQLite's own log grows to some megabytes between two checkpoints."""

_DATABASE = "perpetualcc.db"
"""And what SQLite puts beside it."""


class Room(StrEnum):
    """Whether what happens can be written down."""

    ENOUGH = "enough"
    """Nobody need mind."""
    NEARLY_FULL = "nearly full"
    """There is time yet to make room."""
    FULL = "full"
    """What happens can hardly be written down any more: work waits or fails."""
    READ_ONLY = "read-only"
    """The same, however much is left: mounted so, or since the disk reported an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSpace:
    """One look at a file system. Sizes in bytes."""

    free: int
    """For us, without what is reserved for root."""
    total: int
    files_left: bool = True
    """False: no file can be made any more, however much room there is."""
    writable: bool = True

    @property
    def room(self) -> Room:
        if not self.writable:
            return Room.READ_ONLY
        if self.free < FULL or not self.files_left:
            return Room.FULL
        # A small disk is never nearly full by its size alone.
        return Room.NEARLY_FULL if self.free < min(NEARLY_FULL, self.total / 10) else Room.ENOUGH

    @property
    def is_spent(self) -> bool:
        """Nothing can be kept on it now."""
        return self.room in {Room.FULL, Room.READ_ONLY}

    def described(self) -> str:
        """`nearly full: 312 MB of 40.0 GB are left`."""
        if not self.writable:
            return f"{self.room}: nothing can be written"
        if self.free >= FULL and not self.files_left:
            return f"{self.room}: no more files can be made"
        return f"{self.room}: {bytes_in_words(self.free)} of {bytes_in_words(self.total)} are left"


def disk_space(place: Path) -> DiskSpace | None:
    """What is left where this is, or will be; None when it cannot be looked at."""
    existing = next(one for one in (place, *place.parents) if one.exists())
    try:
        found = os.statvfs(existing)
    except OSError:
        return None
    # File systems that make room for files as they need it count none at all.
    return DiskSpace(
        writable=not _is_read_only(existing),
        free=found.f_bavail * found.f_frsize,
        total=found.f_blocks * found.f_frsize,
        files_left=found.f_files == 0 or found.f_favail > 0,
    )


def spent_disk(place: Path) -> DiskSpace | None:
    """The same, where nothing can be kept on it now; None while it can."""
    space = disk_space(place)
    return space if space is not None and space.is_spent else None


def remedy(space: DiskSpace, place: Path) -> str:
    """What a person can do about it."""
    if not space.writable:
        return f"Look for disk errors, and mount what '{place}' lies on for writing"
    return f"Make room near '{place}'"


def _is_read_only(directory: Path) -> bool:
    """An attempt that changes nothing: ext4 does not list what it refuses after an error."""
    try:
        found = directory.stat()
        os.utime(directory, ns=(found.st_atime_ns, found.st_mtime_ns))
    except OSError as error:
        return error.errno == errno.EROFS
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """What lies in a data directory. Sizes in bytes, as the disk counts them."""

    parts: Mapping[str, int]
    """By what they are: `history`, `checkpoints`, `logs`, …; the largest first."""

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    def described(self) -> str:
        """`412 MB: history 380 MB, checkpoints 31 MB`."""
        worth_a_word = {name: size for name, size in self.parts.items() if size >= 1e6}
        named = [f"{name} {bytes_in_words(size)}" for name, size in worth_a_word.items()]
        total = bytes_in_words(self.total)
        return f"{total}: {', '.join(named)}" if len(named) > 1 else total


def disk_use(data: Path) -> DiskUse:
    """What we keep there by now; what cannot be looked at, or is gone meanwhile, counts nothing."""
    sizes: Counter[str] = Counter()
    for directory, _, files in os.walk(data):
        inside = Path(directory).relative_to(data).parts
        for name in files:
            part = inside[0] if inside else "history" if name.startswith(_DATABASE) else "other"
            with suppress(OSError):
                sizes[part] += os.lstat(f"{directory}/{name}").st_blocks * 512
    return DiskUse(parts=dict(sizes.most_common()))
