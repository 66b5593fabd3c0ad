"""A project's knowledge, put together from its index file."""

from pathlib import Path

from perpetualcc.knowledge.answers import ProjectKnowledge
from perpetualcc.knowledge.code_graph import CodeGraph
from perpetualcc.knowledge.embeddings import EmbeddingProvider
from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows
from perpetualcc.store.index.graph_rows import GraphRows
from perpetualcc.store.index.vector_rows import VectorRows


def open_pipeline(project: Path, embeddings: EmbeddingProvider | None = None) -> RAGPipeline:
    """
    The pipeline of a project, on `<project>/.perpetualcc/index.db`.

    Raises:
        PerpetualError: the project is no folder, or cannot be written to.
    """
    database = IndexDatabase(project)
    return RAGPipeline(
        project,
        files=FileRows(database),
        chunks=ChunkRows(database),
        vectors=VectorRows(database),
        embeddings=embeddings,
    )


def open_knowledge(project: Path, embeddings: EmbeddingProvider | None = None) -> ProjectKnowledge:
    """What the master agent and a session's tools ask, on the same file."""
    return ProjectKnowledge(open_pipeline(project, embeddings), open_graph(project))


def open_graph(project: Path) -> CodeGraph:
    """The graph of a project, on the same file."""
    return CodeGraph(GraphRows(IndexDatabase(project)))
