"""Turns what SQLite and the file system refuse into words that say what to do. Nothing is lost."""

import shlex
import sqlite3
from pathlib import Path

from perpetualcc.domain.errors import PassingError


class DatabaseError(PassingError):
    """The database cannot be used now. Its file is as it was after the last commit."""


class LockedError(DatabaseError):
    """Another program writes in it: a matter of seconds, or of whoever forgot it."""


def explain(error: sqlite3.Error | OSError, path: Path) -> Exception:
    """The error a person can act on, or the error itself when it is a bug of ours."""
    if isinstance(error, OSError):
        return DatabaseError(
            f"The database {str(path)!r} cannot be opened: {error.strerror or error}",
            hint=f"Check the owner and permissions of {str(path.parent)!r}, and that it is local",
        )
    # The low byte is the primary result code (sqlite.org/rescode.html).
    code, kind = getattr(error, "sqlite_errorcode", 0) & 0xFF, DatabaseError
    match code:
        case sqlite3.SQLITE_FULL:
            message = "cannot grow: the disk is full"
            hint = "Free some space and try again; everything up to the last commit is safe"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            message = "cannot be written"
            hint = f"Check that you own {str(path.parent)!r} and may write in it"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            message = "is damaged or is not a database"
            hint = (
                "Nothing was changed. Restore a backup, or keep what can be read with: "
                f'sqlite3 {path} ".recover" | sqlite3 recovered.db'
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            message, kind = "is locked by another program", LockedError
            hint = f"See which with: fuser {shlex.quote(str(path))} ; then close it and try again"
        case sqlite3.SQLITE_IOERR:
            message = "cannot be read or written: the disk reports an error"
            hint = "Check the disk, and that the database is not on a network share"
        case _:
            return error
    return kind(f"The database {str(path)!r} {message}", hint=hint)
