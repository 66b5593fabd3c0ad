"""Chunks, and finding them by their words with FTS5 and BM25."""

import sqlite3
from collections.abc import Sequence

from perpetualcc.knowledge.ports import Hit, IndexCounts, StoredChunk
from perpetualcc.store.index.database import IndexDatabase, reports_damage

WEIGHTS = "bm25(3.0, 6.0, 1.0)"
"""Path, symbol, body, measured; a contentless table with less detail would make BM25 zero."""
_COMMON = 1_000
"""Chunks that share a word from which on its cost is worth knowing."""
_ENOUGH_ROWS = 600
"""Rows that the words which find chunks must have, so that there is something to rank."""
_LEADING_ROWS = 3_000
"""Rows that they may cost, 1.4 µs each: the rarest words first."""
_FURTHER_ROWS = 50_000
"""Rows of commoner words that are passed over, 0.1 µs each, to raise chunks found already."""
_PARAMETERS = 500

COLUMNS = (
    'chunk.id, file.path, file.language, chunk.start, chunk."end", chunk.kind, chunk.symbol,'
    " chunk.text, chunk.digest"
)


class ChunkRows:
    """`knowledge.ports.ChunkSearch` in SQLite."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._counted: tuple[object, int] | None = None

    @reports_damage
    def search_words(
        self, words: Sequence[str], limit: int, names: Sequence[str] = ()
    ) -> list[Hit]:
        connection = self._database.connection
        leading, further = _telling(connection, list(dict.fromkeys(words)))
        if not leading:
            return []
        found = _any_of([*leading, *names])
        if further:
            # What leads stands here twice, so the others do: all scores are doubled.
            found = f"({found}) AND ({_any_of([*leading, *names, *further, *further])})"
        rows = connection.execute(
            # The best rows first: joining each row to its file would cost a quarter more.
            "SELECT best.rowid, file.path, best.score FROM ("
            "SELECT rowid, rank AS score FROM words"
            f" WHERE words MATCH ? AND rank MATCH '{WEIGHTS}' ORDER BY rank LIMIT ?) AS best"
            " JOIN chunk ON chunk.id = best.rowid JOIN file ON file.id = chunk.file"
            " ORDER BY best.score",
            (found, limit),
        )
        share = -0.5 if further else -1.0
        return [Hit(chunk=chunk, path=path, score=share * rank) for chunk, path, rank in rows]

    @reports_damage
    def share_of(self, words: Sequence[str], chunk: int) -> float:
        query = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid = ?"
        connection = self._database.connection
        held = sum(connection.execute(query, (f'"{w}"', chunk)).fetchone()[0] for w in words)
        return held / len(words) if words else 0.0

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
    def size(self) -> int:
        """Counted once until somebody changes the index: 5 ms for 100,000 chunks."""
        connection = self._database.connection
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        state = (version, connection.total_changes, id(connection))
        if self._counted is None or self._counted[0] != state:
            row = connection.execute("SELECT count(*) FROM chunk").fetchone()
            self._counted = (state, int(row[0]))
        return self._counted[1]

    @reports_damage
    def counts(self, model: str = "") -> IndexCounts:
        connection = self._database.connection

        def count(query: str, *parameters: str) -> int:
            return int(connection.execute(query, parameters).fetchone()[0])

        return IndexCounts(
            files=count("SELECT count(*) FROM file WHERE lines > 0"),
            modules=count("SELECT count(DISTINCT file) FROM definition"),
            functions=count("SELECT count(*) FROM definition WHERE kind = 'function'"),
            chunks=self.size(),
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


def stored_chunk(row: tuple[int, str, str, int, int, str, str, str, bytes]) -> StoredChunk:
    """A row of the columns above."""
    _, path, language, start, end, kind, symbol, text, digest = row
    return StoredChunk(
        path=path,
        language=language,
        start=start,
        end=end,
        kind=kind,
        symbol=symbol,
        text=text,
        digest=digest,
    )


def _any_of(terms: list[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _telling(connection: sqlite3.Connection, words: list[str]) -> tuple[list[str], list[str]]:
    """
    The words that find chunks, and those that only raise what the others found.

    A word of thousands of chunks costs a score for each of them where it finds, and next to
    nothing where it is looked up in chunks at hand. In an index of 174,000 chunks the best 50 of
    42 messages are to .81 those that all words find, which takes 150 ms; to .46 without the
    second kind.
    """
    if not words:
        return [], []
    stems = _stems(connection, words)
    rows = {word: _rows_of(connection, stems.get(word, word)) for word in words}
    leading: list[str] = []
    further: list[str] = []
    spent = 0
    for word in sorted(words, key=rows.__getitem__):
        is_needed = spent < _ENOUGH_ROWS
        spent += rows[word]
        if is_needed or spent <= _LEADING_ROWS:
            leading.append(word)
        elif spent <= _LEADING_ROWS + _FURTHER_ROWS:
            further.append(word)
    return leading, further


def _rows_of(connection: sqlite3.Connection, stem: str) -> int:
    """Chunks that hold a word: counted when the index was settled, or now if they are few."""
    row = (
        connection.execute("SELECT chunks FROM common_word WHERE stem = ?", (stem,)).fetchone()
        or connection.execute("SELECT doc FROM word_rows WHERE term = ?", (stem,)).fetchone()
    )
    return int(row[0]) if row else 0


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
