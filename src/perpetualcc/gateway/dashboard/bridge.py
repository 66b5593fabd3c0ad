"""
Serves the page on loopback, and carries frames between it and the engine's socket.

It decides nothing and keeps nothing: whatever a page is shown or told comes from the engine, which
knows this process as the person's client, in the words of the person's commands. A page from
elsewhere, which a proxy on this machine passes on, is a device: the engine lets that in, and holds
it to what it was granted.
"""

import asyncio
import json
import logging
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Protocol

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway import protocol
from perpetualcc.gateway.dashboard.guards import FRAME_LIMIT, Hosts, Keys, passed, said
from perpetualcc.gateway.dashboard.pages import contents, headers, page
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

SOCKET_PATH = "/engine"
MOST_PAGES = 8
_MOST_CONNECTIONS = 64
"""Those of strangers included, who have `_GREETING` seconds to show that they are none."""
_GREETING = 5.0
_SLOWEST = 20.0
"""Seconds for a page to take a frame, or for the engine to know a device; then the page is dropped,
and comes again when it can."""
_MOST_REQUESTS = 100
"""A second. A page that scrolls fast asks for some ten."""
_BUFFERED = 256 * 1024
"""Bytes that wait for a slow page; the engine is not read on meanwhile."""
_UNKNOWN = 1.0
"""Seconds that a device which is not let in is kept waiting: so many fewer can be tried."""

_TEXT = {"Content-Type": "text/plain; charset=utf-8"}

_TROUBLE = {ErrorCode.APPLICATION_ERROR, ErrorCode.INTERNAL_ERROR}
"""What the engine answers that has nothing to do with who asks."""

STRANGER, SILENT, TOO_MUCH, AWAY = 4401, 4408, 4429, 4503
"""Why a page is hung up on; what it says of it, `link.js` knows."""

# A broken handshake is a stranger's trouble, and the terminal is a person's.
_silent = logging.getLogger(f"{__name__}.websockets")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _HungUp(Exception):  # noqa: N818  # named for what happened
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Words(Protocol):
    """What one page is told, in words."""

    def asked(self, request: protocol.Request) -> None:
        """The page asks the engine that."""
        ...

    def told(self, frame: bytes) -> bytes:
        """For the page, what the engine says; every frame comes by, in their order."""
        ...


class Bridge:
    """Any number of looks at the page, and up to `MOST_PAGES` that are open."""

    def __init__(
        self,
        *,
        port: int,
        reach: Callable[[], socket.socket],
        words: Callable[[], Words],
        used: Callable[[], None] = lambda: None,
        address: str = "",
    ) -> None:
        """
        `reach` gives a connection to the engine that has said hello; it may take a while, and
        raises PerpetualError when none is to be had. `used` hears that the link was used up.
        `address`: the origin, `https://…`, under which devices come.
        """
        self._port, self._reach, self._words, self._used = port, reach, words, used
        self._address = address
        self._hosts, self._keys = Hosts(port, address), Keys()
        self._pages = 0

    @property
    def link(self) -> str:
        """What opens the page, once. The part behind the `#` is never sent to any server."""
        return f"http://127.0.0.1:{self._port}/#{self._keys.code}"

    async def serve(self, listener: socket.socket, over: asyncio.Event) -> None:
        """Until `over`."""
        contents()
        async with serve(
            self._host,
            sock=listener,
            process_request=self._look,
            create_connection=_Connection,
            compression=None,
            server_header=None,
            open_timeout=_GREETING,
            close_timeout=1,
            max_size=FRAME_LIMIT,
            max_queue=16,
            write_limit=_BUFFERED,
            logger=_silent,
        ):
            await over.wait()

    def _look(self, connection: ServerConnection, request: Request) -> Response | None:
        """Before anything else: which name was asked for, and by whose page."""
        if getattr(request, "method", "GET") != "GET":  # older ones let no other one through
            return self._response(HTTPStatus.METHOD_NOT_ALLOWED, b"")
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if not self._hosts.knows(hosts):
            return self._response(HTTPStatus.FORBIDDEN, b"Not the address of the dashboard\n")
        if request.path == SOCKET_PATH:
            if self._hosts.is_own_page(hosts, origins):
                return None
            return self._response(HTTPStatus.FORBIDDEN, b"Only the dashboard's own page may\n")
        encodings = ",".join(request.headers.get_all("Accept-Encoding"))
        found = page(request.path, encodings)
        if found is None:
            return self._response(HTTPStatus.NOT_FOUND, b"There is no such page\n")
        return self._response(HTTPStatus.OK, found[1], found[0])

    def _response(
        self, status: HTTPStatus, body: bytes, kind: Mapping[str, str] = _TEXT
    ) -> Response:
        own = {**kind, "Content-Length": str(len(body)), "Connection": "close"}
        return Response(
            status, status.phrase, Headers({**headers(self._port, self._address), **own}), body
        )

    async def _host(self, browser: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            try:
                await self._admit(browser)
            except _HungUp as ended:
                await browser.close(ended.code, ended.reason)

    async def _admit(self, browser: ServerConnection) -> None:
        challenge = secrets.token_urlsafe(32)
        await browser.send(json.dumps({"type": "challenge", "challenge": challenge}))
        try:
            async with asyncio.timeout(_GREETING):
                greeting = said(await browser.recv())
        except TimeoutError:
            raise _HungUp(SILENT, "nothing was said") from None
        origin = browser.request.headers["Origin"] if browser.request else ""
        if self._hosts.is_elsewhere(origin):
            proof = {name: greeting.get(name) for name in ("key", "signature", "code")}
            await self._carry(browser, {**proof, "origin": origin, "challenge": challenge})
            return
        key, is_fresh = self._keys.admit(greeting)
        if not key:
            raise _HungUp(STRANGER, "the link was used, or is not of this start")
        if is_fresh:
            self._used()
        await browser.send(json.dumps({"type": "welcome", "key": key}))
        await self._carry(browser)

    async def _carry(
        self, browser: ServerConnection, proof: Mapping[str, Any] | None = None
    ) -> None:
        """`proof`: of a device, which the engine is to let in first."""
        try:
            engine = await self._engine()
            welcome = {"type": "welcome", **await _let_in(engine, proof)} if proof else None
            await self._talk(browser, engine, welcome)
        except PerpetualError as error:
            away = {"type": "away", "message": error.message, "hint": error.hint}
            await browser.send(json.dumps(away))
            raise _HungUp(AWAY, "the engine is away") from None

    async def _engine(self) -> _Streams:
        engine = await asyncio.to_thread(self._reach)
        return await asyncio.open_unix_connection(sock=engine, limit=protocol.FRAME_LIMIT)

    async def _talk(
        self,
        browser: ServerConnection,
        engine: _Streams,
        welcome: Mapping[str, Any] | None = None,
    ) -> None:
        """Until one of both has gone. Raises _HungUp, with whose fault it was."""
        self._pages += 1
        try:
            if self._pages > MOST_PAGES:
                raise _HungUp(TOO_MUCH, f"{MOST_PAGES} pages are open")
            if welcome:
                await browser.send(json.dumps(welcome))
            await _talk(browser, *engine, self._words())
        finally:
            self._pages -= 1
            engine[1].transport.abort()


async def _let_in(engine: _Streams, proof: Mapping[str, Any]) -> dict[str, Any]:
    """
    Which device it is, and what it may do.

    Raises:
        _HungUp: it is a stranger.
        PerpetualError: the engine cannot say now; why is for whoever sits at this machine.
    """
    reader, writer = engine
    answer, welcome = {}, None
    try:
        writer.write(protocol.request(0, "device.enter", dict(proof)))
        with suppress(TimeoutError):
            async with asyncio.timeout(_SLOWEST):
                answer = json.loads(await reader.readline() or b"{}")
        welcome = answer.get("result")
    finally:
        if not welcome:
            writer.transport.abort()
    if not answer:
        raise _HungUp(AWAY, "the engine is away")
    if not welcome:
        await asyncio.sleep(_UNKNOWN)
        if (answer.get("error") or {}).get("code") in _TROUBLE:
            raise PerpetualError(
                "It cannot be checked now whether this browser is paired",
                hint="On the machine where PerpetualCC runs, type: pcc doctor",
            )
        raise _HungUp(STRANGER, "this browser is not paired")
    return dict(welcome)


async def _talk(
    browser: ServerConnection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    words: Words,
) -> None:
    """Until one of both has gone. Raises _HungUp, with whose fault it was."""
    ended = _HungUp(AWAY, "the engine is away")
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_to_engine(browser, writer, words), name="to the engine")
            tasks.create_task(_to_page(reader, browser, words), name="to the page")
    except* _HungUp as found:
        ended = next(one for one in found.exceptions if isinstance(one, _HungUp))
    except* (ConnectionClosed, ConnectionError):
        pass
    raise ended


async def _to_engine(browser: ServerConnection, writer: asyncio.StreamWriter, words: Words) -> None:
    second, requests = 0, 0
    async for frame in browser:
        now = int(time.monotonic())
        second, requests = now, requests + 1 if now == second else 1
        if requests > _MOST_REQUESTS:
            raise _HungUp(TOO_MUCH, "too many requests at once")
        try:
            request = passed(frame.encode() if isinstance(frame, str) else frame)
        except ProtocolError as error:
            await _send(browser, protocol.refusal(error))
            continue
        words.asked(request)
        writer.write(protocol.request(*request))
        await writer.drain()
    raise _HungUp(1000, "")


async def _to_page(reader: asyncio.StreamReader, browser: ServerConnection, words: Words) -> None:
    while (line := await reader.readline()).endswith(b"\n"):
        await _send(browser, words.told(line))
    raise _HungUp(AWAY, "the engine is away")


async def _send(browser: ServerConnection, line: bytes) -> None:
    try:
        async with asyncio.timeout(_SLOWEST):
            await browser.send(line, text=True)
    except TimeoutError:
        # It takes no goodbye either.
        browser.transport.abort()
        raise _HungUp(TOO_MUCH, "the page reads too slowly") from None


class _Connection(ServerConnection):
    """One of at most so many, whatever those who connect say or do not say."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self.server.handler_tasks) > _MOST_CONNECTIONS:
            self.transport.abort()
