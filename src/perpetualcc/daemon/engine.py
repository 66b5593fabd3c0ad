"""The engine: its parts (`daemon.parts`) put to work, and what a host asks of it."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from typing import TypeVar

from perpetualcc import __version__
from perpetualcc.agent.ports import Claudes
from perpetualcc.claude import processes
from perpetualcc.config.file import digests, load_config
from perpetualcc.daemon.awake import AT_WORK, NOTHING
from perpetualcc.daemon.clock_watch import watch_clock
from perpetualcc.daemon.disk_watch import watch_disk
from perpetualcc.daemon.host import run
from perpetualcc.daemon.index_keeper import QUIET, WATCHED
from perpetualcc.daemon.offered import methods_of
from perpetualcc.daemon.parts import Parts
from perpetualcc.daemon.retention import every_day
from perpetualcc.daemon.state import note_settings
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import EngineStarted, Event, TaskSettled, ToolFinished
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.store.database import Database
from perpetualcc.store.problems import LockedError

log = logging.getLogger(__name__)

T = TypeVar("T")
_AGAIN = 1.0
"""Seconds."""
_PROGRESS = (ToolFinished.__name__, TaskSettled.__name__)


class Engine:
    """`daemon.host.Hosted`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.methods = methods_of(parts)

    @property
    def busy(self) -> bool:
        parts = self._parts
        watching = parts.desk.busy or parts.learning.busy or parts.conditions.busy
        return watching or not parts.dispatcher.is_idle

    async def next_due(self) -> float | None:
        """On the supervisor's clock, which is the machine's: a shifted one is shifted back."""
        parts = self._parts
        shift = parts.clock.now() - time.time()
        found = [await parts.desk.next_due()]
        if not parts.is_work_stopped():
            found += [await parts.ledger.next_due()]
            found += [parts.conditions.next_look(), parts.reviews.next_look()]
        return min((due - shift for due in found if due is not None), default=None)

    async def goes_on(self) -> float:
        """On the machine's clock, as `next_due`."""
        parts = self._parts
        if not parts.config.daemon.keep_awake or parts.is_work_stopped():
            return NOTHING
        if any(parts.dispatcher.running.values()):
            return AT_WORK
        due = await parts.work_ahead.next_due(repeating=False)
        return NOTHING if due is None else due - (parts.clock.now() - time.time())

    async def leave(self) -> None:
        """The last it does: what follows is told apart from a crash."""
        parts = self._parts
        due = None
        with suppress(PerpetualError):  # a full disk: no reason to end badly
            due = await parts.work_ahead.next_due(repeating=True)
        parts.outage_watch.leave(None if due is None else due - (parts.clock.now() - time.time()))

    async def got_on(self) -> None:
        """When the result of a tool that ran, or a finished task, is on record."""
        events = self._parts.events
        since = await events.last()
        async for recorded in events.follow(since, kinds=_PROGRESS):
            if is_progress(recorded.event):
                return

    async def stop(self, grace: timedelta) -> None:
        self._parts.outage_watch.was_told_to_stop = True
        self._parts.agent.leave()
        await self._parts.dispatcher.stop(grace)


def is_progress(event: Event) -> bool:
    match event:
        case ToolFinished(is_error=is_error):
            return not is_error
        case TaskSettled(state=state):
            return state == TaskState.DONE
    return False


@asynccontextmanager
async def build(locations: Locations, claudes: Claudes | None = None) -> AsyncIterator[Engine]:
    """
    Put the engine together, recover what an earlier one left, and start working.

    `claudes`: where Claude Code comes from, when it is not this machine's own.
    """
    config = load_config()
    note_settings(locations, digests(config))
    async with AsyncExitStack() as stack:
        database = await _unlocked(lambda: Database.open(locations.database))
        stack.push_async_callback(database.close)
        parts = Parts(locations, config, database, claudes)
        await _unlocked(lambda: _recover(parts))
        engine = Engine(parts)
        working = await stack.enter_async_context(asyncio.TaskGroup())
        await _start(parts, working, stack)
        yield engine
        await engine.leave()


async def _start(parts: Parts, working: asyncio.TaskGroup, stack: AsyncExitStack) -> None:
    """Start what works by itself; it ends in the opposite order, before the database does."""
    since = await parts.events.last()
    changes = parts.events.follow(since, kinds=WATCHED, breath=QUIET)
    stack.callback(parts.library.close)

    async def look_again(leapt: float) -> None:
        await parts.spending.leapt(leapt)
        await parts.runs.leapt(leapt)
        await parts.ledger.recover()
        await parts.limits.waits.set_back(parts.clock.now())
        await parts.desk.set_back()
        parts.dispatcher.wake()
        parts.desk.wake()

    for name, watching in (
        ("clock", watch_clock(parts.clock, look_again)),
        ("recollection", parts.recollection.run(since)),
        ("disk", watch_disk(parts.locations.data, parts.desk.warn_of_disk)),
        ("memory", parts.memory_watch.run()),
        ("outages", parts.outage_watch.run()),
        (
            "retention",
            every_day(parts.retention, parts.recollection, parts.checkpoints, parts.snapshots),
        ),
        ("index", parts.index_keeper.run(changes)),
        ("conditions", parts.conditions.run()),
        ("reviews", parts.reviews.run(parts.dispatcher.wake)),
    ):
        # They go on for ever: they are not asked to stop.
        stack.callback(working.create_task(watching, name=name).cancel)
    working.create_task(parts.learning.run(), name="learning")
    stack.push_async_callback(parts.learning.stop)
    working.create_task(parts.dispatcher.run(), name="dispatcher")
    stack.push_async_callback(parts.dispatcher.stop, timedelta())
    working.create_task(parts.desk.run(), name="people")
    stack.push_async_callback(parts.desk.stop)


async def _unlocked(step: Callable[[], Awaitable[T]]) -> T:
    """Again as long as another program holds the database: nobody may be there to start us anew."""
    while True:
        try:
            return await step()
        except LockedError as error:
            log.warning("%s; trying again", error.message)
        await asyncio.sleep(_AGAIN)


async def _recover(parts: Parts) -> None:
    """End what an earlier engine left running, then take its tasks over. Twice is once."""
    await parts.outage_watch.come_back()
    await parts.spending.recover(parts.clock.now())
    locations, halted = parts.locations, parts.locations.halted.exists()
    await parts.runs.end_lost(parts.clock.now(), halted=halted)
    await parts.limits.waits.set_back(parts.clock.now())
    await parts.desk.set_back()
    orphans = await asyncio.to_thread(processes.sweep, locations.data, timedelta(seconds=2))
    recovered = await parts.ledger.recover(halted=halted, tell=_stopped)
    locations.halted.unlink(missing_ok=True)
    await parts.manager.recover()
    started = EngineStarted(version=__version__, recovered=len(recovered), orphans=orphans)
    await parts.events.append([started])
    if recovered or orphans:
        log.warning("took over %d tasks, ended %d processes", len(recovered), orphans)


def _stopped(recovered: Sequence[Task]) -> list[TaskSettled]:
    """Parked after too many crashes: people hear of it as of any other task that stopped."""
    return [
        TaskSettled(
            session=SessionId(task.group), task=task.id, state=task.state.value, result=task.result
        )
        for task in recovered
        if task.state.is_final
    ]


if __name__ == "__main__":
    run(build)
