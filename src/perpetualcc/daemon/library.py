"""
What the code says, for brains and for a session's own Claude.

Only projects with an index (`pcc init`) are asked: a question must not wait for one to be built.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.questions import CodeReference
from perpetualcc.knowledge.settings import KnowledgeSettings

if TYPE_CHECKING:
    from perpetualcc.knowledge.answers import ProjectKnowledge
    from perpetualcc.knowledge.embeddings import EmbeddingProvider

log = logging.getLogger(__name__)
T = TypeVar("T")
DEFAULTS = KnowledgeSettings()

_PATIENCE = timedelta(seconds=10)
_TOKENS = 2_000
"""Of code in a brain's prompt."""
_READERS = 2
"""Threads that read indexes: one for each core that such machines have at least."""


class Library:
    """
    Every project's index, each opened once.

    What is slow or broken costs an answer its code, never the answer.
    """

    def __init__(
        self,
        open_embeddings: "Callable[[], EmbeddingProvider | None]",
        settings: KnowledgeSettings = DEFAULTS,
    ) -> None:
        """
        Args:
            open_embeddings: called when the first project is asked about; may raise PerpetualError.
        """
        self._open_embeddings = open_embeddings
        self._settings = settings
        self._shelves: dict[Path, _Shelf] = {}
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="index")

    def has(self, project: Path) -> bool:
        return (project / ".perpetualcc" / "index.db").exists()

    async def for_question(self, project: Path, question: str) -> tuple[CodeReference, ...]:
        """The code that bears on a question, best first; nothing when it cannot be had."""
        if not self.has(project):
            return ()
        try:
            return await self._ask(
                project, lambda knowledge: knowledge.retrieve_for_question(question, _TOKENS)
            )
        except (TimeoutError, PerpetualError, OSError) as error:
            log.warning("no code for a question about %s: %r", project, error)
            return ()

    def tools(self, project: Path) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
        """The tools for a Claude that works in this project; none without an index."""
        if not self.has(project):
            return {}

        async def search_code(given: dict[str, Any]) -> str:
            query = str(given.get("query", ""))
            return await self._told(project, lambda knowledge: knowledge.search_code(query))

        async def related_code(given: dict[str, Any]) -> str:
            entity = str(given.get("entity", ""))
            return await self._told(project, lambda knowledge: knowledge.related_code(entity))

        return {"search_code": search_code, "related_code": related_code}

    async def refresh(self, project: Path, paths: Collection[str] = ()) -> bool:
        """
        Bring the index up to date, with these files alone where that is enough.

        Returns:
            whether chunks wait for their vectors.
        """

        def refreshed(knowledge: "ProjectKnowledge") -> bool:
            knowledge.refresh(paths)
            return knowledge.lacks_vectors

        try:
            return await self._read(project, refreshed)
        except (PerpetualError, OSError) as error:
            log.warning("the index of %s stays as it is: %r", project, error)
            return False

    def close(self) -> None:
        """Let go of every index. What a thread is still reading, it reads to the end."""
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def _told(
        self, project: Path, ask: "Callable[[ProjectKnowledge], dict[str, Any]]"
    ) -> str:
        try:
            found = await self._ask(project, ask)
        except (TimeoutError, PerpetualError, OSError) as error:
            return f"The index cannot be asked now: {error}"
        return json.dumps(found, ensure_ascii=False)

    async def _ask(self, project: Path, ask: "Callable[[ProjectKnowledge], T]") -> T:
        async with asyncio.timeout(_PATIENCE.total_seconds()):
            return await self._read(project, ask)

    async def _read(self, project: Path, ask: "Callable[[ProjectKnowledge], T]") -> T:
        shelf = self._shelves.setdefault(project, _Shelf(project, self._open))
        return await asyncio.get_running_loop().run_in_executor(self._readers, shelf.read, ask)

    def _open(self, project: Path) -> "ProjectKnowledge":
        from perpetualcc.store.index.opening import open_knowledge  # noqa: PLC0415  # parsers

        return open_knowledge(project, self.embeddings(), self._settings)

    def embeddings(self) -> "EmbeddingProvider | None":
        """The model, the same for all of this process; None: words must do. Blocks."""
        with _CHOOSING:
            return self._embeddings

    @cached_property
    def _embeddings(self) -> "EmbeddingProvider | None":
        try:
            return self._open_embeddings()
        except PerpetualError as error:
            log.warning("the code is searched by words alone: %s", error.message)
            return None


_CHOOSING = threading.Lock()
"""Two threads must not load a model each."""


class _Shelf:
    """One project's knowledge: opened at first use, read by one thread at a time."""

    def __init__(self, project: Path, open_it: "Callable[[Path], ProjectKnowledge]") -> None:
        self._project = project
        self._open = open_it
        self._alone = threading.Lock()
        self._knowledge: ProjectKnowledge | None = None

    def read(self, ask: "Callable[[ProjectKnowledge], T]") -> T:
        """Whoever gave up waiting leaves the thread to its end; the next one waits for it here."""
        with self._alone:
            if self._knowledge is None:
                self._knowledge = self._open(self._project)
            return ask(self._knowledge)
