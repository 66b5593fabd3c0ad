"""When nobody reacts: people are told again, and at the deadline the stated default is taken."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Protocol

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.escalations import Escalation


class Calendar(Protocol):
    """What is due among the requests that wait."""

    async def next_due(self) -> float | None:
        """UTC epoch seconds of the next reminder or deadline; None: there is none."""
        ...

    async def due(self) -> list[Escalation]:
        """Requests whose reminder or deadline has come."""
        ...

    async def remind(self, number: int, next_at: float | None) -> None:
        """Write down that people are told again, with its event. Nothing once it is settled."""
        ...


def next_reminder(
    ladder: Sequence[timedelta], raised_at: float, reminders: int, now: float
) -> float | None:
    """
    When people are told the next time, after `reminders` times; None without a ladder.

    Steps that passed while the machine slept are not made up for: one reminder is enough.
    """
    if not ladder:
        return None
    for step in ladder[reminders:]:
        if raised_at + step.total_seconds() > now:
            return raised_at + step.total_seconds()
    return now + ladder[-1].total_seconds()


async def take_steps(
    calendar: Calendar,
    expire: Callable[[Escalation], Awaitable[object]],
    ladder: Sequence[timedelta],
    clock: Clock,
) -> None:
    """Do what is due now. `expire` settles a request with its stated default."""
    for escalation in await calendar.due():
        deadline = escalation.request.deadline
        if deadline is not None and deadline <= clock.now():
            await expire(escalation)
        else:
            following = next_reminder(
                ladder, escalation.raised_at, escalation.reminders + 1, clock.now()
            )
            await calendar.remind(escalation.number, following)
