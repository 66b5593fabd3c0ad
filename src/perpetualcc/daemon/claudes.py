"""Where the engine's Claude Code processes come from, and that none outlives its run."""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from perpetualcc.agent.inbox import Inbox
from perpetualcc.agent.ports import ClaudeCode, Launch
from perpetualcc.claude import processes
from perpetualcc.claude.binary import chosen_claude
from perpetualcc.claude.layers import Layers
from perpetualcc.domain.ids import ClaudeSessionId, RunId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import Session

if TYPE_CHECKING:
    from perpetualcc.claude.tools import Tool
    from perpetualcc.daemon.canary import Canary

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
        model_for: Callable[[Session], Awaitable[str]],
        is_intact: Callable[[Session, ClaudeSessionId], Awaitable[bool]],
        layers: Callable[[Session], Awaitable[Layers]],
        tools: Callable[[Launch], Mapping[str, "Tool"]],
        watching: Callable[[Launch, Inbox], AbstractContextManager[None]],
    ) -> None:
        self._locations = locations
        self._binary = binary
        self._started = started
        self._model_for = model_for
        self._is_intact = is_intact
        self._layers = layers
        self._tools = tools
        self._watching = watching
        self._canary: Canary | None = None
        self._loading = asyncio.Lock()

    @asynccontextmanager
    async def open(self, launch: Launch, inbox: Inbox) -> AsyncIterator[ClaudeCode]:
        async with self._loading:  # many that wait for one import would fill the thread pool
            adapter, canary = await asyncio.to_thread(_load)
        binary = await asyncio.to_thread(chosen_claude, self._binary)
        if self._canary is None:
            self._canary = canary.Canary(self._locations)
        await self._canary.check(binary)
        settings = adapter.ClaudeSettings(
            binary=binary,
            run_dir=self._locations.run_dir,
            environment={
                **launch.session.options.programs,
                **processes.mark(self._locations.data, launch.run),
            },
            layers=await self._layers(launch.session),
            tools=self._tools(launch),
        )

        launch = _on_model(launch, await self._model_for(launch.session))

        async def started(pid: int) -> None:
            await self._started(launch.run, pid)

        try:
            async with adapter.open_claude(launch, inbox, settings, started) as claude:
                with self._watching(launch, inbox):
                    yield claude
        finally:
            await asyncio.shield(asyncio.to_thread(self._end, launch.run))

    async def can_resume(self, session: Session, conversation: ClaudeSessionId) -> bool:
        return await self._is_intact(session, conversation)

    def _end(self, run: RunId) -> None:
        if left := processes.sweep(self._locations.data, _GRACE, run):
            log.info("run %s left %d processes behind; they were ended", run, left)


def _on_model(launch: Launch, model: str) -> Launch:
    options = replace(launch.session.options, claude_model=model)
    return replace(launch, session=replace(launch.session, options=options))


def _load() -> tuple[ModuleType, ModuleType]:
    """The SDK costs a second and 70 MB, so it is imported where a session runs."""
    adapter = importlib.import_module("perpetualcc.claude.adapter")
    return adapter, importlib.import_module("perpetualcc.daemon.canary")
