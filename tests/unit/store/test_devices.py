"""Invitations are used once and in time; a device that is revoked is forgotten."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from perpetualcc.domain.devices import Scope
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.database import Database
from perpetualcc.store.devices import DeviceStore
from tests.fakes.clock import FakeClock


@asynccontextmanager
async def opened(tmp_path) -> AsyncIterator[tuple[DeviceStore, FakeClock]]:
    database, clock = await Database.open(tmp_path / "p.db"), FakeClock()
    try:
        yield DeviceStore(database, clock), clock
    finally:
        await database.close()


def test_an_invitation_pairs_one_device_in_time(tmp_path):
    async def play() -> None:
        async with opened(tmp_path) as (devices, clock):
            until = clock.now() + 600
            await devices.invite("phone", Scope.ANSWER, "code-1", until)
            await devices.invite("tablet", Scope.LOOK, "code-2", until)
            clock.move(599)
            phone = await devices.pair("code-1", "key-1")
            clock.move(2)

            assert phone is not None
            assert (phone.name, phone.scope, phone.key) == ("phone", Scope.ANSWER, "key-1")
            assert await devices.pair("code-1", "key-2") is None
            assert await devices.pair("code-2", "key-2") is None, "it came too late"
            assert [one.name for one in await devices.all()] == ["phone"]
            assert await devices.with_key("key-2") is None

    asyncio.run(play())


def test_a_device_is_seen_and_forgotten(tmp_path):
    async def play() -> None:
        async with opened(tmp_path) as (devices, clock):
            await devices.invite("phone", Scope.WORK, "code-1", clock.now() + 600)
            await devices.pair("code-1", "key-1")
            clock.move(3600)
            assert await devices.with_key("key-1") is not None
            [phone] = await devices.all()
            assert phone.seen_at == clock.now()

            assert await devices.remove("phone")
            assert not await devices.remove("phone")
            assert await devices.with_key("key-1") is None

    asyncio.run(play())


def test_an_invitation_replaces_one_of_its_name_and_never_a_device(tmp_path):
    async def play() -> None:
        async with opened(tmp_path) as (devices, clock):
            until = clock.now() + 600
            await devices.invite("phone", Scope.WORK, "code-1", until)
            await devices.invite("phone", Scope.LOOK, "code-2", until)
            assert await devices.pair("code-1", "key-1") is None
            phone = await devices.pair("code-2", "key-1")
            assert phone is not None
            assert phone.scope is Scope.LOOK
            with pytest.raises(PerpetualError, match="already"):
                await devices.invite("phone", Scope.WORK, "code-3", until)

    asyncio.run(play())


def test_a_device_is_let_in_where_nothing_can_be_written(tmp_path):
    async def play() -> None:
        async with opened(tmp_path) as (devices, clock):
            await devices.invite("phone", Scope.LOOK, "code-1", clock.now() + 600)
            await devices.pair("code-1", "key-1")
            await devices._database.read(lambda c: c.execute("PRAGMA query_only = ON"))

            assert await devices.with_key("key-1") is not None
            assert await devices.with_key("key-2") is None

    asyncio.run(play())
