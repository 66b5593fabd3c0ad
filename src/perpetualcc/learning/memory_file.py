"""
A project's `.data/memory.json` (seed 004): what its user prefers, readable and diffable.

Every change is made under a lock, written whole, and leaves the version before as a backup. The
ids of the events that went in are part of the same write, so an event counts once however often
the worker was killed.
"""

import contextlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.domain.private_files import write_whole
from perpetualcc.learning.files import locked, read_json
from perpetualcc.learning.preferences import Preference, from_json, named_apart

log = logging.getLogger(__name__)

VERSION = 1
EVENTS_KEPT = 256
"""The worker repeats at most the events since it last saved its place: far fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What the file holds."""

    preferences: tuple[Preference, ...] = ()
    events: tuple[str, ...] = ()


class MemoryFile:
    """One memory on disk. Several processes may change it at once."""

    def __init__(
        self, path: Path, *, is_in_project: bool = False, first: "MemoryFile | None" = None
    ) -> None:
        """
        In a project it is kept out of git: a directory that we make ignores itself.

        `first`: what this one goes on from, while it is not there.
        """
        self.path = path
        self._is_in_project = is_in_project
        self._first = first
        self.backup = path.with_name(path.name + ".backup")
        self.lock = path.with_name("memory.lock")

    @property
    def is_ours(self) -> bool:
        """
        Whether nothing else stands in its place: a link, a directory, another program's file, one
        of a newer version. One of ours that was damaged has a backup.
        """
        files = (self.path, self.backup, self.lock)
        if self.path.parent.is_symlink() or any(map(_is_strange, files)):
            return False
        return not self.path.exists() or self._read() is not None

    @property
    def is_damaged(self) -> bool:
        """Whether it was ours, as far as can be told, and neither it nor its backup can be read."""
        if not self.path.is_file() or self._read() is not None:
            return False
        data = read_json(self.path)
        return data is None or data.get("version") == VERSION

    @property
    def can_be_written(self) -> bool:
        """As far as can be told without trying."""
        there = [path for path in (self.path, self.backup, self.lock) if path.exists()]
        place = self.path.parent if self.path.parent.exists() else self.path.parent.parent
        return place.is_dir() and all(os.access(path, os.W_OK) for path in (place, *there))

    def load(self) -> Memory:
        """What is known; from the backup when the file is damaged; nothing when there is none."""
        if (memory := _parse(self.path)) is not None:
            return memory
        if self.path.exists():
            log.warning("Corrupted %s, loading from its backup", self.path)
        return self._read() or (self._first.load() if self._first else Memory())

    def _read(self) -> Memory | None:
        return _parse(self.path) or _parse(self.backup)

    def take_over(self, other: "MemoryFile") -> None:
        """
        Have what another file has, which is the newer; then it is gone.

        Raises OSError when this one cannot be written: the other stays.
        """
        with locked(other.lock):
            if other.path.exists():
                newer = other.load()
                self.change(lambda memory: _joined(newer, memory))
                for path in (other.path, other.backup):
                    path.unlink(missing_ok=True)

    def change(self, step: Callable[[Memory], Memory], *, event: str = "") -> Memory:
        """
        Apply a pure step under the lock. With `event`, at most once for that id.

        Raises OSError when the file cannot be written.
        """
        if self._is_in_project:
            _make_ignored(self.path.parent)
        with locked(self.lock):
            memory = self.load()
            if event and event in memory.events:
                return memory
            changed = step(memory)
            events = (*changed.events, event)[-EVENTS_KEPT:] if event else changed.events
            changed = Memory(preferences=changed.preferences, events=events)
            self._save(changed)
            return changed

    def _save(self, memory: Memory) -> None:
        data = {
            "version": VERSION,
            "preferences": [one.as_json() for one in memory.preferences],
            "events": list(memory.events),
        }
        if _parse(self.path) is None:
            self._set_aside()
        else:
            spare = self.backup.with_name(f".{self.backup.name}.{os.getpid()}")
            spare.unlink(missing_ok=True)
            os.link(self.path, spare)
            spare.replace(self.backup)
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
        write_whole(self.path, text, durable=True)

    def _set_aside(self) -> None:
        """What we cannot read, somebody else may: it is not written over."""
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(self.path.with_name(f"{self.path.name}.unreadable"))


def _joined(newer: Memory, older: Memory) -> Memory:
    known = {one.id for one in newer.preferences}
    rest = (one for one in older.preferences if one.id not in known)
    return Memory(preferences=(*newer.preferences, *rest), events=(*older.events, *newer.events))


def _is_strange(path: Path) -> bool:
    """Whether there is something that is no file."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _make_ignored(directory: Path) -> None:
    """Make a directory that git ignores; one that was there belongs to the project as it is."""
    if directory.exists():
        return
    fresh = directory.with_name(f".data.{os.getpid()}.tmp")
    fresh.mkdir(mode=0o700, exist_ok=True)
    (fresh / ".gitignore").write_text("*\n", encoding="utf-8")
    try:
        fresh.rename(directory)
    except OSError:  # another process was quicker
        shutil.rmtree(fresh)


def _parse(path: Path) -> Memory | None:
    data = read_json(path)
    if data is None or data.get("version") != VERSION:
        return None
    try:
        return Memory(
            preferences=named_apart(from_json(one) for one in data["preferences"]),
            events=tuple(str(one) for one in data["events"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
