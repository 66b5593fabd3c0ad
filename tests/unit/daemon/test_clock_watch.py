"""The wall clock against the steady one."""

import asyncio
import time
from datetime import timedelta

import pytest

from perpetualcc.daemon.clock_watch import watch_clock
from perpetualcc.domain.errors import PerpetualError


class Leaping:
    """A wall clock that somebody sets."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead


@pytest.mark.parametrize(("by", "woken"), [(3600.0, 1), (-3600.0, 1), (0.2, 0)])
def test_a_leap_wakes_once_and_a_correction_does_not(by, woken):
    clock, calls = Leaping(), []

    async def leapt(seconds: float) -> None:
        calls.append(round(seconds))
        raise PerpetualError("the disk is full")

    async def leap() -> None:
        async with asyncio.TaskGroup() as group:
            often = timedelta(milliseconds=10)
            watching = group.create_task(watch_clock(clock, leapt, every=often))
            await asyncio.sleep(0.05)
            clock.ahead = by
            await asyncio.sleep(0.1)
            watching.cancel()

    asyncio.run(leap())

    assert len(calls) == woken


def test_another_time_zone_is_taken_over(monkeypatch):
    async def never(_seconds: float) -> None:
        raise AssertionError

    async def travel() -> None:
        async with asyncio.timeout(0.1):
            await watch_clock(Leaping(), never, every=timedelta(milliseconds=10))

    with monkeypatch.context() as before:
        before.setenv("TZ", "Asia/Tokyo")
        with pytest.raises(TimeoutError):
            asyncio.run(travel())
        assert time.localtime(0).tm_hour == 9
    time.tzset()
