"""A look at the database that asks no engine, for commands that load little."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

_PATIENCE = 5.0
"""Seconds that another process may keep the file busy."""
_FAILED = "SELECT 1 FROM notifications WHERE attempts > 0 AND state <> 'sent' AND problem <> ''"


@contextmanager
def looking(database: Path, *, patience: float = _PATIENCE) -> Iterator[sqlite3.Connection]:
    """To look, not to change: nothing is created. Raises sqlite3.Error."""
    # Not `mode=ro`: that leaves the files of the write-ahead log behind.
    address = f"file:{quote(str(database))}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=patience)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = ON")
        yield connection


def any_failed(database: Path) -> bool:
    """
    Whether a message did not leave at a try. False where the file cannot be read: that is told by
    whoever needs it.
    """
    if not database.is_file():
        return False
    try:
        with looking(database, patience=0.0) as found:
            return found.execute(_FAILED).fetchone() is not None
    except sqlite3.Error:
        return False
