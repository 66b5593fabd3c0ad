"""
One connection to a project's index: opened, versioned, claimed for writing, thrown away.

Everything in the file can be made again from the project, so the answer to any damage and to any
other version is a new file. Durability costs time and buys nothing here: `synchronous=NORMAL`.
"""

import fcntl
import os
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import wraps
from importlib import resources
from pathlib import Path
from typing import ParamSpec, TypeVar

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.private_files import PRIVATE, make_private
from perpetualcc.knowledge.code_words import VERSION as WORDS_VERSION
from perpetualcc.knowledge.ports import IndexDamaged

_DAMAGE = re.compile(r"no such (table|column|module)|readonly database|disk I/O|unable to open")
_VECTOR_TABLE = """
CREATE TABLE IF NOT EXISTS vectors.vector (
    model TEXT NOT NULL, digest BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (model, digest)
) WITHOUT ROWID
"""
P = ParamSpec("P")
R = TypeVar("R")

SCHEMA_VERSION = 7
"""Raise it when the tables or the parsers change what is stored."""
FOLDER = ".perpetualcc"
_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""What SQLite puts beside a file."""
_VERSION = SCHEMA_VERSION * 1_000 + WORDS_VERSION


class IndexDatabase:
    """
    `<project>/.perpetualcc/index.db`. One thread at a time; other processes may read and write.

    Raises:
        PerpetualError: the folder cannot be made or written.
    """

    def __init__(self, project: Path, *, vectors: str = "vectors.db") -> None:
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._project = project
        self.folder = project / FOLDER
        self.path = self.folder / "index.db"
        self.vectors_path = self.folder / vectors
        make_project_folder(project)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection; the first use opens it and makes the tables."""
        if self._connection is None:
            make_project_folder(self._project)
            self._connection = self._opened()
            self._inode = _inode(self.path)
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and alone among writers from the first statement on."""
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    @contextmanager
    def claimed(self, name: str, *, wait: bool) -> Iterator[bool]:
        """
        Hold a lock file of the project; the kernel lets go of it when the process ends.

        An index that was deleted or replaced meanwhile is opened anew. Searches in between go on
        reading the old one.
        """
        make_project_folder(self._project)
        if self._connection is not None and _inode(self.path) != self._inode:
            self.close()
        descriptor = self._open_lock(name)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)

    def _open_lock(self, name: str) -> int:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            return os.open(self.folder / name, flags, PRIVATE)
        except OSError as error:
            raise _not_writable(self.folder, error) from error

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        """Connections are files; whoever forgets the index closes it."""
        self.close()

    def reset(self) -> None:
        """
        Throw the index away. Whoever still reads the old one reads it to the end.

        Vectors are minutes of work and belong to content, not to an index: they stay, if whole.

        Raises:
            PerpetualError: it is another user's, or on a disk that cannot be written.
        """
        self.close()
        try:
            _remove(self.path)
            if self.vectors_path.exists() and not _is_whole(self.vectors_path):
                _remove(self.vectors_path)
        except OSError as error:
            raise _not_writable(self.folder, error) from error

    def _opened(self) -> sqlite3.Connection:
        for _attempt in range(2):
            try:
                return self._try_open()
            except sqlite3.OperationalError as error:
                if "locked" in str(error) or "busy" in str(error):
                    raise
                self.reset()
            except sqlite3.DatabaseError:
                self.reset()
        return self._try_open()

    def _try_open(self) -> sqlite3.Connection:
        _make_own(self.path)
        _make_own(self.vectors_path)
        connection = sqlite3.connect(
            self.path, isolation_level=None, timeout=60, check_same_thread=False
        )
        try:
            connection.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                "PRAGMA cache_size = -32000; PRAGMA temp_store = MEMORY;"
            )
            if not _is_current(connection):
                _make_tables(connection)
            connection.execute("ATTACH ? AS vectors", (str(self.vectors_path),))
            connection.execute(_VECTOR_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection


def _make_own(path: Path) -> None:
    """
    A file of ours alone: it holds what the project's files hold, also those that are closed to
    others. A link, which whoever wrote the project left there, gives way.
    """
    with suppress(OSError):  # SQLite says what is wrong
        if path.is_symlink():
            path.unlink()
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))
        make_private(path.with_name(path.name + suffix) for suffix in _SUFFIXES)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _remove(path: Path) -> None:
    for suffix in _SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_whole(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _is_current(connection: sqlite3.Connection) -> bool:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in {0, _VERSION}:
        raise sqlite3.DatabaseError(f"The index has version {version}")
    return bool(version == _VERSION)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Two processes may come here at once: the second finds the tables made."""
    schema = resources.files(__package__).joinpath("schema.sql").read_text("utf-8")
    connection.execute("BEGIN IMMEDIATE")
    if not _is_current(connection):
        statement = ""
        for line in schema.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                connection.execute(statement)
                statement = ""
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def make_project_folder(project: Path) -> bool:
    """
    Make `.perpetualcc/`, which git ignores by its own rule. True when it was not there.

    Raises:
        PerpetualError: it cannot be made, or is a link: a project says nothing of other places.
    """
    folder = project / FOLDER
    ignore = folder / ".gitignore"
    if folder.is_symlink():
        raise PerpetualError(
            f"{str(folder)!r} is a link", hint=f"Remove it: rm {shlex.quote(str(folder))}"
        )
    try:
        is_new = not folder.exists()
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:
            file.write("*\n")
    except OSError as error:
        raise _not_writable(folder, error) from error
    return is_new


def _not_writable(folder: Path, error: OSError) -> PerpetualError:
    return PerpetualError(
        f"Cannot write to {str(folder)!r}: {error.strerror}",
        hint="The index lives in the project; make the folder and what is in it writable for you",
    )


def reports_damage(method: Callable[P, R]) -> Callable[P, R]:
    """Turn what sqlite says of a broken file into `IndexDamaged`."""

    @wraps(method)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise PerpetualError(
                    "The index is being written by another process", hint="Try again in a minute"
                ) from error
            if "full" in str(error):
                raise PerpetualError(
                    "The disk is full; the index keeps what was written before",
                    hint="Make room and run it again: it goes on where it stopped",
                ) from error
            if not _DAMAGE.search(str(error)):
                raise
            raise IndexDamaged(
                f"The index cannot be used: {error}", hint="Run `pcc init` to build it again"
            ) from error
        except sqlite3.DatabaseError as error:
            raise IndexDamaged(
                f"The index cannot be used: {error}", hint="Run `pcc init` to build it again"
            ) from error

    return wrapped
