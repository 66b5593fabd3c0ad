"""
What the code says, for brains and for a session's own Claude.

Only projects with an index (`pcc init`) are asked: a question must not wait for one to be built.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import RecordedEvent, SessionCreated
from perpetualcc.domain.questions import CodeReference
from perpetualcc.knowledge.settings import KnowledgeSettings

log = logging.getLogger(__name__)

_PATIENCE = timedelta(seconds=10)
_TOKENS = 2_000
"""Of code in a brain's prompt."""


class Library:
    """Every project's index. What is slow or broken costs an answer its code, never the answer."""

    def __init__(self, settings: KnowledgeSettings) -> None:
        self._settings = settings
        self._one_at_a_time = asyncio.Lock()

    def has(self, project: Path) -> bool:
        return (project / ".perpetualcc" / "index.db").exists()

    async def for_question(self, project: Path, question: str) -> tuple[CodeReference, ...]:
        """The code that bears on a question, best first; nothing when it cannot be had."""
        if not self.has(project):
            return ()
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()), self._one_at_a_time:
                return await asyncio.to_thread(self._retrieve, project, question)
        except (TimeoutError, PerpetualError, OSError) as error:
            log.warning("no code for a question about %s: %r", project, error)
            return ()

    async def run(self, log_of_events: AsyncIterator[RecordedEvent]) -> None:
        """Bring the index of each session's project up to date when the session starts."""
        async for recorded in log_of_events:
            if isinstance(recorded.event, SessionCreated):
                await self.refresh(Path(recorded.event.project))

    async def refresh(self, project: Path) -> None:
        """Bring the index up to date in a process of its own, when that is wanted."""
        if not (self._settings.auto_index and self.has(project)):
            return
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "perpetualcc", "init", str(project), "--no-vectors"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await child.wait()
        except asyncio.CancelledError:
            child.kill()
            await child.wait()
            raise

    def tools(self, project: Path) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
        """The tools for a Claude that works in this project; none without an index."""
        if not self.has(project):
            return {}

        async def search_code(given: dict[str, Any]) -> str:
            return await self._ask(project, "search_code", str(given.get("query", "")))

        async def related_code(given: dict[str, Any]) -> str:
            return await self._ask(project, "related_code", str(given.get("entity", "")))

        return {"search_code": search_code, "related_code": related_code}

    async def _ask(self, project: Path, tool: str, text: str) -> str:
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()), self._one_at_a_time:
                found = await asyncio.to_thread(_call, project, tool, text)
        except (TimeoutError, PerpetualError, OSError) as error:
            return f"The index cannot be asked now: {error}"
        return json.dumps(found, ensure_ascii=False)

    def _retrieve(self, project: Path, question: str) -> tuple[CodeReference, ...]:
        from perpetualcc.store.index.opening import open_knowledge  # noqa: PLC0415  # parsers

        return open_knowledge(project).retrieve_for_question(question, _TOKENS)


def _call(project: Path, tool: str, text: str) -> dict[str, Any]:
    from perpetualcc.store.index.opening import open_knowledge  # noqa: PLC0415  # parsers

    knowledge = open_knowledge(project)
    return knowledge.search_code(text) if tool == "search_code" else knowledge.related_code(text)
