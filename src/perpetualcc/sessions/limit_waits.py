"""
Sessions that wait for a limit: how they are remembered, and in which order they wake.

A wait is a row and a due time in the ledger. It needs no process and nobody looks at it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.domain.tasks import Task

SIGNAL = "limit:"
"""A task that waits for a limit waits for a signal of this name too: it cuts the wait short."""

_OF_REVIEW = f"{SIGNAL}review:"

WAITS_WITH_OTHERS = "waits with the others for the account's limit"
"""What a person reads of a task that met no limit itself."""

BY_ITSELF = {"by_itself": True}
"""What such a signal carries when no person sent it: something that was waited for came early."""


def signal_of(task: TaskId, fence: int) -> str:
    """The signal that wakes this dispatch's wait before its time."""
    return f"{SIGNAL}{task}:{fence}"


def review_signal_of(task: TaskId, fence: int) -> str:
    """The same, of a wait until a person has looked at what was done before."""
    return f"{_OF_REVIEW}{task}:{fence}"


def is_of_review(signal: str | None) -> bool:
    return (signal or "").startswith(_OF_REVIEW)


def is_of_limit(signal: str | None) -> bool:
    """Whether what is waited for is a limit, of the account's or of a person's, and no answer."""
    return (signal or "").startswith(SIGNAL)


def is_cut_short_by_a_person(task: Task) -> bool:
    """Whether a person let it go on before its time: they know what they do."""
    return is_of_limit(task.signal) and task.answer is not None and not task.answer.get("by_itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWait:
    """One task stopped by one limit."""

    session: SessionId
    task: TaskId
    at: float
    limit: RateLimitInfo
    due: float
    """UTC epoch seconds at which it goes on."""
    fallback: str = ""
    """It goes on with this model until the limit resets."""


class LimitWaits(Protocol):
    """Where waits are remembered, across restarts."""

    async def add(self, wait: LimitWait) -> None: ...

    async def open_of(self, task: TaskId) -> Sequence[LimitWait]:
        """The task's waits since it last got anywhere, oldest first."""
        ...

    async def ahead(self, now: float) -> Sequence[LimitWait]:
        """Every wait that is not over by now, oldest first."""
        ...

    async def over(self, task: TaskId, now: float) -> None:
        """The task got somewhere: its waits are history."""
        ...

    async def set_back(self, now: float) -> None:
        """
        The clock may have been set back: a while whose reset nobody told begins again, and every
        task that waited since "later" than now looks again what it waits for.
        """
        ...

    async def window_open(
        self, window: LimitWindow, now: float, *, since: float, due: float
    ) -> None:
        """
        The account was let through after `since`: nobody new waits for this window, and who waited
        for it since before that goes on at `due`, when that is sooner.
        """
        ...


class WakeUps:
    """
    Lets sessions that waited for the same window start one after the other.

    The dispatcher hands them out by priority when their time has come; here each takes the next
    place in that order, so that a fresh window is not met by everybody at once.
    """

    def __init__(self, stagger: float) -> None:
        self._stagger = stagger
        self._next = 0.0

    async def take_turn(self) -> float:
        """Wait for this session's place; seconds waited."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + self._stagger
        await asyncio.sleep(at - now)
        return at - now
