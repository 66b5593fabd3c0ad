"""
Questions to the code: index a project, then retrieve what answers.

A search first brings the index up to date, so it never answers from a file that has changed.
"""

from dataclasses import replace
from pathlib import Path

from perpetualcc.knowledge.code_words import query_words
from perpetualcc.knowledge.indexer import CodebaseIndexer
from perpetualcc.knowledge.ports import ChunkSearch, FileIndex, Hit, IndexCounts, IndexDamaged
from perpetualcc.knowledge.ranking import filled, rank_files, relevance
from perpetualcc.knowledge.updating import IndexUpdater, Progress, UpdateReport, no_progress
from perpetualcc.knowledge.values import RetrievalResult

CANDIDATES = 300
"""Chunks that are ranked; a tenth as many files come out of them."""


class RAGPipeline:
    """One project's index, and the questions to it (seed 000, Component 7)."""

    def __init__(self, project: Path, *, files: FileIndex, chunks: ChunkSearch) -> None:
        self.project = project
        self._chunks = chunks
        self._updater = IndexUpdater(CodebaseIndexer(project), files, chunks)

    def index_project(self, *, wait: bool = True, progress: Progress = no_progress) -> UpdateReport:
        """Bring the index up to date; the first time, build it. Safe to repeat and to kill."""
        return self._updater.update(wait=wait, progress=progress)

    def counts(self) -> IndexCounts:
        return self._chunks.counts()

    def retrieve(self, query: str, top_k: int = 5) -> list[RetrievalResult]:
        """
        The chunks that answer best, from as many files as possible; none for an empty query.

        The same index and query give the same results in the same order.
        """
        try:
            return self._retrieve(query, top_k)
        except IndexDamaged:
            self.index_project()
            return self._retrieve(query, top_k)

    def _retrieve(self, query: str, top_k: int) -> list[RetrievalResult]:
        words = query_words(query)
        found = self._chunks.search_words(words, CANDIDATES)
        hits = [replace(hit, score=relevance(hit.score, len(words))) for hit in found]
        return self._results(filled(rank_files(hits), hits, top_k))

    def _results(self, hits: list[Hit]) -> list[RetrievalResult]:
        chunks = self._chunks.read_chunks([hit.chunk for hit in hits])
        return [
            RetrievalResult(
                score=round(hit.score, 4),
                file_path=chunk.path,
                chunk_text=chunk.text,
                start=chunk.start,
                end=chunk.end,
                symbol=chunk.symbol,
                kind=chunk.kind,
                metadata={"language": chunk.language},
            )
            for hit in hits
            if (chunk := chunks.get(hit.chunk)) is not None
        ]
