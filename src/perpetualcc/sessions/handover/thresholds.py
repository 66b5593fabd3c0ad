"""When a handover is due: by tokens, by time, or by the share of the window that is used."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.sessions import Perpetual

BLOCKED = 25_000
"""
Tokens below the window's end from which on Claude Code, left without auto-compact, refuses to go
on ("Prompt is too long"). Measured on 2.1.330: at 178,000 of 200,000, at 980,000 of 1,000,000.
"""
_LEAST_TOKENS = 15_000
"""What every conversation begins with (`estimate.INSTRUCTIONS`), and a task of some words."""
_MOST_TOKENS = 100_000_000
_MOST_MINUTES = 60.0 * 24 * 365


class Level(StrEnum):
    """How near the end of an iteration is (seed 001)."""

    NORMAL = "NORMAL"
    WARNING = "WARNING"
    """Finish the current unit of work, then hand over."""
    CRITICAL = "CRITICAL"
    """The handover is made now, with or without Claude."""

    @property
    def rank(self) -> int:
        """0 for NORMAL to 2 for CRITICAL."""
        return ("NORMAL", "WARNING", "CRITICAL").index(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverSettings:
    """`[handover]`: when a session moves to a fresh conversation, before its context is full."""

    enabled: bool = True
    """false: ordinary sessions are left to Claude Code's own compaction."""
    warn_share: float = 0.8
    """Share of the context window from which on any session is told to hand over."""
    hard_share: float = 0.9
    """Share of the context window at which it is handed over without asking."""
    warn_tokens: int = 90_000
    """A perpetual session is told to hand over from here on (tokens of context)."""
    hard_tokens: int = 120_000
    """A perpetual session is handed over here, without asking."""
    warn_minutes: float = 18.0
    """The same by time: minutes that an iteration has worked."""
    hard_minutes: float = 25.0
    """The same by time, without asking."""

    def __post_init__(self) -> None:
        """Raises: PerpetualError when the numbers cannot be meant."""
        for unit, most in (("tokens", _MOST_TOKENS), ("minutes", _MOST_MINUTES)):
            warn, hard = getattr(self, f"warn_{unit}"), getattr(self, f"hard_{unit}")
            below = f"pcc config set handover.warn_{unit} {min(warn, type(warn)(hard * 3 / 4))}"
            more = "pcc config set handover.hard_tokens 120000"
            _check_pair(unit, warn, hard, most, written="handover.{}_{}", below=below, more=more)
        if not 0 < self.warn_share < self.hard_share <= 1:
            share = min(0.8, round(self.hard_share * 8 / 9, 2))
            fits = f"warn_share {share:g}" if 0 < self.hard_share <= 1 else "hard_share 0.9"
            raise PerpetualError(
                f"handover.warn_share ({self.warn_share:g}) must be below handover.hard_share"
                f" ({self.hard_share:g}), both between 0 and 1",
                hint=f"pcc config set handover.{fits}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits of one iteration. Time limits are None where time does not count."""

    warn_tokens: int
    hard_tokens: int
    warn_minutes: float | None = None
    hard_minutes: float | None = None


@lru_cache(maxsize=64)
def thresholds_for(
    perpetual: Perpetual | None, settings: HandoverSettings, window: int
) -> Thresholds:
    """The lower of what was asked for and what the context window allows."""
    hard = min(int(window * settings.hard_share), max(window - BLOCKED, window // 2))
    warn = min(int(window * settings.warn_share), hard * 9 // 10)
    if perpetual is None:
        return Thresholds(warn_tokens=warn, hard_tokens=hard)
    return Thresholds(
        warn_tokens=min(perpetual.warn_tokens, warn),
        hard_tokens=min(perpetual.hard_tokens, hard),
        warn_minutes=perpetual.warn_minutes,
        hard_minutes=perpetual.hard_minutes,
    )


def level_of(limits: Thresholds, tokens: int, minutes: float) -> tuple[Level, str]:
    """The level, and in words which limit it was; the worst one counts."""
    measured = (
        (_level(tokens, limits.warn_tokens, limits.hard_tokens), f"{tokens:,} tokens of context"),
        (_level(minutes, limits.warn_minutes, limits.hard_minutes), f"{minutes:.4g} minutes"),
    )
    level, reason = max(measured, key=lambda one: one[0].rank)
    return level, "" if level is Level.NORMAL else reason


def token_level(limits: Thresholds, tokens: int) -> Level:
    return _level(tokens, limits.warn_tokens, limits.hard_tokens)


def time_level(limits: Thresholds, minutes: float) -> Level:
    return _level(minutes, limits.warn_minutes, limits.hard_minutes)


def _level(used: float, warn: float | None, hard: float | None) -> Level:
    if hard is not None and used >= hard:
        return Level.CRITICAL
    return Level.WARNING if warn is not None and used >= warn else Level.NORMAL


def perpetual_from(asked: Mapping[str, Any], settings: HandoverSettings) -> Perpetual:
    """
    What was asked for, with the configuration's numbers for the rest.

    A warning that was not asked for moves below a hard limit that was, and the other way round:
    `--hard-tokens 50000` alone is no contradiction.

    Raises:
        PerpetualError: a number is negative, absurd, or contradicts another one, or no conversation
            can keep it.
    """
    unknown = set(asked) - {one.name for one in fields(Perpetual)}
    if unknown:
        raise PerpetualError(f"A perpetual session has no setting {min(unknown)!r}")
    given = {name: value for name, value in asked.items() if value is not None}
    chosen = {
        name: getattr(settings, name)
        for name in ("warn_tokens", "hard_tokens", "warn_minutes", "hard_minutes")
    } | given
    for unit in ("tokens", "minutes"):
        warn, hard = f"warn_{unit}", f"hard_{unit}"
        if hard in given and warn not in given:
            chosen[warn] = min(chosen[warn], type(chosen[warn])(given[hard] * 3 / 4))
        if warn in given and hard not in given:
            chosen[hard] = max(chosen[hard], type(chosen[hard])(given[warn] * 4 / 3))
    perpetual = Perpetual(**chosen)
    _check_numbers(perpetual)
    return perpetual


def _check_numbers(perpetual: Perpetual) -> None:
    for unit, most in (("tokens", _MOST_TOKENS), ("minutes", _MOST_MINUTES)):
        warn, hard = getattr(perpetual, f"warn_{unit}"), getattr(perpetual, f"hard_{unit}")
        below = f"Choose --warn-{unit} below --hard-{unit}"
        more = "Give more: --hard-tokens 40000"
        _check_pair(unit, warn, hard, most, written="--{}-{}", below=below, more=more)
    for name in ("max_iterations", "resume_from"):
        number = getattr(perpetual, name)
        if number is not None and not 1 <= number <= 1_000_000:
            flag = name.replace("_", "-")
            raise PerpetualError(
                f"--{flag} {number} makes no sense", hint="Give a number from 1 on"
            )


def _check_pair(
    unit: str, warn: float, hard: float, most: float, *, written: str, below: str, more: str
) -> None:
    """
    `written`: how the number is called where it was given; `below`: what to do about a pair,
    `more`: about a limit that no conversation can keep.
    """
    for name, number in (("hard", hard), ("warn", warn)):
        if not 0 < number <= most:  # also refuses NaN
            raise PerpetualError(
                f"{written.format(name, unit)} {number:g} makes no sense",
                hint=f"Give a number above 0 and up to {most:,.0f}",
            )
    if unit == "tokens" and hard < _LEAST_TOKENS:
        raise PerpetualError(
            f"A hard limit of {hard:,} tokens is below what every conversation begins with"
            f" ({_LEAST_TOKENS:,})",
            hint=more,
        )
    if warn >= hard:
        raise PerpetualError(
            f"The warning at {warn:g} {unit} would come after the hard limit at {hard:g}",
            hint=below,
        )
