"""
What others ask of the index: code that bears on a question, and two tools for a session's Claude.

Everything returned is data from the project. Whoever puts it before a model marks it as such.
"""

from collections.abc import Collection, Iterator
from typing import Any

from perpetualcc.domain.questions import CodeReference
from perpetualcc.knowledge.code_graph import CodeGraph, Related, UnknownEntity
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.knowledge.values import RetrievalResult

CHARS_PER_TOKEN = 4
TOP_RESULTS = 5
"""In a brain's prompt (seed 000, Phase 7), and of a search by Claude."""
_REFERENCE_OVERHEAD = 15
"""Tokens of a reference's path and lines."""


class ProjectKnowledge:
    """One project's index and graph, as the master agent sees them. For one thread at a time."""

    def __init__(self, pipeline: RAGPipeline, graph: CodeGraph) -> None:
        self._pipeline = pipeline
        self._graph = graph

    def refresh(self, paths: Collection[str] = ()) -> None:
        """Bring the index up to date with these relative paths, or with all that changed."""
        if paths:
            self._pipeline.index_paths(paths)
        else:
            self._pipeline.index_project(wait=False)

    @property
    def lacks_vectors(self) -> bool:
        """Whether there is a model, and chunks that it has not seen."""
        return self._pipeline.lacks_vectors

    def retrieve_for_question(self, question: str, budget_tokens: int) -> tuple[CodeReference, ...]:
        """
        The code that bears on a question, best first, within a budget of tokens.

        The first files' neighbours in the graph follow as bare references, with empty text, as
        long as the budget lasts.
        """
        self._pipeline.index_project(wait=False)
        found = self._pipeline.retrieve(question, TOP_RESULTS)
        references: list[CodeReference] = []
        left = budget_tokens
        for reference in [*map(_reference, found), *self._neighbours(found)]:
            cost = len(reference.text) // CHARS_PER_TOKEN + _REFERENCE_OVERHEAD
            if cost <= left:
                references.append(reference)
                left -= cost
        return tuple(references)

    def _neighbours(self, found: list[RetrievalResult]) -> Iterator[CodeReference]:
        seen = {result.file_path for result in found}
        for result in found[:2]:
            for path in self._graph.neighbours(result.file_path)[:4]:
                if path not in seen:
                    seen.add(path)
                    yield CodeReference(path=path, start=1, text="")

    def search_code(self, query: str) -> dict[str, Any]:
        """The tool `search_code`: chunks that answer, each with file and lines."""
        self._pipeline.index_project(wait=False)
        found = self._pipeline.retrieve(query, TOP_RESULTS)
        return {"query": query[:200], "results": [result_dict(result) for result in found]}

    def related_code(self, entity: str) -> dict[str, Any]:
        """The tool `related_code`: what is near a file or a name; an unknown one says so."""
        self._pipeline.index_project(wait=False)
        try:
            related = self._graph.related(entity)
        except UnknownEntity as unknown:
            return {"entity": entity[:200], "related": [], "note": unknown.message}
        return {
            "entity": entity[:200],
            "related": [related_dict(entry) for entry in related],
        }


def related_dict(entry: Related) -> dict[str, Any]:
    """What is near in the graph, as clients and Claude see it."""
    return {
        "entity": str(entry.node),
        "distance": entry.distance,
        "relation": str(entry.edge.kind),
        "from": str(entry.edge.source),
        "to": str(entry.edge.target),
    }


def result_dict(result: RetrievalResult) -> dict[str, Any]:
    """A result as the command line and the tools give it out."""
    return {
        "file": result.file_path,
        "start": result.start,
        "end": result.end,
        "score": result.score,
        "symbol": result.symbol,
        "kind": result.kind,
        "text": result.chunk_text,
    }


def _reference(result: RetrievalResult) -> CodeReference:
    return CodeReference(path=result.file_path, start=result.start, text=result.chunk_text)
