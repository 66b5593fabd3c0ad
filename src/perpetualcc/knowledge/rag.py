"""
Questions to the code: index a project, then retrieve what answers.

Words find by what is written, vectors by what is meant; where both are there, their scores
are added. Nothing here depends on chance, and on time only while a model is away.
"""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from perpetualcc.domain.installing import pip_install
from perpetualcc.knowledge.code_words import MAX_QUERY, query_names, query_words
from perpetualcc.knowledge.embedding_queue import embed_missing
from perpetualcc.knowledge.embeddings import EmbeddingProvider, EmbeddingsUnavailable
from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.messages import without_trailers
from perpetualcc.knowledge.ports import (
    ChunkSearch,
    FileIndex,
    Hit,
    IndexCounts,
    IndexDamaged,
    VectorIndex,
)
from perpetualcc.knowledge.ranking import filled, fused, lifted, rank_files, relevance
from perpetualcc.knowledge.updating import IndexUpdater, Progress, UpdateReport, no_progress
from perpetualcc.knowledge.values import RetrievalResult
from perpetualcc.knowledge.wishes import wishes

CANDIDATES = 300
"""Chunks that are ranked; a tenth as many files come out of them."""
AWAY = 60.0
"""Seconds that a model which did not answer is left alone: each try may cost a person seconds."""


class RAGPipeline:
    """
    One project's index, and the questions to it (seed 000, Component 7).

    For one thread at a time; any number of processes may have one each.
    """

    def __init__(
        self,
        project: Path,
        *,
        files: FileIndex,
        chunks: ChunkSearch,
        vectors: VectorIndex,
        embeddings: EmbeddingProvider | None,
        is_secret: Callable[[str], bool],
    ) -> None:
        self.project = project
        self._chunks = chunks
        self._vectors = vectors
        self._embeddings = embeddings
        self._ask_again = 0.0
        self._updater = IndexUpdater(CodebaseIndexer(project, is_secret=is_secret), files, chunks)

    def index_project(self, *, wait: bool = True, progress: Progress = no_progress) -> UpdateReport:
        """
        Bring the index up to date; the first time, build it. Safe to repeat and to kill.

        Args:
            wait: for another process that is indexing the same project.
            progress: told after each file: files done, files to do.
        """
        return self._updater.update(wait=wait, progress=progress)

    def index_paths(self, paths: Collection[str]) -> UpdateReport:
        """Bring some files up to date, named relative to the project, as cheaply as can be."""
        return self._updater.update_paths(paths)

    def embed_project(self, progress: Progress = no_progress) -> int:
        """
        Give a vector to every chunk that has none; how many got one. Goes on where it stopped.

        Raises:
            EmbeddingsUnavailable: there is no model, or it went away; what it made is kept.
        """
        if self._embeddings is None:
            raise EmbeddingsUnavailable(
                "No embedding model is chosen", hint=pip_install("perpetualcc[embed]")
            )
        return embed_missing(self._chunks, self._vectors, self._embeddings, progress)

    @property
    def lacks_vectors(self) -> bool:
        """Whether a model was chosen that has not seen every chunk."""
        if self._embeddings is None:
            return False
        try:
            return bool(self._vectors.without_vectors(self._embeddings.model, 1))
        except (EmbeddingsUnavailable, IndexDamaged):
            return False

    def is_first_time(self, what: str) -> bool:
        """True once for this index: for what a person needs to hear only once."""
        return self._updater.is_first_time(what)

    def counts(self) -> IndexCounts:
        """What is in the index, vectors of the chosen model included."""
        return self._chunks.counts(self._embeddings.model if self._embeddings else "")

    def retrieve(self, query: str, top_k: int = 5) -> list[RetrievalResult]:
        """
        The chunks that answer best, from as many files as possible; none for an empty query.

        The same index and query give the same results in the same order.
        """
        try:
            return self._retrieve(query, top_k)
        except IndexDamaged:
            self._updater.update(wait=True, afresh=True)
            return self._retrieve(query, top_k)

    def _retrieve(self, query: str, top_k: int) -> list[RetrievalResult]:
        told = without_trailers(query[:MAX_QUERY])
        words = query_words(told)
        if not words or top_k < 1:
            return []
        found = self._chunks.search_words(words, CANDIDATES, query_names(told))
        by_words = [
            Hit(chunk=hit.chunk, path=hit.path, score=relevance(hit.score, len(words)))
            for hit in found
        ]
        by_meaning = self._nearest(told)
        wanted = wishes(query[:MAX_QUERY])
        best = rank_files(by_words, wanted)
        found_by = "words"
        if by_meaning:
            best = fused(best, rank_files(by_meaning, wanted), self._chunks.size())
            found_by = "words and vectors"
        shown = filled(best, [*by_words, *by_meaning], top_k)
        shown = lifted(shown, lambda hit: self._chunks.share_of(words, hit.chunk))
        return self._results(shown, found_by)

    def _nearest(self, query: str) -> list[Hit]:
        """By vectors, where there are enough; without a model the words must do."""
        if self._embeddings is None or time.monotonic() < self._ask_again:
            return []
        try:
            if not self._vectors.is_ready(self._embeddings.model):
                return []
            vector = self._embeddings.embed(query)
            found = self._vectors.nearest(self._embeddings.model, vector, CANDIDATES)
        except EmbeddingsUnavailable:
            self._ask_again = time.monotonic() + AWAY
            return []
        return [hit for hit in found if hit.score > 0]

    def _results(self, hits: Sequence[Hit], found_by: str) -> list[RetrievalResult]:
        chunks = self._chunks.read_chunks([hit.chunk for hit in hits])
        return [
            RetrievalResult(
                score=round(min(1.0, hit.score), 4),
                file_path=chunk.path,
                chunk_text=chunk.text,
                start=chunk.start,
                end=chunk.end,
                symbol=chunk.symbol,
                kind=chunk.kind,
                metadata={"language": chunk.language, "found_by": found_by},
            )
            for hit in hits
            if (chunk := chunks.get(hit.chunk)) is not None
        ]
