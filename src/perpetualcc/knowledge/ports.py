"""
What this capability needs from outside: a place for its rows.

The index is derived data. Whoever keeps it may lose it and build it again, so no promise here is
about durability; the promises are that a batch is all or nothing, and that readers never wait.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.values import CodeFile, KnownFile


class IndexDamaged(PerpetualError):  # noqa: N818  # errors are named by what happened
    """The index cannot be read any more; `FileIndex.reset` and indexing again mend it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that a search found, with what ranking needs to know of it."""

    chunk: int
    path: str
    score: float
    """Higher is better; only hits of one search compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as it is kept."""

    path: str
    language: str
    start: int
    end: int
    kind: str
    symbol: str
    text: str
    digest: bytes
    """Of all that an embedding model is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCounts:
    """What is in the index."""

    files: int
    modules: int
    """Files of code."""
    functions: int
    chunks: int
    vectors: int
    """Chunks that have a vector of the model asked about."""


class FileIndex(Protocol):
    """The files that are known, and the only way to change what is known."""

    def known_files(self) -> dict[str, KnownFile]:
        """Every file by its path, those without chunks included."""
        ...

    def known_of(self, paths: Collection[str]) -> dict[str, KnownFile]:
        """Those of some files that are known."""
        ...

    def apply(
        self,
        files: Sequence[CodeFile],
        *,
        touched: Sequence[CodeFile] = (),
        gone: Sequence[str] = (),
    ) -> None:
        """
        Change what is known, in one transaction. Doing it twice changes nothing.

        Args:
            files: replaced, with all that belongs to them.
            touched: only their times are new.
            gone: forgotten.
        """
        ...

    def writing(self, *, wait: bool) -> AbstractContextManager[bool]:
        """
        Be the one process that indexes; False when another is and `wait` is false.

        The claim ends with the process, however it ends.
        """
        ...

    def note(self, changes: Mapping[str, str]) -> None:
        """Remember small facts about the index itself."""
        ...

    def noted(self, key: str) -> str:
        """A fact remembered, or an empty string."""
        ...

    def reset(self) -> None:
        """Forget everything. For an index that is damaged or from another version."""
        ...


class ChunkSearch(Protocol):
    """Finding chunks by their words, and reading them."""

    def search_words(
        self, words: Sequence[str], limit: int, names: Sequence[str] = ()
    ) -> list[Hit]:
        """
        Chunks that share words with the query, best first; none for no words.

        Args:
            words: each counts by how rare it is.
            limit: hits at most.
            names: words side by side, separated by spaces, that count as one rare word more.

        Raises:
            IndexDamaged: the index cannot be read.
        """
        ...

    def share_of(self, words: Sequence[str], chunk: int) -> float:
        """How many of these words a chunk holds, from 0 to 1."""
        ...

    def read_chunks(self, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Chunks by id; one that has been replaced meanwhile is missing."""
        ...

    def size(self) -> int:
        """How many chunks there are."""
        ...

    def counts(self, model: str = "") -> IndexCounts:
        """How much is known; `model` names the vectors to count."""
        ...

    def settle(self) -> None:
        """After many changes: put the word index in order for reading."""
        ...


class VectorIndex(Protocol):
    """Vectors of chunks, kept by the hash of what was embedded: equal content has one vector."""

    def without_vectors(self, model: str, limit: int) -> list[StoredChunk]:
        """Chunks that have no vector of `model` yet: code first, then documents and tests."""
        ...

    def embedding(self) -> AbstractContextManager[bool]:
        """Be the one process that makes vectors; False when another is."""
        ...

    def has_vectors(self, model: str) -> bool:
        """Whether any chunk has a vector of `model`; quick."""
        ...

    def is_ready(self, model: str) -> bool:
        """
        Whether at least half of the chunks have a vector of `model`.

        With fewer, those that have one win over better ones that have none: .67 against .82 with
        a tenth, .86 with a quarter and more (19 commit messages).
        """
        ...

    def save_vectors(self, model: str, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Keep vectors by the digest of their chunks; each has unit length."""
        ...

    def forget_unused(self) -> None:
        """Forget vectors of what is gone, once they are more than those in use."""
        ...

    def forget_other_models(self, models: Collection[str]) -> None:
        """Forget the vectors of all models but these, and give back their room."""
        ...

    def nearest(self, model: str, vector: Sequence[float], limit: int) -> list[Hit]:
        """Chunks by cosine similarity, best first, exact."""
        ...
