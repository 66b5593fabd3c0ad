"""
One engine per database file. The kernel lets go of the lock when its holder dies.

The lock's file also remembers that the database was filled: one of no bytes does not.
"""

import fcntl
import os
import shlex
from contextlib import suppress
from pathlib import Path

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.store.problems import DatabaseError, explain

_FILLED = b"filled"


class WriterGuard:
    """Holds `<database>.lock` from `take` to `release`. Children never inherit it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path, *, is_new: bool = False) -> "WriterGuard":
        """Raises `DatabaseError` naming who holds it. `is_new`: the database held nothing yet."""
        lock = _lock_of(database)
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        except OSError as error:
            raise explain(error, lock) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            said = os.pread(descriptor, 32, 0).decode(errors="replace")
            holder = said.partition("\n")[0] or "unknown"
            os.close(descriptor)
            raise DatabaseError(
                f"Another engine (pid {holder}) already owns the database {str(database)!r}",
                hint="See it with: pcc daemon status ; end it with: pcc daemon stop",
            ) from error
        try:
            was_filled = os.pread(descriptor, 100, 0).endswith(_FILLED)
            guard = cls(descriptor)
            guard._note(_FILLED if was_filled and not is_new else b"")
        except OSError as error:
            os.close(descriptor)
            raise explain(error, lock) from error
        return guard

    def filled(self) -> None:
        """From now on a database of no bytes is known to be one that lost what it held."""
        with suppress(OSError):  # on a full disk only the note is lost
            self._note(_FILLED)

    def _note(self, word: bytes) -> None:
        text = b"%d\n%s" % (os.getpid(), word)
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))

    def release(self) -> None:
        os.close(self._descriptor)


def refuse_emptied(database: Path) -> None:
    """
    Before SQLite opens it: it takes an empty file for a new database, and removes the log beside.

    Raises:
        DatabaseError: it has no bytes, and had.
    """
    try:
        is_filled = read_regular(_lock_of(database), 100).endswith(_FILLED)
        is_emptied = is_filled and database.stat().st_size == 0
    except OSError:
        return
    if is_emptied:
        raise DatabaseError(
            f"The database {str(database)!r} is empty, and was not: what it held is gone",
            hint="Nothing was changed. Put a copy in its place, with what lies beside it"
            " (-wal, -shm) moved away; or begin anew without the sessions that it held: "
            f"rm {shlex.quote(str(database))}",
        )


def _lock_of(database: Path) -> Path:
    return database.with_name(database.name + ".lock")
