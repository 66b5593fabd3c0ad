"""Whether messages failed to leave, for commands that load little and wake nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

_FAILED = "SELECT 1 FROM notifications WHERE attempts > 0 AND state <> 'sent' AND problem <> ''"


def any_failed(path: Path) -> bool:
    """False where the database cannot be read: that is told by whoever needs it."""
    try:
        if not path.is_file():
            return False
        with closing(read_only(path)) as found:
            return found.execute(_FAILED).fetchone() is not None
    except (sqlite3.Error, OSError):
        return False


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
