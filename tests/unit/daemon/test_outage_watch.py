"""The last sign of life, and what an engine makes of it."""

import asyncio
import itertools
import os
import time
from datetime import timedelta

import pytest

from perpetualcc.daemon import clocks, life, outage_watch
from perpetualcc.daemon.life import leave_sign, read_sign, renew_sign
from perpetualcc.daemon.outage_watch import OutageWatch
from perpetualcc.daemon.state import note_halt, note_stop
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.sessions.outages import OutageCause

H = 3600.0


class Kept:
    """`SqliteOutages`, that keeps everything."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.found, self.is_full = [], is_full

    async def add(self, missed):
        self.found.append(missed)
        if self.is_full:
            raise PerpetualError("The disk is full")
        return missed


@pytest.fixture
def locations(tmp_path):
    return Locations(data=tmp_path / "data").prepare()


def watch_of(locations, kept) -> OutageWatch:
    return OutageWatch(locations=locations, outages=kept, clock=SystemClock())


def aged(locations, hours: float) -> None:
    at = time.time() - hours * H
    os.utime(locations.alive, (at, at))


def came_back(locations) -> list:
    kept = Kept()
    asyncio.run(watch_of(locations, kept).come_back())
    return kept.found


def test_the_first_engine_of_all_misses_nothing(locations):
    assert came_back(locations) == []
    assert read_sign(locations).left == ""


@pytest.mark.parametrize(
    ("stopped", "told_to_stop", "due", "cause"),
    [
        (True, True, None, OutageCause.STOPPED),
        (True, False, None, OutageCause.STOPPED),  # it was there for a look only
        (False, True, None, OutageCause.ENDED),
        (False, False, 2.0, OutageCause.DIED),
        (False, False, None, None),
    ],
)
def test_how_an_engine_left_says_why_it_was_away(locations, stopped, told_to_stop, due, cause):
    engine = watch_of(locations, Kept())
    if stopped:
        note_stop(locations)
    engine.was_told_to_stop = told_to_stop
    engine.leave(None if due is None else time.time() - due * H)
    aged(locations, 3)

    found = came_back(locations)

    assert [one.cause for one in found] == ([] if cause is None else [cause])
    assert not found or round(found[0].seconds / H, 2) == (due or 3)
    assert came_back(locations) == []


def test_one_that_was_ended_by_force_is_a_persons_doing_and_one_that_died_is_not(locations):
    leave_sign(locations)
    aged(locations, 3)
    [died] = came_back(locations)
    aged(locations, 2)
    note_halt(locations)

    [halted] = came_back(locations)

    assert (died.cause, halted.cause) == (OutageCause.DIED, OutageCause.STOPPED)


def test_another_start_of_the_machine_is_told_apart(locations, monkeypatch):
    leave_sign(locations)
    aged(locations, 3)
    monkeypatch.setattr(clocks, "boot", lambda: "another")

    assert [one.cause for one in came_back(locations)] == [OutageCause.OFF]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"boot": 1, "more": 2}', "[" * 9000, "x" * 20000])
def test_a_damaged_sign_is_none(locations, text):
    locations.alive.write_text(text)

    assert read_sign(locations) is None
    assert came_back(locations) == []


def test_a_sign_that_cannot_be_written_costs_the_news_and_nothing_else(locations):
    locations.alive.mkdir()

    leave_sign(locations)
    renew_sign(locations)

    assert came_back(locations) == []


def test_an_engine_that_slept_with_its_machine_says_so_and_lives_on(locations, monkeypatch):
    hours = itertools.chain([0.0, 0.0, 8 * H], itertools.repeat(8 * H))
    monkeypatch.setattr(outage_watch, "_now", lambda: (slept := next(hours), 0.0, slept))
    kept = Kept(is_full=True)
    leave_sign(locations)
    aged(locations, 3)

    async def scene():
        async with asyncio.timeout(0.5):
            await watch_of(locations, kept).run(timedelta(milliseconds=10))

    with pytest.raises(TimeoutError):
        asyncio.run(scene())

    [slept] = kept.found
    assert slept.cause is OutageCause.SLEPT
    assert time.time() - read_sign(locations).at < H


def test_the_clocks_of_this_machine_tell_something():
    assert clocks.slept() >= 0
    assert clocks.boot() == clocks.boot() != ""


def test_what_gave_up_is_kept_short(locations):
    leave_sign(locations, "gave up", detail="x" * 10_000)

    assert len(read_sign(locations).detail) == life._LONGEST_DETAIL
