"""Notices hours in which nothing ran: those before this engine, and those that it lived through."""

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from datetime import timedelta

from perpetualcc.daemon import clocks
from perpetualcc.daemon.life import leave_sign, read_sign, renew_sign
from perpetualcc.daemon.state import is_work_stopped
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.sessions.outages import ASLEEP, Outage, OutageCause, missed_since, stood_still
from perpetualcc.store.outages import SqliteOutages

log = logging.getLogger(__name__)

_LOOKS = timedelta(seconds=10)


@dataclass(slots=True, kw_only=True)
class OutageWatch:
    """One engine's."""

    locations: Locations
    outages: SqliteOutages
    clock: Clock
    was_told_to_stop: bool = False

    async def come_back(self) -> None:
        """Before anything of the tasks changes. Twice is once: what is on record is no news."""
        sign = read_sign(self.locations)
        if sign is not None:
            halted = self.locations.halted.exists()
            missed = missed_since(
                sign,
                now=time.time(),
                boot=clocks.boot(),
                slept=clocks.slept(),
                is_stopped=halted or is_work_stopped(self.locations),
            )
            await self._add(missed)
        leave_sign(self.locations)

    async def run(self, every: timedelta = _LOOKS) -> None:
        """Live, and look at the clocks; never ends by itself."""
        before = _now()
        while True:
            await asyncio.sleep(every.total_seconds())
            now = _now()
            wall, steady, slept = (after - was for after, was in zip(now, before, strict=True))
            before, expected = now, every.total_seconds()
            if found := stood_still(
                wall=wall, steady=steady, slept=slept, expected=expected, now=now[0]
            ):
                try:
                    await self._add(found)
                except PerpetualError:
                    log.exception("hours without work cannot be written down")
                leave_sign(self.locations)
            renew_sign(self.locations)

    def leave(self, due: float | None) -> None:
        """Say how this engine ends, for the next one. `due` is on the machine's clock."""
        if is_work_stopped(self.locations):
            leave_sign(self.locations, OutageCause.STOPPED)
        elif self.was_told_to_stop:
            leave_sign(self.locations, OutageCause.ENDED)
        else:
            leave_sign(self.locations, ASLEEP, due=due)

    async def _add(self, missed: Outage | None) -> None:
        if missed is None:
            return
        shift = self.clock.now() - time.time()
        missed = replace(missed, began=missed.began + shift, ended=missed.ended + shift)
        if found := await self.outages.add(missed):
            log.info("Nothing ran for %.0f minutes: %s", found.seconds / 60, found.cause)


def _now() -> tuple[float, float, float]:
    return time.time(), time.monotonic(), clocks.slept()
