"""
Moves what was committed from the write-ahead log into the database file, beside the writer.

SQLite does this by itself inside whichever commit makes the log a thousand pages long, and that
commit waits for the disk twice. Here a second connection does it, in a thread of its own; the
writer helps only when the log has grown because it never paused.
"""

import logging
import sqlite3
import threading
from pathlib import Path

log = logging.getLogger(__name__)

_COMMITS = 100
_CHANGES = 1_000
"""A pass begins after so many commits or changed rows: about a thousand pages, as in SQLite."""
LONGEST = 8_000
"""Pages of the log (32 MB) from which on the writer finishes a pass itself, so that the log can
begin again. A pass beside it has just done most of the work."""


class Checkpointer:
    """One thread and one connection, opened when there is first something to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wake = threading.Event()
        self._is_ending = False
        self._commits = self._changes = 0
        self._thread: threading.Thread | None = None
        self._passing = threading.Lock()
        """SQLite refuses a second pass beside one that is under way, instead of waiting for it."""
        self._pages = 0

    def committed(self, writer: sqlite3.Connection, changes: int) -> None:
        """To be told of every commit, on the writer's thread, when those who wait have answers."""
        self._commits += 1
        self._changes += changes
        if self._commits < _COMMITS and self._changes < _CHANGES:
            return
        self._commits = self._changes = 0
        if self._pages > LONGEST:
            # Nobody writes meanwhile: what is left is moved, and the log begins again.
            self._pass(writer)
            self._pages = 0
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="checkpoints", daemon=True)
            self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """Waits for the pass that is under way. What is left, the last connection moves."""
        self._is_ending = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        try:
            connection = sqlite3.connect(self._path, isolation_level=None)
            connection.execute("PRAGMA fullfsync = ON")  # as whoever writes the log
        except sqlite3.Error:
            log.warning("no checkpoints of %s", self._path, exc_info=True)
            return
        while self._wake.wait() and not self._is_ending:
            self._wake.clear()
            self._pass(connection)
        connection.close()

    def _pass(self, connection: sqlite3.Connection) -> None:
        """Move what can be moved, and note how long the log is."""
        with self._passing:
            try:
                _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            except sqlite3.Error as problem:
                # The log keeps everything. Whoever writes next meets the same trouble, and is told.
                log.warning("the log of the database stays as it is: %s", problem)
                return
            self._pages = int(pages)
