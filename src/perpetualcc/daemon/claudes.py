"""Where the engine's Claude Code processes come from, and that none outlives its run."""

import asyncio
import importlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType

from perpetualcc.agent.inbox import Inbox
from perpetualcc.agent.ports import ClaudeCode, Launch
from perpetualcc.claude import processes
from perpetualcc.claude.transcripts import transcript_exists
from perpetualcc.domain.ids import ClaudeSessionId, RunId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import Session

log = logging.getLogger(__name__)

_GRACE = timedelta(seconds=2)
"""What is left of a run gets this long between SIGTERM and SIGKILL."""


class ClaudeRunner:
    """`agent.ports.Claudes` on this machine."""

    def __init__(
        self,
        locations: Locations,
        *,
        binary: Path | None,
        started: Callable[[RunId, int], Awaitable[None]],
    ) -> None:
        self._locations = locations
        self._binary = binary
        self._started = started

    @asynccontextmanager
    async def open(self, launch: Launch, inbox: Inbox) -> AsyncIterator[ClaudeCode]:
        adapter = await asyncio.to_thread(_load_adapter)
        settings = adapter.ClaudeSettings(
            binary=self._binary,
            run_dir=self._locations.run_dir,
            environment=processes.mark(self._locations.data, launch.run),
        )

        async def started(pid: int) -> None:
            await self._started(launch.run, pid)

        try:
            async with adapter.open_claude(launch, inbox, settings, started) as claude:
                yield claude
        finally:
            await asyncio.shield(asyncio.to_thread(self._end, launch.run))

    async def can_resume(self, session: Session, conversation: ClaudeSessionId) -> bool:
        return await asyncio.to_thread(transcript_exists, conversation, dict(os.environ))

    def _end(self, run: RunId) -> None:
        left = processes.find(self._locations.data, run)
        if left:
            log.info("run %s left %d processes behind; ending them", run, len(left))
            processes.end(left, _GRACE)


def _load_adapter() -> ModuleType:
    """The SDK costs a second and 70 MB, so it is imported where a session runs."""
    return importlib.import_module("perpetualcc.claude.adapter")
