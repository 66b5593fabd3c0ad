"""
Vectors in ChromaDB: a folder of the project, or a team's server.

Which chunks have one is noted beside the index, so that a search asks the server once and a
restart asks it nothing. The notes are checked against the store and may be lost.
"""

import hashlib
import importlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from perpetualcc.domain.installing import pip_install
from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable
from perpetualcc.knowledge.ports import Hit, StoredChunk
from perpetualcc.store.index.database import IndexDatabase, reports_damage
from perpetualcc.store.index.vector_rows import VectorRows

_AT_ONCE = 200
"""Ids of one request: a server limits its addresses and bodies."""
_UNUSED_SHARE = 2
"""Results asked for are so many times those wanted: some belong to chunks that are gone."""


def chroma_notes(address: str) -> str:
    """The file of notes for one store; each store has its own."""
    return f"chroma-{hashlib.sha256(address.encode()).hexdigest()[:8]}.db"


class ChromaVectors:
    """`knowledge.ports.VectorIndex` in ChromaDB. Nearest by its graph: close to exact."""

    def __init__(self, database: IndexDatabase, project: Path, address: str = "") -> None:
        """
        Args:
            database: with `chroma_notes(address)` as its file of vectors.
            project: its name is the collection's, so a team shares one.
            address: of a server, `http://host:8000`; empty for a folder of the project.
        """
        self._database = database
        self._project = project
        self._address = address
        self._notes = VectorRows(database)
        self._collections: dict[str, Any] = {}

    def without_vectors(self, model: str, limit: int) -> list[StoredChunk]:
        while missing := self._notes.without_vectors(model, limit):
            known = self._known(model, [chunk.digest for chunk in missing])
            if not known:
                break
            self._note(model, known)
        return missing

    def embedding(self) -> AbstractContextManager[bool]:
        return self._notes.embedding()

    def has_vectors(self, model: str) -> bool:
        return self._notes.has_vectors(model)

    def is_ready(self, model: str) -> bool:
        return self._notes.is_half_noted(model)

    def save_vectors(self, model: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        collection = self._collection(model)
        digests = list(vectors)
        with _answering(self._place):
            collection.upsert(
                ids=[digest.hex() for digest in digests],
                embeddings=[[float(number) for number in vectors[digest]] for digest in digests],
            )
        self._note(model, digests)

    def forget_unused(self) -> None:
        """In a folder of the project alone: a team's server has others' vectors, too."""
        unused = self._notes.unused()
        self._notes.forget_unused()
        if self._address:
            return
        for model in {model for model, _ in unused}:
            ids = [digest.hex() for of, digest in unused if of == model]
            for at in range(0, len(ids), _AT_ONCE):
                with _answering(self._place):
                    self._collection(model).delete(ids=ids[at : at + _AT_ONCE])

    def forget_other_models(self, models: Collection[str]) -> None:
        """In a folder of the project alone: a team's server has others' vectors, too."""
        if self._address:
            return
        for model in self._notes.models():
            if model not in models:
                with _answering(self._place):
                    self._client.delete_collection(self._collection(model).name)
                del self._collections[model]
                self._notes.forget_model(model)

    def nearest(self, model: str, vector: Sequence[float], limit: int) -> list[Hit]:
        if not self.has_vectors(model) or limit < 1:
            return []
        with _answering(self._place):
            found = self._collection(model).query(
                query_embeddings=[[float(number) for number in vector]],
                n_results=limit * _UNUSED_SHARE,
                include=["distances"],
            )
        scores = {
            bytes.fromhex(identity): 1.0 - float(distance)
            for identity, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        }
        hits = [
            Hit(chunk=chunk, path=path, score=scores[digest])
            for digest, chunk, path in self._owners(list(scores))
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk))[:limit]

    @reports_damage
    def _owners(self, digests: list[bytes]) -> list[tuple[bytes, int, str]]:
        marks = ",".join("?" * len(digests))
        rows = self._database.connection.execute(
            "SELECT chunk.digest, chunk.id, file.path FROM chunk JOIN file ON file.id = chunk.file"
            f" WHERE chunk.digest IN ({marks})",
            digests,
        )
        return rows.fetchall()

    def _known(self, model: str, digests: list[bytes]) -> list[bytes]:
        """Which of these the store has: a colleague's, or from before the notes were lost."""
        known: list[bytes] = []
        for at in range(0, len(digests), _AT_ONCE):
            ids = [digest.hex() for digest in digests[at : at + _AT_ONCE]]
            with _answering(self._place):
                found = self._collection(model).get(ids=ids, include=[])
            known += map(bytes.fromhex, found["ids"])
        return known

    def _note(self, model: str, digests: Sequence[bytes]) -> None:
        self._notes.save_vectors(model, dict.fromkeys(digests, ()))

    def _collection(self, model: str) -> Any:
        if model not in self._collections:
            name = _collection_name(self._project.name, model)
            client = self._client
            with _answering(self._place):
                found = client.get_or_create_collection(
                    name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
                )
                is_empty = found.count() == 0
            if is_empty:
                self._notes.forget_model(model)
            self._collections[model] = found
        return self._collections[model]

    @property
    def _place(self) -> str:
        return self._address or str(self._folder)

    @property
    def _folder(self) -> Path:
        return self._database.folder / "chroma"

    @cached_property
    def _client(self) -> Any:
        try:
            chromadb: Any = importlib.import_module("chromadb")
        except ImportError as error:
            raise EmbeddingsUnavailable(
                "The vector store `chroma` is not installed",
                hint=pip_install("perpetualcc[chroma]"),
            ) from error
        settings = chromadb.Settings(anonymized_telemetry=False)
        with _answering(self._place):
            if not self._address:
                return chromadb.PersistentClient(path=str(self._folder), settings=settings)
            parts = urlsplit(self._address)
            is_secure = parts.scheme == "https"
            return chromadb.HttpClient(
                host=parts.hostname or "localhost",
                port=parts.port or (443 if is_secure else 8000),
                ssl=is_secure,
                settings=settings,
            )


def _collection_name(project: str, model: str) -> str:
    readable = re.sub(r"[^a-zA-Z0-9]+", "-", project).strip("-")[:40] or "project"
    identity = hashlib.sha256(f"{project}\0{model}".encode()).hexdigest()[:12]
    return f"pcc-{readable}-{identity}"


@contextmanager
def _answering(place: str) -> Iterator[None]:
    """Whatever the client raises means the same: words must do."""
    try:
        yield
    except EmbeddingsUnavailable:
        raise
    except _client_errors() as error:
        raise EmbeddingsUnavailable(
            f"The vector store at {place} does not answer ({type(error).__name__})",
            hint="Start it, or set knowledge.vector_store to sqlite",
        ) from error


def _client_errors() -> tuple[type[Exception], ...]:
    known: Any = importlib.import_module("chromadb.errors")
    return (known.ChromaError, OSError, ValueError, RuntimeError)
