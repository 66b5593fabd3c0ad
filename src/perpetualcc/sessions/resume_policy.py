"""
When, and whether, a session goes on after a limit. Pure: a limit in, a plan out.

A reset that nobody told is waited for with growing patience; each try is the task's own work,
never a prompt that only asks whether the limit is over.
"""

from dataclasses import dataclass
from datetime import timedelta

from perpetualcc.domain.hours import end_of_quiet
from perpetualcc.domain.limits import IN_VAIN, LimitWindow, RateLimitInfo
from perpetualcc.sessions.settings import LimitSettings

PATIENCE = tuple(timedelta(minutes=n) for n in (1, 5, 15, 30, 60))
"""Waits after the first, second, … limit in a row whose reset is unknown or past; the last one
for all that follow. A key's limits refill within a minute; a subscription's are checked hourly."""
BACK_OFF = tuple(timedelta(seconds=n) for n in (15, 30, 60, 120, 300, 600))
"""The same for a server that is overloaded."""
_LONG = 10
"""Such waits in a row: an hour of them, and what Claude Code tried meanwhile."""
_EXACT_MARGIN = timedelta(seconds=1)
"""Headers are rounded to the second."""
_TEXT_MARGIN = timedelta(minutes=1)
"""Texts are rounded to the minute, or to the hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlan:
    """What happens after a limit."""

    due: float
    """UTC epoch seconds: not before."""
    asks: bool = False
    """A person must agree first."""
    model: str = ""
    """Go on with this model instead of waiting."""
    reason: str = ""
    """Why then and not sooner, when it is more than the reset."""


def plan_resume(
    info: RateLimitInfo,
    settings: LimitSettings,
    *,
    now: float,
    in_a_row: int,
    model: str = "",
    asks: bool = False,
) -> ResumePlan:
    """
    The plan for a session whose run was stopped by a limit.

    `in_a_row` counts the limits since the task last got anywhere, this one included. `model` is
    what the run used. `asks`: the person wants to be asked (`sessions.auto_resume` is off).
    """
    fallback = settings.fallback_model
    if info.window is LimitWindow.MODEL and fallback and fallback not in {model, info.model}:
        return ResumePlan(due=now, model=fallback, reason=f"goes on with {fallback}")
    due = earliest(info, now=now, in_a_row=in_a_row)
    if info.window.is_a_hiccup:  # what worked goes on working, at any hour
        return ResumePlan(due=due, reason=IN_VAIN if in_a_row == _LONG else "")
    is_expensive = any(name.lower() in model.lower() for name in settings.ask_for_models)
    asks = asks or is_expensive
    if (after := end_of_quiet(due, settings.quiet)) is not None:
        return ResumePlan(due=after, asks=asks, reason="after the quiet hours")
    return ResumePlan(due=due, asks=asks)


def earliest(info: RateLimitInfo, *, now: float, in_a_row: int) -> float:
    """The first moment at which going on makes sense, in UTC epoch seconds."""
    if info.window.is_a_hiccup and info.resets_at is None:
        return now + _step(BACK_OFF, in_a_row)
    if info.resets_at is None or info.resets_at <= now:
        return now + _step(PATIENCE, in_a_row)
    margin = _EXACT_MARGIN if info.is_exact else _TEXT_MARGIN
    return info.resets_at + margin.total_seconds()


def _step(steps: tuple[timedelta, ...], number: int) -> float:
    return steps[min(max(number, 1), len(steps)) - 1].total_seconds()
