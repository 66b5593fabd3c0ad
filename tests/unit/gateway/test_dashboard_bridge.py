"""The bridge on a real port: strangers, floods, slow readers, and an engine that is away."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.dashboard import bridge as module
from perpetualcc.gateway.dashboard.bridge import Bridge
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError, Request, failure

ADDRESS = "https://box.test"


class AsItIs:
    """Words of nobody's."""

    def asked(self, request: Request) -> None:
        pass

    def told(self, frame: bytes) -> bytes:
        return frame


class Engine:
    """The other end of what the bridge was given."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []

    def reach(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        self.ends.append(theirs)
        return ours

    async def heard(self) -> dict[str, object]:
        line = await asyncio.get_running_loop().sock_recv(self.ends[-1], 65536)
        return json.loads(line)

    async def say(self, line: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.ends[-1], line)


@pytest.fixture
def engine():
    found = Engine()
    yield found
    for end in found.ends:
        end.close()


@asynccontextmanager
async def served(
    reach: Callable[[], socket.socket], address: str = ""
) -> AsyncIterator[tuple[Bridge, int]]:
    listener = socket.create_server(("127.0.0.1", 0))
    port, over = listener.getsockname()[1], asyncio.Event()
    bridge = Bridge(port=port, reach=reach, words=AsItIs, address=address)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(bridge.serve(listener, over))
        try:
            yield bridge, port
        finally:
            over.set()


def opened(port: int, **headers: str) -> connect:
    given = {"Origin": f"http://127.0.0.1:{port}", **headers}
    return connect(
        f"ws://127.0.0.1:{port}/engine",
        additional_headers={name: text for name, text in given.items() if text},
        compression=None,
        proxy=None,
    )


async def entered(bridge: Bridge, page: ClientConnection) -> str:
    assert json.loads(await page.recv())["type"] == "challenge"
    await page.send(json.dumps({"code": bridge.link.partition("#")[2]}))
    return str(json.loads(await page.recv())["key"])


async def code_of(page: ClientConnection) -> int:
    async with asyncio.timeout(10):
        async for _ in _frames(page):
            pass
        await page.wait_closed()
    assert page.close_code is not None
    return page.close_code


async def _frames(page: ClientConnection) -> AsyncIterator[str | bytes]:
    with suppress(ConnectionClosed):
        while True:
            yield await page.recv()


async def get(port: int, head: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode())
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer


def test_frames_go_through_in_both_directions_and_others_are_answered_for_the_engine(engine):
    async def play() -> None:
        async with served(engine.reach) as (bridge, port), opened(port) as page:
            await entered(bridge, page)
            asked = {"type": "req", "id": 1, "method": "session.list", "params": {"limit": 5}}
            await page.send(json.dumps({**asked, "id": 9, "method": "rule.add"}))
            refused = json.loads(await page.recv())
            await page.send(json.dumps(asked))

            assert await engine.heard() == asked
            assert (refused["id"], refused["error"]["code"]) == (9, ErrorCode.PERMISSION_DENIED)
            await engine.say('{"type":"res","id":1,"result":"ü"}\n'.encode())
            assert await page.recv() == '{"type":"res","id":1,"result":"ü"}\n'

    asyncio.run(play())


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://localhost:1"])
def test_another_page_is_refused_before_it_can_say_anything(engine, origin):
    async def play() -> None:
        async with served(engine.reach) as (_, port):
            with pytest.raises(InvalidStatus) as refused:
                async with opened(port, Origin=origin):
                    pass
            assert refused.value.response.status_code == 403

    asyncio.run(play())
    assert engine.ends == []


def test_a_name_that_was_turned_to_loopback_gets_nothing(engine):
    async def play() -> None:
        async with served(engine.reach) as (_, port):
            for path in ("/", "/app.js", "/engine", "/nowhere"):
                foreign = await get(
                    port, f"GET {path} HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n"
                )
                assert foreign.startswith(b"HTTP/1.1 403 ")
            own = await get(port, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")
            assert own.startswith(b"HTTP/1.1 200 ")
            assert b"frame-ancestors 'none'" in own
            assert b"access-control" not in own.lower()
            assert b"set-cookie" not in own.lower()
            for method in ("HEAD", "POST", "TRACE"):
                other = await get(port, f"{method} / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")
                assert b"<html" not in other
                assert not other.startswith(b"HTTP/1.1 200 ")

    asyncio.run(play())


def test_a_link_opens_once_and_a_stranger_reaches_no_engine(engine, monkeypatch):
    monkeypatch.setattr(module, "_GREETING", 0.3)

    async def play() -> None:
        async with served(engine.reach) as (bridge, port):
            link = bridge.link
            async with opened(port) as page:
                key = await entered(bridge, page)
            assert bridge.link != link
            codes = []
            for greeting in ({"code": link.partition("#")[2]}, {"key": "x"}, None):
                async with opened(port) as page:
                    if greeting:
                        await page.send(json.dumps(greeting))
                    codes.append(await code_of(page))
            assert codes == [module.STRANGER, module.STRANGER, module.SILENT]
            async with opened(port) as page:
                assert json.loads(await page.recv())["type"] == "challenge"
                await page.send(json.dumps({"key": key}))
                assert json.loads(await page.recv()) == {"type": "welcome", "key": key}

    asyncio.run(play())
    assert len(engine.ends) <= 2


def test_a_large_frame_and_a_flood_end_the_connection(engine):
    async def play() -> None:
        async with served(engine.reach) as (bridge, port):
            async with opened(port) as page:
                await entered(bridge, page)
                await page.send("x" * 70_000)
                assert await code_of(page) == 1009
            async with opened(port) as page:
                await entered(bridge, page)
                for _ in range(250):
                    await page.send("{}")
                assert await code_of(page) == module.TOO_MUCH

    asyncio.run(play())


def test_there_is_an_end_to_pages_and_to_connections(engine):
    async def play() -> None:
        async with served(engine.reach) as (bridge, port):
            async with asyncio.TaskGroup() as tasks:
                over = asyncio.Event()
                for _ in range(module.MOST_PAGES):
                    page = await opened(port)
                    await entered(bridge, page)
                    tasks.create_task(_closed(page, over))
                await asyncio.sleep(0.1)
                async with opened(port) as late:
                    await entered(bridge, late)
                    assert await code_of(late) == module.TOO_MUCH
                over.set()
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(80)]
            # All at once: whoever shows no key is hung up on after a few seconds anyway.
            hung_up = await asyncio.gather(*map(_is_hung_up_on, *zip(*idle, strict=True)))
            assert 10 <= sum(hung_up) <= 30

    asyncio.run(play())


async def _is_hung_up_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    try:
        async with asyncio.timeout(1):
            return await reader.read() == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    finally:
        writer.close()


async def _closed(page: ClientConnection, over: asyncio.Event) -> None:
    await over.wait()
    await page.close()


def test_a_page_that_does_not_read_is_dropped_and_the_engine_is_not_read_meanwhile(
    engine, monkeypatch
):
    monkeypatch.setattr(module, "_SLOWEST", 0.5)

    async def play() -> None:
        async with served(engine.reach) as (bridge, port):
            page = await opened(port)
            await entered(bridge, page)
            page.transport.pause_reading()
            with pytest.raises(ConnectionError):
                # More than all buffers on the way hold.
                await engine.say((b'"' + b"x" * 100_000 + b'"\n') * 1000)
            page.transport.abort()

    asyncio.run(play())


def test_an_engine_that_is_away_is_said_with_its_remedy_and_one_that_dies_hangs_up(engine):
    def away() -> socket.socket:
        raise PerpetualError("The daemon does not run", hint="pcc daemon start")

    async def play() -> None:
        async with served(away) as (bridge, port), opened(port) as page:
            await entered(bridge, page)
            told = json.loads(await page.recv())
            assert told["message"] == "The daemon does not run"
            assert told["hint"] == "pcc daemon start"
            assert await code_of(page) == module.AWAY
        async with served(engine.reach) as (bridge, port), opened(port) as page:
            await entered(bridge, page)
            await asyncio.sleep(0.1)
            engine.ends[-1].close()
            assert await code_of(page) == module.AWAY

    asyncio.run(play())


@pytest.mark.parametrize(
    ("error", "code", "is_said"),
    [
        (ErrorCode.AUTH_FAILED, module.STRANGER, False),
        (ErrorCode.INVALID_PARAMS, module.STRANGER, False),
        (ErrorCode.APPLICATION_ERROR, module.AWAY, True),
        (ErrorCode.INTERNAL_ERROR, module.AWAY, True),
    ],
)
def test_a_device_that_cannot_be_checked_now_is_no_stranger(
    engine, error, code, is_said, monkeypatch
):
    monkeypatch.setattr(module, "_UNKNOWN", 0.0)

    async def play() -> None:
        async with (
            served(engine.reach, address=ADDRESS) as (_, port),
            connect(
                "ws://box.test/engine", host="127.0.0.1", port=port, origin=ADDRESS, proxy=None
            ) as page,
        ):
            await page.recv()
            await page.send(json.dumps({"key": "k", "signature": "s"}))
            await asyncio.sleep(0.1)
            await engine.heard()
            await engine.say(failure(0, ProtocolError(error, "The disk of ana is full")))
            said = [json.loads(frame) async for frame in _frames(page)]

            assert [one["type"] for one in said] == ["away"] * is_said
            assert "ana" not in str(said)
            assert page.close_code == code

    asyncio.run(play())
