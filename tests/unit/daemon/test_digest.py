"""The day's digest: once a day, at its local time, whatever the clock and the engine do."""

import asyncio
import time
from contextlib import asynccontextmanager
from datetime import datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from perpetualcc.daemon.digest import Digest
from perpetualcc.human.notifications.channels import Channel
from perpetualcc.human.notifications.courier import Equipment
from perpetualcc.human.notifications.message import Message
from perpetualcc.human.notifications.outbox import NoticeState
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.store.database import Database
from perpetualcc.store.digests import SqliteDigests
from perpetualcc.store.outbox import SqliteOutbox
from tests.fakes.clock import FakeClock

ZONE = ZoneInfo("Europe/Berlin")
HOUR = 3600.0
CHANNELS = (Channel(name="json:a", url="json://a"), Channel(name="json:b", url="json://b"))


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp()


class Reader:
    """`DayReader`: what it was asked for; a message unless `quiet`."""

    def __init__(self):
        self.asked, self.quiet = [], False

    async def read(self, since, until, kind):
        self.asked.append((since, until))
        text = ("PerpetualCC: 1 task done", "text")
        return None if self.quiet else Message(kind=kind, brief=text, named=text, full=text)


@asynccontextmanager
async def world(path, when: str, *, digest: str = "08:00", channels=CHANNELS):
    clock, reader = FakeClock(at(when)), Reader()
    database = await Database.open(path / "x.db")
    outbox = SqliteOutbox(database, clock)
    settings = NotificationSettings(digest=digest)

    def made():
        """As each engine makes it."""
        return Digest(
            reader=reader,
            digests=SqliteDigests(database, outbox),
            equipment=Equipment(channels=channels, settings=settings, receipts=path),
            clock=clock,
            sent=lambda: None,
        )

    try:
        yield SimpleNamespace(clock=clock, reader=reader, outbox=outbox, made=made)
    finally:
        await database.close()


async def sent(outbox):
    return [(one.what.cause, one.what.channel) for one in reversed(await outbox.list(100))]


async def delivered(outbox, channels=("json:a", "json:b")):
    """All that waits has left through them."""
    for one in await outbox.list(100):
        if one.state is NoticeState.QUEUED and one.what.channel in channels:
            await outbox.end(one.id, NoticeState.SENT)


def test_it_leaves_at_its_time_once_however_often_the_engine_starts(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-28T07:00") as w:
            await w.made().send_if_due()
            before = await sent(w.outbox)
            assert await w.made().next_due() == at("2026-11-28T08:00")
            for hours in (1, 0, 5):
                w.clock.move(hours * HOUR)
                await asyncio.gather(*(w.made().send_if_due() for _ in range(3)))
            return before, await sent(w.outbox), await w.made().next_due()

    before, after, following = asyncio.run(play())

    assert before == []
    assert after == [("digest:2026-11-28", "json:a"), ("digest:2026-11-28", "json:b")]
    assert following == at("2026-11-29T08:00")


def test_a_machine_that_slept_sends_it_when_it_wakes_and_a_day_that_is_over_is_left(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-28T08:00") as w:
            await w.made().send_if_due()
            await delivered(w.outbox)
            w.clock.move(at("2026-11-29T23:59") - w.clock.now())
            await w.made().send_if_due()
            await delivered(w.outbox)
            w.clock.move(at("2026-12-01T07:59") - w.clock.now())
            await w.made().send_if_due()
            w.clock.move(at("2026-12-01T08:00") - w.clock.now())
            await w.made().send_if_due()
            return await sent(w.outbox), w.reader.asked

    found, asked = asyncio.run(play())

    assert [cause for cause, channel in found if channel == "json:a"] == [
        "digest:2026-11-28", "digest:2026-11-29", "digest:2026-12-01",
    ]  # fmt: skip
    # Each goes on where the last one ended: nothing is left out and nothing told twice.
    assert [since for since, _ in asked] == [
        at("2026-11-27T08:00"), at("2026-11-28T08:00"), at("2026-11-29T23:59"),
    ]  # fmt: skip


def test_a_clock_that_is_set_back_brings_no_second_one(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-28T09:00") as w:
            await w.made().send_if_due()
            await delivered(w.outbox)
            for moment in ("2026-11-28T07:00", "2026-11-28T08:30", "2027-03-01T08:30"):
                w.clock.move(at(moment) - w.clock.now())
                await w.made().send_if_due()
                await delivered(w.outbox)
            w.clock.move(at("2026-11-29T08:30") - w.clock.now())
            await w.made().send_if_due()
            return await sent(w.outbox), w.reader.asked[-1][0]

    found, since = asyncio.run(play())

    days = [cause.partition(":")[2] for cause, channel in found if channel == "json:a"]
    assert days == ["2026-11-28", "2027-03-01", "2026-11-29"]
    assert since == at("2026-11-28T09:00"), "not of the one that a false clock sent"


def test_a_day_in_which_nothing_happened_has_none_and_is_over_with_that(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-28T08:00") as w:
            w.reader.quiet = True
            await w.made().send_if_due()
            w.reader.quiet = False
            w.clock.move(HOUR)
            await w.made().send_if_due()
            return await sent(w.outbox), await w.made().next_due()

    assert asyncio.run(play()) == ([], at("2026-11-29T08:00"))


@pytest.mark.parametrize(
    ("now", "digest", "due"),
    [
        ("2026-03-29T00:30", "02:30", "2026-03-29T03:30"),  # no clock shows 02:30 that day
        ("2026-10-25T00:30", "02:30", "2026-10-25T02:30"),  # twice: the first time
        ("2026-03-28T09:00", "08:00", "2026-03-28T08:00"),
        ("2026-03-29T01:00", "08:00", "2026-03-29T08:00"),
    ],
)
def test_it_is_local_time_on_the_days_when_clocks_change_too(tmp_path, now, digest, due):
    async def play():
        async with world(tmp_path, now, digest=digest) as w:
            return await w.made().next_due()

    assert asyncio.run(play()) == at(due)


@pytest.mark.parametrize(("digest", "channels"), [("", CHANNELS), ("08:00", ())])
def test_without_a_time_or_a_channel_nothing_wakes_the_engine(tmp_path, digest, channels):
    async def play():
        async with world(tmp_path, "2026-11-28T09:00", digest=digest, channels=channels) as w:
            await w.made().send_if_due()
            return await w.made().next_due(), w.reader.asked

    assert asyncio.run(play()) == (None, [])


def test_what_has_not_left_is_told_by_the_next_one_and_through_each_channel_once(tmp_path):
    """One channel is down from the first digest on; of the other nothing is told twice."""

    async def play():
        async with world(tmp_path, "2026-11-28T08:00") as w:
            since = []
            for day in ("2026-11-28T08:00", "2026-11-29T08:00", "2026-11-30T08:00"):
                w.clock.move(at(day) - w.clock.now())
                w.reader.asked.clear()
                await w.made().send_if_due()
                since.append([one for one, _ in w.reader.asked])
                await delivered(w.outbox, ["json:a"])
            await delivered(w.outbox)
            w.clock.move(at("2026-12-01T08:00") - w.clock.now())
            w.reader.asked.clear()
            await w.made().send_if_due()
            states = [
                (one.what.cause, one.state.value)
                for one in await w.outbox.list(9)
                if one.what.channel == "json:b"
            ]
            return since, [one for one, _ in w.reader.asked], states

    since, at_last, states = asyncio.run(play())

    first, second, third = at("2026-11-27T08:00"), at("2026-11-28T08:00"), at("2026-11-29T08:00")
    assert since == [[first], [second, first], [third, first]]
    assert at_last == [at("2026-11-30T08:00")], "it has left, and with it all that it told"
    assert states == [
        ("digest:2026-12-01", "queued"),
        ("digest:2026-11-30", "sent"),
        ("digest:2026-11-29", "moot"),
        ("digest:2026-11-28", "moot"),
    ]


def test_after_a_silence_a_week_is_told_and_no_more(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-01T08:00", channels=CHANNELS[:1]) as w:
            await w.made().send_if_due()
            await delivered(w.outbox)
            w.clock.move(at("2026-11-20T08:00") - w.clock.now())
            await w.made().send_if_due()
            return w.reader.asked[-1]

    assert asyncio.run(play()) == (at("2026-11-13T08:00"), at("2026-11-20T08:00"))


def test_it_finds_its_way_over_a_trouble_of_the_database(tmp_path):
    async def play():
        async with world(tmp_path, "2026-11-28T08:00") as w:
            digest, tries, usual = w.made(), [], w.reader.read

            async def read(*args):
                tries.append(1)
                if len(tries) < 2:
                    raise OSError("the disk is full")
                return await usual(*args)

            w.reader.read = read
            async with asyncio.TaskGroup() as group:
                running = group.create_task(digest.run())
                while not await sent(w.outbox):
                    digest.wake()
                    await asyncio.sleep(0.01)
                running.cancel()
            return len(await sent(w.outbox))

    assert asyncio.run(play()) == 2
