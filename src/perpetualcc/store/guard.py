"""One engine per database file. The kernel lets go of the lock when its holder dies."""

import fcntl
import os
from pathlib import Path

from perpetualcc.store.problems import DatabaseError, explain


class WriterGuard:
    """Holds `<database>.lock` from `take` to `release`. Children never inherit it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, database: Path) -> "WriterGuard":
        """Raises `DatabaseError` naming the process that holds it."""
        lock = database.with_name(database.name + ".lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise explain(error, database) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise DatabaseError(
                f"Another engine (pid {holder}) already owns the database {str(database)!r}",
                hint="See it with: pcc daemon status ; end it with: pcc daemon stop",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        os.close(self._descriptor)
