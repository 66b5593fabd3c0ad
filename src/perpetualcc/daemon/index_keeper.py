"""
The indexes follow the work: brought up to date when a session starts and after each change it made.

Nothing here is on a tool call's path: it reads the log of events, waits until a burst of changes
is over, and works in other threads and in patient processes.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from perpetualcc.daemon.library import Library
from perpetualcc.domain.events import (
    Event,
    RecordedEvent,
    SessionCreated,
    ToolDecided,
    ToolFinished,
)
from perpetualcc.domain.ids import RequestId, SessionId
from perpetualcc.domain.tools import WRITERS
from perpetualcc.knowledge.low_priority import at_low_priority

log = logging.getLogger(__name__)

WATCHED = ("SessionCreated", "ToolDecided", "ToolFinished")
"""The kinds of events that tell of changes."""
QUIET = timedelta(seconds=0.5)
"""Changes come in bursts; the index follows when one is over."""
_EVERYTHING = ""
"""Stands for changes that may be anywhere."""
_ANYWHERE_TOOLS = frozenset({"Bash", "Task", "Agent", "PowerShell"})
_REMEMBERED = 500
"""Tool calls under way; one that was cut off never ends."""
_BETWEEN_EMBEDDINGS = timedelta(minutes=5)
"""Loading a model costs seconds, and words answer meanwhile."""


class IndexKeeper:
    """Keeps the index of each project as its sessions leave the files."""

    def __init__(
        self,
        library: Library,
        project_of: Callable[[SessionId], Awaitable[Path]],
        *,
        is_wanted: bool,
        quiet: timedelta = QUIET,
    ) -> None:
        """
        Args:
            project_of: the folder of a session.
            is_wanted: `auto_index`; without it nothing is done.
            quiet: how long no change may come before the index follows.
        """
        self._library = library
        self._project_of = project_of
        self._is_wanted = is_wanted
        self._quiet = quiet
        self._under_way: dict[RequestId, str] = {}
        self._changed: dict[Path, set[str]] = {}
        self._embedding: set[Path] = set()

    async def run(self, log_of_events: AsyncIterator[RecordedEvent]) -> None:
        """Follow the log until cancelled."""
        async with asyncio.TaskGroup() as working:
            async for recorded in log_of_events:
                if self._is_wanted:
                    await self._notice(recorded.event, working)

    async def _notice(self, event: Event, working: asyncio.TaskGroup) -> None:
        match event:
            case SessionCreated(project=project) if self._library.has(Path(project)):
                working.create_task(self._catch_up(Path(project), working), name="catch up")
            case ToolDecided(request=request, tool=tool, summary=summary, verdict="allow"):
                if len(self._under_way) >= _REMEMBERED:
                    self._under_way.clear()
                if tool in WRITERS:
                    self._under_way[request] = summary
                elif tool in _ANYWHERE_TOOLS:
                    self._under_way[request] = _EVERYTHING
            case ToolFinished(request=request, session=session) if request in self._under_way:
                path = self._under_way.pop(request)
                if session is not None:
                    await self._note_change(session, path, working)
            case _:
                pass

    async def _note_change(self, session: SessionId, path: str, working: asyncio.TaskGroup) -> None:
        project = await self._project_of(session)
        if not self._library.has(project):
            return
        is_watched = project in self._changed
        self._changed.setdefault(project, set()).add(_inside(project, path))
        if not is_watched:
            working.create_task(self._follow(project, working), name=f"index {project.name}")

    async def _follow(self, project: Path, working: asyncio.TaskGroup) -> None:
        """Wait until the burst is over, then read what it touched."""
        count = -1
        while len(self._changed[project]) != count:
            count = len(self._changed[project])
            await asyncio.sleep(self._quiet.total_seconds())
        paths = self._changed.pop(project)
        lacks = await self._library.refresh(project, () if _EVERYTHING in paths else paths)
        if lacks:
            self._start_embedding(project, working)

    async def _catch_up(self, project: Path, working: asyncio.TaskGroup) -> None:
        """As a session starts: much may have changed, so another process reads it."""
        await _play("init", str(project), "--no-vectors")
        if await self._library.refresh(project):
            self._start_embedding(project, working)

    def _start_embedding(self, project: Path, working: asyncio.TaskGroup) -> None:
        if project not in self._embedding:
            self._embedding.add(project)
            working.create_task(self._embed(project), name=f"vectors {project.name}")

    async def _embed(self, project: Path) -> None:
        """In a process of its own, and not again at once: there are further changes to come."""
        await _play("init", str(project), "--vectors")
        await asyncio.sleep(_BETWEEN_EMBEDDINGS.total_seconds())
        self._embedding.discard(project)


def _inside(project: Path, path: str) -> str:
    """A path relative to the project, or everything when that cannot be said."""
    if not path or path.endswith("…") or Path(path).is_absolute() or ".." in Path(path).parts:
        return _EVERYTHING
    return path if (project / path).is_file() else _EVERYTHING


async def _play(*arguments: str) -> None:
    """Run `pcc` at low priority; it ends when this engine does."""
    try:
        child = await asyncio.create_subprocess_exec(
            *at_low_priority(*arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:  # no memory, no file descriptor, another Python: the sessions go on
        log.exception("an index is left as it is")
        return
    try:
        await child.wait()
    except asyncio.CancelledError:
        child.kill()
        await child.wait()
        raise
