"""
What begins when a condition holds (seed 003, FR-2): a command of a person's that succeeds then,
such as `ls inbox/*.md`. It is looked at every minute, or at the times of `--every`.

The task is a row that no time wakes; when it is looked at next is on file.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol

from perpetualcc.deferred.every import parse_every
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.events import ConditionMet, Event, ProblemNoticed
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, condition_of

log = logging.getLogger(__name__)

_LOOK_EVERY = 60.0
"""Seconds between two looks at a condition."""
_LOOK_FOR = 30.0
"""Seconds that a look may take. After that the condition does not hold."""
_NEW = timedelta(seconds=2)
"""Between two looks at which tasks there are."""
_NO_COMMAND = frozenset({"exit code 126", "exit code 127"})
"""What a shell says of a command that is not there, or no program: it will never hold."""


class Looked(Protocol):
    """What a command came to."""

    @property
    def trouble(self) -> str:
        """Why it failed; empty: it succeeded."""
        ...

    @property
    def last_line(self) -> str: ...


Look = Callable[[str, Session, float], Awaitable[Looked]]
"""Run a command in a session's project, for at most so many seconds. Never raises."""


class Conditional(Protocol):
    """What the watch needs of the ledger."""

    async def conditional(self) -> list[tuple[Task, float | None]]:
        """
        Tasks that only their condition keeps from being started, one for each group and condition,
        and when it is to be looked at; None: it never was.
        """
        ...

    async def look_again(self, task: TaskId, at: float, *problem: Event) -> None:
        """Not before that time. A problem is put on record with it, the first time."""
        ...

    async def begin_now(self, task: TaskId, *events: Event) -> None:
        """
        Its condition holds: it is due, and so is all of its group that waits for the same. Nothing
        when it is due already, or over.
        """
        ...


class ConditionWatch:
    """Looks at the conditions of what could begin."""

    def __init__(
        self,
        tasks: Conditional,
        look: Look,
        session_of: Callable[[SessionId], Awaitable[Session]],
        clock: Clock,
        wake: Callable[[], None],
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        """While it is not open no command is run."""
        self._tasks = tasks
        self._look = look
        self._session_of = session_of
        self._clock = clock
        self._wake = wake
        self._is_open = is_open
        self._next: float | None = None
        self.busy = False
        """A command is at work."""

    def next_look(self) -> float | None:
        """UTC epoch seconds; None: there is no condition."""
        return self._next

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                if self._is_open():
                    await self.look()
            except* PassingError:
                log.exception("conditions cannot be looked at; trying again")
            await asyncio.sleep(_NEW.total_seconds())

    async def look(self) -> None:
        """At every condition whose time has come."""
        looks, now = await self._ahead(), self._clock.now()
        # A clock that was set back puts nothing off by more than one look.
        due = [task for task, at in looks if not now < at <= _after(task, now)]
        if not due:
            return
        self.busy = True
        try:
            async with asyncio.TaskGroup() as group:
                for task in due:
                    group.create_task(self._look_at(task), name=f"condition of {task.id}")
            await self._ahead()
        finally:
            self.busy = False

    async def _ahead(self) -> list[tuple[Task, float]]:
        """What waits for its condition, and when each is looked at."""
        found = await self._tasks.conditional()
        looks = [(task, _first(task) if at is None else at) for task, at in found]
        self._next = min((at for _, at in looks), default=None)
        return looks

    async def _look_at(self, task: Task) -> None:
        session, command = SessionId(task.group), condition_of(task)
        looked = await self._look(command, await self._session_of(session), _LOOK_FOR)
        if not looked.trouble:
            met = ConditionMet(session=session, task=task.id, command=command)
            await self._tasks.begin_now(task.id, met)
            self._wake()
            return
        problem = []
        if why := _why_not_looked(looked):
            text = f"The condition cannot be looked at: {why}"
            hint = f"Stop it with: pcc stop {session} {task.id}, and say it again"
            problem = [ProblemNoticed(session=session, task=task.id, text=text, hint=hint)]
        await self._tasks.look_again(task.id, _after(task, self._clock.now()), *problem)


def _why_not_looked(looked: Looked) -> str:
    """What keeps it from ever holding; empty: it just does not hold."""
    if looked.trouble in _NO_COMMAND:
        return looked.last_line or looked.trouble
    return "" if looked.trouble.startswith(("exit code ", "signal ")) else looked.trouble


def _first(task: Task) -> float:
    """At once, or at the first time of its rule."""
    return _after(task, task.created_at) if task.payload.get("every") else task.created_at


def _after(task: Task, now: float) -> float:
    every = str(task.payload.get("every", ""))
    try:
        return parse_every(every)(now) if every else now + _LOOK_EVERY
    except (PerpetualError, ValueError, OverflowError, OSError):  # a rule of a newer version
        return now + _LOOK_EVERY
