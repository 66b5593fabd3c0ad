"""Which channels have reached nobody for a while: people hear of nothing, and of that neither."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from perpetualcc.human.notifications.channels import DESKTOP
from perpetualcc.human.notifications.outbox import Notice, NoticeState
from perpetualcc.human.notifications.times import next_try

_AFTER = timedelta(hours=1)
_FEWEST_TRIES = 3
"""One that was away for a moment is nobody's business: it is tried again."""
_FAILED = {NoticeState.QUEUED, NoticeState.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """A channel that failed at every try since then."""

    channel: str
    since: float
    """UTC epoch seconds."""
    tries: int
    problem: str
    """What the newest try failed with."""


def standstills(
    tried: Iterable[Notice], addresses: Sequence[str], first: timedelta, now: float
) -> list[Standstill]:
    """
    Channels that failed for an hour and at three tries or more, with no success since.

    `tried` are notices with a try behind them, in the order of their newest; `addresses` what the
    settings name, as `address_of` gives it; `first` the wait before a second try.
    """
    found: dict[str, Standstill] = {}
    for notice in tried:
        address = address_of(notice.what.channel)
        if notice.state is NoticeState.SENT:
            found.pop(address, None)
        elif notice.state in _FAILED and notice.problem:
            found[address] = _failing(notice, found.get(address), first)
    return [
        one
        for address, one in found.items()
        if address in addresses
        and one.tries >= _FEWEST_TRIES
        and now - one.since >= _AFTER.total_seconds()
    ]


def address_of(channel: str) -> str:
    """What stays the same of a channel's name when the variable of its address is set at last."""
    return "" if channel == DESKTOP else channel.partition(":")[2]


def _failing(notice: Notice, before: Standstill | None, first: timedelta) -> Standstill:
    waits = (next_try(number, first) for number in range(1, notice.attempts))
    began = (notice.started_at or notice.created_at) - sum(waits, timedelta()).total_seconds()
    # It may have waited for the end of the quiet hours, or for an engine.
    began = max(began, notice.created_at)
    return Standstill(
        channel=notice.what.channel,
        since=began if before is None else min(began, before.since),
        tries=notice.attempts + (before.tries if before else 0),
        problem=notice.problem,
    )
