"""`[sessions]`, `[limits]` and `[load]` of the configuration (seed 000)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.hours import parse_hours
from perpetualcc.domain.tasks import Lane

_LONGEST_STAGGER = 3600
"""Seconds: more would look as if nothing ever went on."""


_CENTURY = 36_500
"""Days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How many sessions work, and how they go on."""

    max_concurrent: int = 5
    """Sessions that work at the same time, 1 or more; the others wait for a place."""
    unreviewed: int = 0
    """Results in worktrees of one repository that may wait for your review, those at work counted,
    before no other begins in a new worktree; 0: any number."""
    auto_resume: bool = True
    """Go on by itself when a usage limit resets; otherwise a person is asked first."""
    checkpoint_retention_days: int = 7
    """Older checkpoints are removed; the newest of a session stays."""
    history_days: int = 90
    """Events of finished work, receipts of notifications and used signals are removed when they are
    older; what was decided or asked stays. 0: nothing is removed."""

    snapshots: bool = True
    """Before each task, keep the files of a project that is in a git repository as they are, for
    `pcc diff` and `pcc undo`; they stay for `history_days` after it."""

    def __post_init__(self) -> None:
        if self.max_concurrent < 1:
            raise PerpetualError(
                f"'sessions.max_concurrent' is {self.max_concurrent}; nothing would ever start",
                hint="pcc config set sessions.max_concurrent 5",
            )
        for name, days, usual in (
            ("history_days", self.history_days, 90),
            ("checkpoint_retention_days", self.checkpoint_retention_days, 7),
        ):
            if not 0 <= days <= _CENTURY:
                raise PerpetualError(
                    f"'sessions.{name}' must be 0 to {_CENTURY}, not {days}",
                    hint=f"pcc config set sessions.{name} {usual}",
                )

    @property
    def lanes(self) -> Mapping[Lane, int]:
        """How many tasks of each kind run at the same time."""
        return {
            Lane.INTERACTIVE: self.max_concurrent,
            Lane.GOAL: self.max_concurrent,
            Lane.CRON: 2,  # seed 003, NFR-1
            Lane.MAINTENANCE: 1,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """`[limits]`: what happens when a usage limit is near, reached and over."""

    warn_at: float = 0.85
    """Share of a window or budget from which on a person is warned, 0 to 1."""
    fallback_model: str = ""
    """Model that goes on when the limit is one model's own; empty: wait."""
    overage: bool = False
    """Whether paid credits may be used when a subscription's window is used up."""
    quiet_hours: str = ""
    """After a limit nothing resumes by itself between these local times, such as `23:00-07:00`."""
    ask_for_models: tuple[str, ...] = ()
    """Sessions of models whose names contain one of these ask before they resume."""
    resume_tokens: int = 0
    """A run that resumes by itself may use at most so many tokens; 0: no such cap."""
    stagger_seconds: float = 3.0
    """Sessions that waited for the same window start this far apart."""

    def __post_init__(self) -> None:
        if not 0 < self.warn_at <= 1:
            raise PerpetualError(
                f"'limits.warn_at' is {self.warn_at:g}; it is a share between 0 and 1",
                hint="pcc config set limits.warn_at 0.85",
            )
        if self.resume_tokens < 0:
            raise PerpetualError(
                "'limits.resume_tokens' cannot be negative",
                hint="pcc config set limits.resume_tokens 0",
            )
        if not 0 <= self.stagger_seconds <= _LONGEST_STAGGER:
            raise PerpetualError(
                f"'limits.stagger_seconds' is {self.stagger_seconds:g}; it is between 0 and "
                f"{_LONGEST_STAGGER}",
                hint="pcc config set limits.stagger_seconds 3",
            )
        if not all(name.strip() for name in self.ask_for_models):
            raise PerpetualError(
                "An empty name in 'limits.ask_for_models' is part of every model's",
                hint="pcc config set limits.ask_for_models opus",
            )
        parse_hours(self.quiet_hours)

    @property
    def quiet(self) -> tuple[time, time] | None:
        """The quiet hours; None when there are none."""
        return parse_hours(self.quiet_hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """`[load]`: when unattended work waits for the machine, and when a run takes too much of it."""

    max_cpu: float = 0.8
    """Share of all processors, over five minutes, above which nothing new starts, 0 to 1; 0: never
    mind."""
    max_memory: float = 0.9
    """Share of the memory above which nothing new starts, 0 to 1; 0: never mind."""
    run_memory: float = 0.5
    """Share of the memory that a run may hold, Claude Code and all that it started together, 0 to
    1; one that holds more is ended and goes on in the same conversation. 0: never mind."""
    least_memory: float = 0.04
    """Share of the memory that must stay free, 0 to 1: when less is left, the run that holds the
    most is ended so, if it holds twice as much as this. 0: never mind."""

    def __post_init__(self) -> None:
        for name, share, usual in (
            ("max_cpu", self.max_cpu, 0.8),
            ("max_memory", self.max_memory, 0.9),
            ("run_memory", self.run_memory, 0.5),
            ("least_memory", self.least_memory, 0.04),
        ):
            if not 0 <= share <= 1:
                raise PerpetualError(
                    f"'load.{name}' is {share:g}; it is a share from 0 (never mind) to 1",
                    hint=f"pcc config set load.{name} {usual:g}",
                )
