"""
One budget over all sessions: what may be spent a day, on a task and in a run.

A run reserves what it may use before it starts, in the same transaction that looks at what is
left, so that many starting together cannot spend it twice. Tokens are fresh ones: input that
was not read from the cache, what was written to the cache, and output.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import WindowUse

SLICE_TOKENS = 50_000
"""A run reserves this much at a time and more when it is used up, so that others find room."""
SLICE_USD = 1.0
"""Some replies: with $5 a day five sessions find room, where one that only waits held it all."""
BUDGET = "the budget"
"""Every reason of a refusal begins so: the session's detail tells what it waits for."""
_RESUMED = "limits.resume_tokens"
"""The one that is a setting, and no person's who resumes."""
_LEAST = 0.01
"""A share of a limit; with less left nothing starts: one reply would exceed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """What `pcc budget set` changes. 0 means no such limit."""

    tokens_per_day: int = 0
    """Tokens of everything together, from local midnight on."""
    unattended_tokens_per_day: int = 1_000_000
    """Tokens of work that no person started just now (seed 003, NFR-1)."""
    usd_per_day: float = 0.0
    """Money of everything together, from local midnight on, as Claude Code counts it."""
    task_tokens: int = 100_000
    """Tokens of one unattended task (seed 003)."""
    task_minutes: float = 30.0
    """Minutes that one unattended task may work (seed 003)."""
    run_tokens: int = 0
    """Tokens of one Claude Code process."""
    run_usd: float = 0.0
    """Money of one Claude Code process."""
    weekly_share: float = 0.0
    """Share of the subscription's weekly window that unattended work leaves to the person."""


class BudgetScope(StrEnum):
    """Which budget is meant, and what happens when it is used up."""

    DAY = "day"
    """Waits for the next day, or for a person."""
    TASK = "task"
    """The task is parked."""
    RUN = "run"
    """The task is parked; a person may let it go on in another run."""
    WEEK = "week"
    """Waits for the weekly window to reset, or for a person."""
    RESERVED = "reserved"
    """Others that run now hold what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What has been used, and is held by others that run, as far as it matters to one task."""

    day_tokens: int = 0
    day_usd: float = 0.0
    unattended_tokens: int = 0
    task_tokens: int = 0
    task_seconds: float = 0.0
    run_tokens: int = 0
    run_usd: float = 0.0
    held_tokens: int = 0
    """Reserved by other runs and not used yet."""
    held_unattended: int = 0
    held_usd: float = 0.0
    week_used: float = 0.0
    """Share of the weekly window, as Claude Code last told it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRequest:
    """Who wants to spend."""

    session: SessionId
    task: TaskId
    is_unattended: bool
    resume_tokens: int = 0
    """Cap of a run that resumes by itself (`limits.resume_tokens`); 0: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a run may use until it asks again. None: as much as it likes."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Nothing is left."""

    scope: BudgetScope
    limit: str
    """The field of `BudgetLimits`."""
    used: float
    allowed: float

    @property
    def reason(self) -> str:
        """For a person."""
        if self.scope is BudgetScope.RESERVED:
            return f"{BUDGET} {self.limit} is all set aside for the runs at work"
        return f"{BUDGET} {self.limit} is used up: {self.used:,.6g} of {self.allowed:,.6g}"

    def packet(self, session: str) -> dict[str, Any]:
        """What a person is told of a task that it stopped, and how to go on."""
        raised = f"Raise it with: pcc budget set {self.limit} …; the task then goes on"
        if self.limit == _RESUMED:
            raised = f"Go on without it: pcc resume {session}; or: pcc config set {self.limit} …"
        return {
            "state": self.reason,
            "analysis": f"budget {self.limit}",
            "options": [raised, "Leave it: what was done is kept, and so is the conversation"],
            "hint": raised,
        }


def decide_grant(limits: BudgetLimits, spent: Spent, request: BudgetRequest) -> Grant | Refusal:
    """What a run may reserve now, next to what it has used already. Pure."""
    tokens, money = _headrooms(limits, spent, request)
    for room in (*tokens, *money):
        if refusal := room.refusal():
            return refusal
    seconds = None
    if request.is_unattended and limits.task_minutes:
        allowed = limits.task_minutes * 60
        if spent.task_seconds >= allowed:
            return Refusal(
                scope=BudgetScope.TASK,
                limit="task_minutes",
                used=spent.task_seconds / 60,
                allowed=limits.task_minutes,
            )
        seconds = allowed - spent.task_seconds
    leaves_a_share = request.is_unattended and limits.weekly_share > 0
    if leaves_a_share and spent.week_used >= 1 - limits.weekly_share:
        return Refusal(
            scope=BudgetScope.WEEK,
            limit="weekly_share",
            used=spent.week_used,
            allowed=1 - limits.weekly_share,
        )
    return Grant(
        # The week is looked at again after a slice, whatever else is bounded.
        tokens=(
            int(min([SLICE_TOKENS, *(room.left for room in tokens)]))
            if tokens or leaves_a_share
            else None
        ),
        usd=min(SLICE_USD, *(room.left for room in money)) if money else None,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class _Room:
    scope: BudgetScope
    limit: str
    allowed: float
    used: float
    held: float = 0.0

    @property
    def left(self) -> float:
        return self.allowed - self.used - self.held

    def refusal(self) -> Refusal | None:
        if self.left >= max(self.allowed * _LEAST, 1e-6):
            return None
        free_without_others = self.allowed - self.used >= max(self.allowed * _LEAST, 1e-6)
        return Refusal(
            scope=BudgetScope.RESERVED if free_without_others else self.scope,
            limit=self.limit,
            used=self.used,
            allowed=self.allowed,
        )


def _headrooms(
    limits: BudgetLimits, spent: Spent, request: BudgetRequest
) -> tuple[list[_Room], list[_Room]]:
    day, task, run = BudgetScope.DAY, BudgetScope.TASK, BudgetScope.RUN
    cap = request.resume_tokens
    tokens = [
        _Room(day, "tokens_per_day", limits.tokens_per_day, spent.day_tokens, spent.held_tokens),
        _Room(run, "run_tokens", limits.run_tokens, spent.run_tokens),
        _Room(run, _RESUMED, cap, spent.run_tokens),
    ]
    if request.is_unattended:
        allowed = limits.unattended_tokens_per_day
        tokens += [
            _Room(
                day,
                "unattended_tokens_per_day",
                allowed,
                spent.unattended_tokens,
                spent.held_unattended,
            ),
            _Room(task, "task_tokens", limits.task_tokens, spent.task_tokens),
        ]
    money = [
        _Room(day, "usd_per_day", limits.usd_per_day, spent.day_usd, spent.held_usd),
        _Room(run, "run_usd", limits.run_usd, spent.run_usd),
    ]
    return [room for room in tokens if room.allowed], [room for room in money if room.allowed]


_ROUNDING = 0.001
"""What 2.3M may be off by as a fraction of a token."""


def with_limit(limits: BudgetLimits, name: str, value: float) -> BudgetLimits:
    """
    The limits with one changed.

    Raises:
        PerpetualError: no such limit, or a number that makes no sense.
    """
    known = {one.name: one.type for one in dataclasses.fields(BudgetLimits)}
    if name not in known:
        raise PerpetualError(f"No budget is called {name!r}", hint=f"Budgets: {', '.join(known)}")
    if not 0 <= value < 1e15:
        raise PerpetualError(
            f"{value:g} is no budget",
            hint=f"A positive number, or 0 for none: pcc budget set {name} 0",
        )
    if name == "weekly_share" and value >= 1:
        raise PerpetualError(
            f"{value:g} would leave nothing: a share is between 0 and 1",
            hint="pcc budget set weekly_share 0.3",
        )
    kind: Any = type(getattr(limits, name))
    if kind is int and abs(value - round(value)) > _ROUNDING:
        raise PerpetualError(
            f"{value:g} is no number of tokens",
            hint=f"In thousands or millions: pcc budget set {name} {value:g}M",
        )
    return dataclasses.replace(limits, **{name: kind(round(value) if kind is int else value)})


def day_of(now: float) -> str:
    """The local day that a moment belongs to, such as `2026-11-21`."""
    return datetime.fromtimestamp(now).date().isoformat()  # noqa: DTZ006  # a person's day


def next_day(now: float) -> float:
    """Local midnight, in UTC epoch seconds."""
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ006  # same
    return (today + timedelta(days=1)).timestamp()


class BudgetStore(Protocol):
    """Where limits and spending are kept. Each method is one transaction."""

    async def limits(self, now: float) -> BudgetLimits:
        """What counts at this moment, a raise for the day included."""
        ...

    async def set_limit(self, name: str, value: float) -> BudgetLimits:
        """Raises: PerpetualError."""
        ...

    async def reserve(self, request: BudgetRequest, now: float) -> Grant | Refusal:
        """Look and reserve at once; the task's earlier reservation, if any, is given back."""
        ...

    async def spend(self, task: TaskId, tokens: int, usd: float, now: float) -> Grant | Refusal:
        """
        Add to what the task's run has used, on the day that it is now, and extend its reservation
        when it is used up.
        """
        ...

    def spend_soon(self, task: TaskId, tokens: int, usd: float, now: float) -> None:
        """Add to what the task's run has used of what it reserved, before anything else is."""
        ...

    def spend_beside(
        self, session: SessionId, task: TaskId, tokens: int, usd: float, now: float
    ) -> None:
        """
        Add what was used for a task beside its runs, before anything else is. What its run at work
        has reserved becomes less by it.
        """
        ...

    async def close(self, task: TaskId, tokens: int, usd: float, now: float) -> None:
        """
        The run is over and has used so much in all; what it held is given back. What came since
        midnight is the new day's, the rest stays with the days before.
        """
        ...

    def saw_window(self, use: WindowUse) -> None:
        """How much of a subscription's window is used, as Claude Code tells it; soon on file."""
        ...

    async def windows(self, now: float) -> Sequence[WindowUse]:
        """What is known of those that have not reset since."""
        ...

    async def spent(self, now: float) -> Spent:
        """The day so far."""
        ...

    async def week_resets_at(self) -> float | None: ...
