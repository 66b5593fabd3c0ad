"""A project's knowledge, put together from its index file."""

from pathlib import Path

from perpetualcc.knowledge.answers import ProjectKnowledge
from perpetualcc.knowledge.code_graph import CodeGraph
from perpetualcc.knowledge.embeddings import EmbeddingProvider
from perpetualcc.knowledge.ports import VectorIndex
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.knowledge.settings import KnowledgeSettings, VectorStore
from perpetualcc.knowledge.structure import Structure, structure_of
from perpetualcc.permissions.protected import credentials_in
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows
from perpetualcc.store.index.graph_rows import GraphRows
from perpetualcc.store.index.vector_rows import VectorRows

DEFAULTS = KnowledgeSettings()


def open_pipeline(
    project: Path,
    embeddings: EmbeddingProvider | None = None,
    settings: KnowledgeSettings = DEFAULTS,
) -> RAGPipeline:
    """
    The pipeline of a project, on `<project>/.perpetualcc/index.db`.

    Raises:
        PerpetualError: the project is no folder, or cannot be written to.
    """
    database, vectors = _vectors(project, settings)
    return RAGPipeline(
        project,
        files=FileRows(database),
        chunks=ChunkRows(database),
        vectors=vectors,
        embeddings=embeddings,
        is_secret=credentials_in(project),
    )


def _vectors(project: Path, settings: KnowledgeSettings) -> tuple[IndexDatabase, VectorIndex]:
    if settings.vector_store is VectorStore.SQLITE:
        database = IndexDatabase(project)
        return database, VectorRows(database)
    from perpetualcc.store.index.chroma_vectors import (  # noqa: PLC0415  # seldom chosen
        ChromaVectors,
        chroma_notes,
    )

    address = settings.chroma_address
    database = IndexDatabase(project, vectors=chroma_notes(address))
    return database, ChromaVectors(database, project, address)


def open_knowledge(
    project: Path,
    embeddings: EmbeddingProvider | None = None,
    settings: KnowledgeSettings = DEFAULTS,
) -> ProjectKnowledge:
    """What the master agent and a session's tools ask, on the same file."""
    return ProjectKnowledge(open_pipeline(project, embeddings, settings), open_graph(project))


def open_graph(project: Path) -> CodeGraph:
    """The graph of a project, on the same file."""
    return CodeGraph(GraphRows(IndexDatabase(project)))


def open_structure(project: Path) -> Structure:
    """What the imports of an indexed project say of it as a whole."""
    return structure_of(GraphRows(IndexDatabase(project)).files_with_imports())
