"""
Vectors as blobs beside the chunks, compared with numpy.

Exact, and quick enough: one matrix product over 100,000 vectors is some 10 ms. They are kept as
half precision, which moves a cosine by less than 0.001.
"""

import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from perpetualcc.knowledge.ports import Hit, StoredChunk
from perpetualcc.store.index.chunk_rows import COLUMNS, stored_chunk
from perpetualcc.store.index.database import IndexDatabase, reports_damage

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


_UNUSED = "digest NOT IN (SELECT digest FROM chunk)"


class VectorRows:
    """`knowledge.ports.VectorIndex` in SQLite. Needs numpy once there are vectors."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._loaded: tuple[object, list[tuple[int, str]], Matrix] | None = None

    @reports_damage
    def without_vectors(self, model: str, limit: int) -> list[StoredChunk]:
        rows = self._database.connection.execute(
            f"SELECT {COLUMNS} FROM chunk JOIN file ON file.id = chunk.file"
            " WHERE NOT EXISTS (SELECT 1 FROM vector"
            " WHERE vector.model = ? AND vector.digest = chunk.digest)"
            " ORDER BY file.worth DESC, chunk.id LIMIT ?",
            (model, limit),
        )
        return [stored_chunk(row) for row in rows]

    def embedding(self) -> AbstractContextManager[bool]:
        return self._database.claimed("embedding.lock", wait=False)

    @reports_damage
    def has_vectors(self, model: str) -> bool:
        found = self._database.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM vector WHERE model = ?)", (model,)
        )
        return bool(found.fetchone()[0])

    @reports_damage
    def is_ready(self, model: str) -> bool:
        if not self.has_vectors(model):
            return False
        owners, _ = self._matrix(model)
        return len(owners) * 2 >= self._chunks()

    def _chunks(self) -> int:
        row = self._database.connection.execute("SELECT count(*) FROM chunk").fetchone()
        return int(row[0])

    @reports_damage
    def is_half_noted(self, model: str) -> bool:
        """The same of notes without vectors; those of chunks that are gone count, too."""
        query = "SELECT count(*) FROM vector WHERE model = ?"
        row = self._database.connection.execute(query, (model,)).fetchone()
        return bool(row[0]) and int(row[0]) * 2 >= self._chunks()

    @reports_damage
    def save_vectors(self, model: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        import numpy as np  # noqa: PLC0415

        rows = [
            (model, digest, np.asarray(vector, dtype=np.float16).tobytes())
            for digest, vector in vectors.items()
        ]
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vector (model, digest, data) VALUES (?, ?, ?)", rows
            )

    @reports_damage
    def forget_unused(self) -> None:
        if len(self.unused()) > self._chunks():
            with self._database.transaction() as connection:
                connection.execute(f"DELETE FROM vector WHERE {_UNUSED}")

    @reports_damage
    def unused(self) -> list[tuple[str, bytes]]:
        """Model and digest of the vectors that no chunk has."""
        query = f"SELECT model, digest FROM vector WHERE {_UNUSED}"
        return self._database.connection.execute(query).fetchall()

    @reports_damage
    def forget_model(self, model: str) -> None:
        """Forget the vectors of one model."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM vector WHERE model = ?", (model,))

    @reports_damage
    def forget_other_models(self, models: Collection[str]) -> None:
        others = [model for model in self.models() if model not in models]
        for model in others:
            self.forget_model(model)
        if others:
            with suppress(sqlite3.OperationalError):  # somebody reads: the next vectors take it
                self._database.connection.execute("VACUUM vectors")

    @reports_damage
    def models(self) -> list[str]:
        """Those that have vectors: one step of the index for each, not for each vector."""
        rows = self._database.connection.execute(
            "WITH RECURSIVE found(model) AS ("
            " SELECT min(model) FROM vector UNION ALL"
            " SELECT (SELECT min(model) FROM vector WHERE model > found.model) FROM found"
            " WHERE found.model IS NOT NULL"
            ") SELECT model FROM found WHERE model IS NOT NULL"
        )
        return [model for (model,) in rows]

    @reports_damage
    def nearest(self, model: str, vector: Sequence[float], limit: int) -> list[Hit]:
        owners, matrix = self._matrix(model)
        if not owners:
            return []
        import numpy as np  # noqa: PLC0415

        scores = matrix @ np.asarray(vector, dtype=np.float32)
        best = np.argsort(-scores, kind="stable")[:limit].tolist()
        return [
            Hit(chunk=owners[row][0], path=owners[row][1], score=float(scores[row])) for row in best
        ]

    def _matrix(self, model: str) -> "tuple[list[tuple[int, str]], Matrix]":
        """Every vector of `model`, loaded once until somebody changes the index."""
        connection = self._database.connection
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        state = (model, version, connection.total_changes, id(connection))
        if self._loaded is None or self._loaded[0] != state:
            self._loaded = (state, *self._load(model))
        return self._loaded[1], self._loaded[2]

    def _load(self, model: str) -> "tuple[list[tuple[int, str]], Matrix]":
        # Two threads of a matrix library make small products 25 times slower.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import numpy as np  # noqa: PLC0415

        rows = self._database.connection.execute(
            "SELECT chunk.id, file.path, vector.data FROM vector"
            " JOIN chunk ON chunk.digest = vector.digest JOIN file ON file.id = chunk.file"
            " WHERE vector.model = ? ORDER BY chunk.id",
            (model,),
        ).fetchall()
        owners = [(chunk, path) for chunk, path, _ in rows]
        flat = np.frombuffer(b"".join(data for _, _, data in rows), dtype=np.float16)
        return owners, flat.astype(np.float32).reshape(len(rows), -1 if rows else 0)
