"""Hours in which nothing ran although there was work that would have, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from perpetualcc.domain.ids import SessionId

SHORTEST = timedelta(minutes=5).total_seconds()
"""What is shorter is no news: a restart, an upgrade, a lid that was closed for a moment."""


class OutageCause(StrEnum):
    """Why nothing ran."""

    SLEPT = "slept"
    """The machine slept: measured by its clocks."""
    STOOD_STILL = "stood still"
    """The machine or the daemon was halted from outside, or the clock was set."""
    OFF = "off"
    """The machine was switched off, or lost its power."""
    STOPPED = "stopped"
    """A person stopped the daemon."""
    ENDED = "ended"
    """The daemon was told to end, and nobody started it: a logout, a signal."""
    DIED = "died"
    """The daemon ended without a word."""
    GAVE_UP = "gave up"
    """It crashed again and again."""
    LIMIT = "limit"
    """All that was left to do waited for a usage limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """One such stretch of time, in UTC epoch seconds."""

    began: float
    ended: float
    cause: OutageCause
    detail: str = ""
    sessions: Sequence[SessionId] = ()
    """Those that had something to do; none is told where it is a person's own question."""

    @property
    def seconds(self) -> float:
        return self.ended - self.began


class Outages(Protocol):
    """Where they are kept."""

    async def since(
        self, since: float, now: float, session: SessionId | None = None
    ) -> Sequence[Outage]:
        """Those that ended later than that, oldest first; waits for a limit among them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSign:
    """What is known of the last moment in which the daemon lived."""

    at: float
    """UTC epoch seconds."""
    boot: str = ""
    """Of the machine: another one after each start."""
    slept: float = 0.0
    """Seconds that the machine had slept since its start."""
    left: str = ""
    """How an engine took leave: a cause, `asleep`, or nothing when it ended without a word."""
    due: float | None = None
    """When it wanted to be back; None: only for a visitor."""
    detail: str = ""


ASLEEP = "asleep"
"""An engine left because nothing was to be done."""


def missed_since(
    sign: LastSign, *, now: float, boot: str, slept: float, is_stopped: bool
) -> Outage | None:
    """
    What is missing between the last sign of life and now, whether or not there was work.

    `is_stopped`: a person stopped the daemon, by force perhaps, and it could leave no word.
    """
    wanted = (now if sign.due is None else sign.due) if sign.left == ASLEEP else sign.at
    began = max(sign.at, wanted)
    if now - began < SHORTEST:
        return None
    known = {one.value: one for one in (OutageCause.GAVE_UP, OutageCause.ENDED)}
    if is_stopped or sign.left == OutageCause.STOPPED:
        cause = OutageCause.STOPPED
    elif boot != sign.boot:
        cause = OutageCause.OFF
    elif slept - sign.slept >= (now - began) / 2:
        cause = OutageCause.SLEPT
    else:
        cause = known.get(sign.left, OutageCause.DIED)
    return Outage(began=began, ended=now, cause=cause, detail=sign.detail)


def stood_still(
    *, wall: float, steady: float, slept: float, expected: float, now: float
) -> Outage | None:
    """
    Of an engine that lives on: what two looks `expected` seconds apart miss, by three clocks.

    `steady` stops while the machine sleeps, `slept` grows only then, `wall` can be set.
    """
    missing = max(wall, steady + slept) - expected
    if missing < SHORTEST:
        return None
    cause = OutageCause.SLEPT if slept >= missing / 2 else OutageCause.STOOD_STILL
    return Outage(began=now - missing, ended=now, cause=cause)


def joined(found: Iterable[Outage]) -> list[Outage]:
    """Oldest first; what was interrupted only for moments by somebody who looked is one."""
    result: list[Outage] = []
    for one in sorted(found, key=lambda outage: outage.began):
        before = result[-1] if result else None
        if before and before.cause is one.cause and one.began - before.ended < SHORTEST:
            sessions = tuple(dict.fromkeys((*before.sessions, *one.sessions)))
            ended = max(before.ended, one.ended)
            result[-1] = replace(before, ended=ended, sessions=sessions)
        else:
            result.append(one)
    return result


Stretch = tuple[float, float]


def without(stretch: Stretch, taken: Sequence[Stretch]) -> Iterator[Stretch]:
    """What is left of a stretch of time; `taken` by their beginnings."""
    began, ended = stretch
    for start, end in taken:
        if end <= began:
            continue
        if start >= ended:
            break
        if start > began:
            yield began, start
        began = max(began, end)
    if began < ended:
        yield began, ended
