"""
The dispatcher: claims what may start, gives it to the handler, settles what came of it.

It knows nothing of Claude or of sessions. It outlives any handler and any hiccup of the ledger.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, Later, Outcome, Task, TaskState
from perpetualcc.domain.waiting import back_off, sleep_until, wait_at_most
from perpetualcc.work.ledger import Ledger
from perpetualcc.work.outcomes import Settlement, settlement

log = logging.getLogger(__name__)

_SHORTEST_SLEEP = timedelta(milliseconds=5)
"""Between two looks at a ledger that says something is due and then hands nothing out."""
_CANCEL_DEADLINE = timedelta(seconds=5)
_LEDGER_RETRY = timedelta(seconds=5)

Describe = Callable[[Task, Settlement], Iterable[Event]]
"""What the log should say of a settled dispatch; written in the same transaction."""

Settled = Callable[[Task, Settlement], Awaitable[None]]
"""Told after a dispatch was settled, again while trouble passes. What else it raises is logged; the
ledger does not depend on it."""


async def _nobody(_task: Task, _became: Settlement) -> None: ...


class Handler(Protocol):
    """What a dispatch does."""

    async def advance(self, task: Task) -> Outcome:
        """
        Work on a task until it is finished or must wait.

        It may be cancelled at any await, and called again for the same dispatch's work after a
        crash. What it raises is logged, and the task tried again later as a counted attempt.
        """
        ...


@dataclass(slots=True, eq=False)
class _Dispatch:
    """One handler at work."""

    task: Task
    runner: "asyncio.Task[None] | None" = None
    is_advancing: bool = True
    """Only now may it be cancelled: a settle is never cut in two."""
    is_interrupted: bool = False
    """The cancellation that it sees is ours."""
    is_cancelled: bool = False
    """A person cancelled the task, as opposed to the engine stopping."""
    is_settled: bool = False
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Its runner has ended."""

    def interrupt(self) -> None:
        if self.is_advancing and self.runner is not None:
            self.is_interrupted = True
            self.runner.cancel()


class Dispatcher:
    """Keeps every lane full of what may start, until it is stopped."""

    def __init__(
        self,
        ledger: Ledger,
        handler: Handler,
        lanes: Mapping[Lane, int],
        clock: Clock,
        describe: Describe = lambda _task, _settlement: (),
        settled: Settled = _nobody,
        is_open: Callable[[Lane], bool] = lambda _lane: True,
    ) -> None:
        self._ledger = ledger
        self._handler = handler
        self._lanes = dict(lanes)
        self._clock = clock
        self._describe = describe
        self._settled = settled
        self._is_open = is_open
        self._running: dict[TaskId, _Dispatch] = {}
        self._woken = asyncio.Event()
        self._is_stopping = False
        self._claiming = asyncio.Lock()

    @property
    def running(self) -> Mapping[Lane, int]:
        """How many handlers are at work in each lane."""
        counted = Counter(dispatch.task.lane for dispatch in self._running.values())
        return {lane: counted[lane] for lane in Lane}

    @property
    def is_idle(self) -> bool:
        """No handler is at work, and none is being started."""
        return not self._running and not self._claiming.locked()

    def wake(self) -> None:
        """Look now: a task was added, a signal came, a group was released."""
        self._woken.set()

    async def run(self) -> None:
        """Dispatch until `stop`, and return when the last handler has left."""
        async with asyncio.TaskGroup() as group:
            while not self._is_stopping:
                self._woken.clear()
                try:
                    await self._claim(group)
                    pause = await self._pause()
                except PerpetualError:  # a full disk today may have room tomorrow
                    log.exception("the ledger cannot be used; trying again")
                    pause = _LEDGER_RETRY
                await wait_at_most(pause, self._woken)

    async def cancel(self, task: TaskId) -> TaskState:
        """Cancel a task wherever it is; a running handler has five seconds to leave."""
        state = await self._ledger.cancel(task)
        dispatch = self._running.get(task)
        if state is not TaskState.RUNNING or dispatch is None:
            return state
        dispatch.is_cancelled = True
        await self._interrupt([dispatch])
        return (await self._ledger.get(task)).state

    async def stop(self, grace: timedelta) -> None:
        """Start nothing more; after the grace interrupt what runs, so that it resumes later."""
        self._is_stopping = True
        self.wake()
        async with self._claiming:
            dispatches = list(self._running.values())
        await _all_left(dispatches, grace)
        await self._interrupt(dispatches)

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        free = self._free()
        if not free or self._is_stopping:
            return
        async with self._claiming:
            for task in await self._ledger.claim(free, sum(free.values())):
                dispatch = self._running[task.id] = _Dispatch(task)
                runner = group.create_task(self._dispatch(dispatch), name=f"task {task.id}")
                # Also called for one that was cancelled before its first step.
                runner.add_done_callback(partial(self._forget, dispatch))
                dispatch.runner = runner

    def _free(self) -> dict[Lane, int]:
        running = self.running
        rooms = {lane: places - running[lane] for lane, places in self._lanes.items()}
        return {lane: room for lane, room in rooms.items() if room > 0 and self._is_open(lane)}

    async def _pause(self) -> timedelta:
        free = self._free()
        due = await self._ledger.next_due(free) if free else None
        return sleep_until(due, self._clock.now(), at_least=_SHORTEST_SLEEP)

    async def _dispatch(self, dispatch: _Dispatch) -> None:
        outcome = await self._advance(dispatch)
        dispatch.is_advancing = False
        await self._settle(dispatch, outcome)

    def _forget(self, dispatch: _Dispatch, _runner: "asyncio.Task[None]") -> None:
        if self._running.get(dispatch.task.id) is dispatch:
            del self._running[dispatch.task.id]
        dispatch.left.set()
        self.wake()

    async def _advance(self, dispatch: _Dispatch) -> Outcome:
        try:
            return await self._handler.advance(dispatch.task)
        except asyncio.CancelledError:
            if not dispatch.is_interrupted:
                raise
            if dispatch.runner is not None:
                dispatch.runner.uncancel()
            return self._interrupted()
        except Exception as error:
            log.exception("the handler of task %s failed", dispatch.task.id)
            due = self._clock.now() + back_off(dispatch.task.attempts, dispatch.task.id)
            reason = f"{type(error).__name__}: {error}"
            return Later(due=due, reason=reason, keeps_answer=True)

    def _interrupted(self) -> Outcome:
        now = self._clock.now()
        return Later(due=now, counts=False, reason="Interrupted", keeps_answer=True)

    async def _settle(self, dispatch: _Dispatch, outcome: Outcome) -> None:
        """Try until the ledger takes it: hours of work may hang on it."""
        task = dispatch.task
        became = settlement(task, outcome, self._clock.now(), cancelling=dispatch.is_cancelled)
        while True:
            try:
                events = tuple(self._describe(task, became))
                if await self._ledger.settle(task.id, task.fence, outcome, events):
                    await self._tell(task, became)
                else:
                    log.warning("task %s was settled by another: outcome dropped", task.id)
            except PerpetualError:
                log.exception("task %s cannot be settled", task.id)
                if self._is_stopping:  # recovery finds it running, and goes on from there
                    return
            else:
                dispatch.is_settled = True
                return
            await asyncio.sleep(_LEDGER_RETRY.total_seconds())

    async def _tell(self, task: Task, became: Settlement) -> None:
        """Until it could be written down: nobody looks at a settled task again by himself."""
        while True:
            try:
                await self._settled(task, became)
            except PassingError:
                log.exception("nobody can be told yet that task %s is settled", task.id)
                if self._is_stopping:  # recovery brings up to date what was not told
                    return
            except Exception:  # an observer's trouble must not end the lanes
                log.exception("nobody could be told that task %s is settled", task.id)
                return
            else:
                return
            await asyncio.sleep(_LEDGER_RETRY.total_seconds())

    async def _interrupt(self, dispatches: list[_Dispatch]) -> None:
        """Cancel the handlers; settle for those that do not leave in time."""
        for dispatch in dispatches:
            if not dispatch.left.is_set():
                dispatch.interrupt()
        await _all_left(dispatches, _CANCEL_DEADLINE)
        for dispatch in dispatches:
            task = dispatch.task
            if not dispatch.left.is_set():
                log.error("the handler of task %s does not leave; going on without it", task.id)
            # It stayed, or was interrupted before its first step.
            if dispatch.is_interrupted and not dispatch.is_settled:
                await self._settle(dispatch, self._interrupted())


async def _all_left(dispatches: list[_Dispatch], deadline: timedelta) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(deadline.total_seconds()):
            for dispatch in dispatches:
                await dispatch.left.wait()
