"""
The global queue as its one reader sees it: a place in a file that others append to.

The place is the inode and the offset; it is saved in one step, after what was read has had its
effect. A reader that was killed reads some events again, and those count once (`memory_file`).
What lies in front of the place is wiped (`wiping`).
"""

import gzip
import json
import logging
import os
import shlex
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.private_files import opened, write_whole
from perpetualcc.learning.files import read_json
from perpetualcc.learning.places import Places
from perpetualcc.learning.wiping import wipe, wipe_until, without_words

log = logging.getLogger(__name__)

ROTATE_AFTER = 10_000
"""Events (seed 004, Rotation)."""
KEEP_DAYS = 7
QUIET_SECONDS = 10.0
"""A hook that opened the file before it was renamed may still write: so long is waited."""
_BLOCK = 1 << 20
_BEGINNING = 48
"""Bytes, with the id of the first event among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far one file was read."""

    inode: int = 0
    offset: int = 0
    lines: int = 0
    begins: str = ""
    """What stands at the file's beginning, which wiping leaves: inodes are used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, and the place behind it."""

    data: bytes
    """Without the line's end; of a line longer than a megabyte the beginning."""
    place: Place
    begin: int
    """Where in the file it begins."""


class QueueReader:
    """Reads new lines, keeps the place, rotates. One process at a time, under the worker's lock."""

    def __init__(self, places: Places) -> None:
        self._places = places
        data = read_json(places.state) or {}
        self.place = Place(
            inode=count(data.get("inode")),
            offset=count(data.get("offset")),
            lines=count(data.get("lines")),
            begins=str(data.get("begins") or ""),
        )
        self.processed = count(data.get("processed"))
        self.attempts = count(data.get("attempts"))
        since = data.get("attempted_since")
        self.attempted_since = since if isinstance(since, float) else 0.0

    def lines(self, limit: int) -> Iterator[Line]:
        """
        Up to `limit` complete lines that were not read yet, renamed files first.

        The place does not move by itself: `save` moves it.
        """
        path = self._current()
        if path is None:
            return
        place = self.place
        with path.open("rb") as file:
            file.seek(place.offset)
            for _ in range(limit):
                data = file.readline(_BLOCK)
                if data.endswith(b"\n"):
                    length = len(data)
                elif len(data) == _BLOCK:
                    length = len(data) + _skip_line(file)
                else:
                    return  # still being written, or cut for ever: the next event ends it
                begin = place.offset
                if begin == 0 and not place.begins:
                    place = replace(place, begins=_left_by(data))
                place = replace(place, offset=begin + length, lines=place.lines + 1)
                yield Line(data=data.removesuffix(b"\n"), place=place, begin=begin)

    def save(self, place: Place, *, processed: int = 0) -> None:
        """Everything before `place` has had its effect."""
        self.place, self.processed, self.attempts = place, self.processed + processed, 0
        self._write()

    def wipe(self, line: Line) -> None:
        """
        Take the words out of a line that had its effect. After `save`: a line that is half wiped
        when the process is killed must not be read again.
        """
        if (path := self._at(line.place.inode)) is not None:
            length = line.place.offset - line.begin - 1
            wipe(path, line.place.inode, line.begin, line.data, length)

    def wipe_the_past(self) -> None:
        """The same for everything in front of the place."""
        if (path := self._current()) is not None:
            wipe_until(path, self.place.inode, self.place.offset)

    def note_attempt(self) -> int:
        """Count one more time that the event at the place was begun and not finished."""
        if self.attempts == 0:
            self.attempted_since = time.time()
        self.attempts += 1
        self._write()
        return self.attempts

    def waiting(self) -> int:
        """Complete lines not read yet."""
        path = self._current()
        if path is None:
            return 0
        with path.open("rb") as file:
            file.seek(self.place.offset)
            return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))

    def rotate(self, *, now: float | None = None) -> None:
        """Set a long, fully read queue aside; pack what is quiet; drop what is old."""
        now = time.time() if now is None else now
        queue = self._places.queue
        if self.place.lines >= ROTATE_AFTER and self._is_read(queue):
            queue.rename(queue.with_name(f"learning_queue.{time.time_ns()}.jsonl"))
        for path in self._renamed():
            if not _is_quiet(path, now) or (self._is_here(path) and not self._is_read(path)):
                continue
            if self._is_here(path):
                self.save(Place())
            _pack(path)
        for path in queue.parent.glob("learning_queue.[0-9]*.jsonl.gz"):
            if now - path.stat().st_mtime > KEEP_DAYS * 86_400:
                path.unlink(missing_ok=True)
        self._drop_spools_without_an_event(now)

    def _drop_spools_without_an_event(self, now: float) -> None:
        """A hook that was killed between its two writes left a text that nobody names."""
        for path in self._places.spool.glob("*"):
            is_old = now - path.stat().st_mtime > KEEP_DAYS * 86_400
            if is_old and self._is_read(self._places.queue):
                path.unlink(missing_ok=True)

    def _current(self) -> Path | None:
        """
        The file the place is in. A renamed one is stayed with until it is packed: a hook may
        have opened it before it was renamed, and its event must not be missed.
        """
        queue = self._places.queue
        for path in (*self._renamed(), queue):
            if self._is_here(path) and path.is_file():
                if not self._goes_on(path):
                    log.warning("%s is another one by now, reading it from its start", path)
                    self.place = Place(inode=self.place.inode, begins=_beginning(path))
                return path
        try:
            found = queue.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise PerpetualError(
                f"The learning queue '{queue}' is no file",
                hint=f"Move it away, and another is made: ls -ld {shlex.quote(str(queue))}",
            )
        self.place = Place(inode=found.st_ino)
        return queue

    def _goes_on(self, path: Path) -> bool:
        """Whether it is the file we read from: no shorter, and with the same first event."""
        is_it = _beginning(path).startswith(self.place.begins)
        return is_it and path.stat().st_size >= self.place.offset

    def _is_here(self, path: Path) -> bool:
        return _inode(path) == self.place.inode

    def _at(self, inode: int) -> Path | None:
        paths = (*self._renamed(), self._places.queue)
        return next((path for path in paths if _inode(path) == inode), None)

    def _is_read(self, path: Path) -> bool:
        return self._is_here(path) and path.stat().st_size == self.place.offset

    def _renamed(self) -> list[Path]:
        return sorted(self._places.queue.parent.glob("learning_queue.[0-9]*.jsonl"))

    def _write(self) -> None:
        state = {
            "version": 1,
            "inode": self.place.inode,
            "offset": self.place.offset,
            "lines": self.place.lines,
            "begins": self.place.begins,
            "processed": self.processed,
            "attempts": self.attempts,
            "attempted_since": self.attempted_since,
        }
        write_whole(self._places.state, json.dumps(state) + "\n")


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_BEGINNING).decode("latin-1")


def _left_by(line: bytes) -> str:
    """What a line begins with when it was wiped."""
    return without_words(line.removesuffix(b"\n"))[:_BEGINNING].decode("latin-1")


def count(value: object) -> int:
    """A number of a file that somebody may have edited."""
    return value if isinstance(value, int) and value >= 0 else 0


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _is_quiet(path: Path, now: float) -> bool:
    """Whether nobody wrote to it or renamed it for a while. A clock that jumped back waits."""
    status = path.stat()
    return now - max(status.st_mtime, status.st_ctime) > QUIET_SECONDS


def _skip_line(file: BinaryIO) -> int:
    """Pass over the rest of a line that is longer than any event."""
    skipped = 0
    while data := file.readline(_BLOCK):
        skipped += len(data)
        if data.endswith(b"\n"):
            break
    return skipped


def _pack(path: Path) -> None:
    packed = path.with_name(path.name + ".gz")
    fresh = packed.with_name(f".{packed.name}.tmp")
    try:
        with (
            path.open("rb") as source,
            os.fdopen(opened(fresh, os.O_WRONLY | os.O_TRUNC), "wb") as file,
            gzip.open(file, "wb") as target,
        ):
            shutil.copyfileobj(source, target)
        os.replace(fresh, packed)  # noqa: PTH105  # one step
    except OSError:  # half of it would take the room that is missing
        fresh.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
