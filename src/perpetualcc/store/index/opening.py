"""A project's knowledge, put together from its index file."""

from pathlib import Path

from perpetualcc.knowledge.rag import RAGPipeline
from perpetualcc.store.index.chunk_rows import ChunkRows
from perpetualcc.store.index.database import IndexDatabase
from perpetualcc.store.index.file_rows import FileRows


def open_pipeline(project: Path) -> RAGPipeline:
    """
    The pipeline of a project, on `<project>/.perpetualcc/index.db`.

    Raises:
        PerpetualError: the project is no folder, or cannot be written to.
    """
    database = IndexDatabase(project)
    return RAGPipeline(project, files=FileRows(database), chunks=ChunkRows(database))
