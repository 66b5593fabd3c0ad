"""The files of an index and everything that belongs to them, replaced file by file."""

import hashlib
import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from perpetualcc.knowledge.code_words import chunk_words, code_words
from perpetualcc.knowledge.ranking import weight
from perpetualcc.knowledge.values import Chunk, CodeFile, FileStamp, KnownFile
from perpetualcc.store.index.database import IndexDatabase, reports_damage

_KNOWN = "SELECT path, mtime_ns, size, digest, read_ns, language FROM file"


class FileRows:
    """`knowledge.ports.FileIndex` in SQLite."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    @reports_damage
    def known_files(self) -> dict[str, KnownFile]:
        return dict(map(_known, self._database.connection.execute(_KNOWN)))

    @reports_damage
    def known_of(self, paths: Collection[str]) -> dict[str, KnownFile]:
        connection = self._database.connection
        rows = (connection.execute(f"{_KNOWN} WHERE path = ?", (path,)) for path in paths)
        return dict(map(_known, chain.from_iterable(rows)))

    @reports_damage
    def apply(
        self,
        files: Sequence[CodeFile],
        *,
        touched: Sequence[CodeFile] = (),
        gone: Sequence[str] = (),
    ) -> None:
        with self._database.transaction() as connection:
            for path in gone:
                _forget(connection, path)
            for file in files:
                _forget(connection, file.path)
                _insert(connection, file)
            connection.executemany(
                "UPDATE file SET mtime_ns = ?, size = ?, read_ns = ? WHERE path = ?",
                [
                    (file.stamp.mtime_ns, file.stamp.size, time.time_ns(), file.path)
                    for file in touched
                ],
            )

    def writing(self, *, wait: bool) -> AbstractContextManager[bool]:
        return self._database.claimed("index.lock", wait=wait)

    @reports_damage
    def note(self, changes: Mapping[str, str]) -> None:
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO note (key, value) VALUES (?, ?)", list(changes.items())
            )

    @reports_damage
    def noted(self, key: str) -> str:
        row = self._database.connection.execute(
            "SELECT value FROM note WHERE key = ?", (key,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def reset(self) -> None:
        self._database.reset()


def _known(row: tuple[str, int, int, str, int, str]) -> tuple[str, KnownFile]:
    path, mtime_ns, size, digest, read_ns, language = row
    stamp = FileStamp(mtime_ns=mtime_ns, size=size, digest=digest)
    return path, KnownFile(stamp=stamp, read_ns=read_ns, language=language)


def _forget(connection: sqlite3.Connection, path: str) -> None:
    row = connection.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
    if row is None:
        return
    chunks = connection.execute(
        "SELECT id, symbol, signature, text FROM chunk WHERE file = ?", (row[0],)
    )
    path_words = code_words(path)
    connection.executemany(
        "INSERT INTO words (words, rowid, path, symbol, body) VALUES ('delete', ?, ?, ?, ?)",
        [
            (chunk, path_words, code_words(symbol), chunk_words(signature, text))
            for chunk, symbol, signature, text in chunks
        ],
    )
    connection.execute("DELETE FROM file WHERE id = ?", (row[0],))


def _insert(connection: sqlite3.Connection, file: CodeFile) -> None:
    stamp = file.stamp
    identity = connection.execute(
        "INSERT INTO file (path, language, lines, mtime_ns, size, digest, read_ns, worth)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(file.path, file.language, file.lines),
            *(stamp.mtime_ns, stamp.size, stamp.digest, time.time_ns(), weight(file.path)),
        ),
    ).lastrowid
    path_words = code_words(file.path)
    for chunk in file.chunks:
        _insert_chunk(connection, identity, file.path, path_words, chunk)
    connection.executemany(
        'INSERT INTO definition (file, name, qualified, kind, start, "end")'
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (identity, entry.name, entry.qualified, entry.kind.value, entry.start, entry.end)
            for entry in file.definitions
        ],
    )
    connection.executemany(
        'INSERT INTO export (file, name, kind, start, "end") VALUES (?, ?, ?, ?, ?)',
        [(identity, one.name, one.kind, one.start, one.end) for one in file.exports],
    )
    connection.executemany(
        "INSERT INTO call (file, name, caller, line) VALUES (?, ?, ?, ?)",
        [(identity, call.name, call.caller, call.line) for call in file.calls],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO module_key (key, file) VALUES (?, ?)",
        [(key, identity) for key in file.module_keys],
    )
    _insert_imports(connection, identity, file)


def _insert_chunk(
    connection: sqlite3.Connection, file: int | None, path: str, path_words: str, chunk: Chunk
) -> None:
    identity = connection.execute(
        'INSERT INTO chunk (file, start, "end", kind, symbol, signature, text, digest)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(file, chunk.start, chunk.end, chunk.kind.value),
            *(chunk.symbol, chunk.signature, chunk.text, embedded_digest(path, chunk)),
        ),
    ).lastrowid
    connection.execute(
        "INSERT INTO words (rowid, path, symbol, body) VALUES (?, ?, ?, ?)",
        (identity, path_words, code_words(chunk.symbol), chunk.words),
    )


def _insert_imports(connection: sqlite3.Connection, file: int | None, parsed: CodeFile) -> None:
    for entry in parsed.imports:
        line = connection.execute(
            "INSERT INTO import_line (file, text, line) VALUES (?, ?, ?)",
            (file, entry.text, entry.line),
        ).lastrowid
        connection.executemany(
            "INSERT INTO import_target (line, rank, key) VALUES (?, ?, ?)",
            [(line, rank, key) for rank, key in enumerate(entry.targets)],
        )


def embedded_digest(path: str, chunk: Chunk) -> bytes:
    """Of all that an embedding model is given of a chunk."""
    content = f"{path}\x00{chunk.symbol}\x00{chunk.signature}\x00{chunk.text}"
    return hashlib.blake2b(content.encode("utf-8", errors="replace"), digest_size=16).digest()
