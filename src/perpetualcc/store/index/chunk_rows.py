"""Chunks, and finding them by their words with FTS5 and BM25."""

import sqlite3
from collections.abc import Sequence

from perpetualcc.knowledge.ports import Hit, IndexCounts, StoredChunk
from perpetualcc.store.index.database import IndexDatabase, reports_damage

WEIGHTS = "bm25(3.0, 6.0, 1.0)"
"""Path, symbol, body, measured; a contentless table with less detail would make BM25 zero."""
_COMMON = 1_000
"""Chunks that share a word from which on its cost is worth knowing."""
_MAX_ROWS = 6_000
"""Rows that a query may cost, some 10 ms: the rarer words first, at least two of them."""
_PARAMETERS = 500

COLUMNS = (
    'chunk.id, file.path, file.language, chunk.start, chunk."end", chunk.kind, chunk.symbol,'
    " chunk.signature, chunk.text, chunk.digest"
)


class ChunkRows:
    """`knowledge.ports.ChunkSearch` in SQLite."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    @reports_damage
    def search_words(
        self, words: Sequence[str], limit: int, names: Sequence[str] = ()
    ) -> list[Hit]:
        connection = self._database.connection
        terms = _telling(connection, list(dict.fromkeys(words)))
        if not terms:
            return []
        rows = connection.execute(
            "SELECT words.rowid, file.path, words.rank FROM words"
            " JOIN chunk ON chunk.id = words.rowid JOIN file ON file.id = chunk.file"
            f" WHERE words MATCH ? AND rank MATCH '{WEIGHTS}' ORDER BY words.rank LIMIT ?",
            (" OR ".join(f'"{term}"' for term in [*terms, *names]), limit),
        )
        return [Hit(chunk=chunk, path=path, score=-rank) for chunk, path, rank in rows]

    @reports_damage
    def read_chunks(self, ids: Sequence[int]) -> dict[int, StoredChunk]:
        found = {}
        for at in range(0, len(ids), _PARAMETERS):
            part = ids[at : at + _PARAMETERS]
            marks = ",".join("?" * len(part))
            rows = self._database.connection.execute(
                f"SELECT {COLUMNS} FROM chunk JOIN file ON file.id = chunk.file"
                f" WHERE chunk.id IN ({marks})",
                part,
            )
            found.update({row[0]: stored_chunk(row) for row in rows})
        return found

    @reports_damage
    def counts(self, model: str = "") -> IndexCounts:
        connection = self._database.connection

        def count(query: str, *parameters: str) -> int:
            return int(connection.execute(query, parameters).fetchone()[0])

        return IndexCounts(
            files=count("SELECT count(*) FROM file WHERE lines > 0"),
            modules=count("SELECT count(DISTINCT file) FROM definition"),
            functions=count("SELECT count(*) FROM definition WHERE kind = 'function'"),
            chunks=count("SELECT count(*) FROM chunk"),
            vectors=count(
                "SELECT count(*) FROM chunk JOIN vector ON vector.digest = chunk.digest"
                " WHERE vector.model = ?",
                model,
            )
            if model
            else 0,
        )

    @reports_damage
    def settle(self) -> None:
        with self._database.transaction() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("DELETE FROM common_word")
            connection.execute(
                "INSERT INTO common_word SELECT term, doc FROM word_rows WHERE doc > ?", (_COMMON,)
            )
        self._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def stored_chunk(row: tuple[int, str, str, int, int, str, str, str, str, bytes]) -> StoredChunk:
    """A row of the columns above."""
    chunk, path, language, start, end, kind, symbol, signature, text, digest = row
    return StoredChunk(
        chunk=chunk,
        path=path,
        language=language,
        start=start,
        end=end,
        kind=kind,
        symbol=symbol,
        signature=signature,
        text=text,
        digest=digest,
    )


def _telling(connection: sqlite3.Connection, words: list[str]) -> list[str]:
    """The words to look up: all that are rare, and common ones while they cost little."""
    if not words:
        return []
    stems = _stems(connection, words)
    rows = {
        word: connection.execute(
            "SELECT chunks FROM common_word WHERE stem = ?", (stems.get(word, word),)
        ).fetchone()
        for word in words
    }
    telling: list[str] = []
    spent = 0
    for word in sorted(words, key=lambda word: rows[word][0] if rows[word] else 0):
        spent += rows[word][0] if rows[word] else 0
        if spent > _MAX_ROWS and len(telling) >= 2:
            break
        telling.append(word)
    return telling


def _stems(connection: sqlite3.Connection, words: list[str]) -> dict[str, str]:
    """Words as the index knows them: its own stemmer is asked, in a table that lives in memory."""
    connection.executescript(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stemmer"
        " USING fts5 (w, tokenize = 'porter unicode61');"
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stemmed USING fts5vocab (temp, stemmer, instance);"
        "DELETE FROM temp.stemmer;"
    )
    connection.executemany(
        "INSERT INTO temp.stemmer (rowid, w) VALUES (?, ?)", list(enumerate(words))
    )
    return {words[row]: stem for stem, row in connection.execute("SELECT term, doc FROM stemmed")}
