"""What is old goes when the engine begins, whatever one of its keepers says."""

import asyncio
from contextlib import suppress

from perpetualcc.daemon import retention


class Keeper:
    """Of something that is kept, or that cannot be let go."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.asked = 0
        self._problem = problem

    async def forget_old(self) -> None:
        self.asked += 1
        if self._problem:
            raise self._problem


def test_one_that_cannot_forget_hinders_no_other_and_is_asked_again(monkeypatch):
    naps = []

    async def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            raise asyncio.CancelledError

    monkeypatch.setattr(retention.asyncio, "sleep", nap)
    locked, other = Keeper(OSError("locked")), Keeper()

    with suppress(asyncio.CancelledError):
        asyncio.run(retention.every_day(locked, other))

    assert (locked.asked, other.asked) == (2, 2)
    assert naps == [86_400, 86_400]
