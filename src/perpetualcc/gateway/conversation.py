"""
One client's conversation: the core of the server, without a transport.

Lines come in through `receive`, lines go out through `send`; a Unix socket, a WebSocket or a
test can stand at the other end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway import protocol
from perpetualcc.gateway.methods import Feed, Method, Params
from perpetualcc.gateway.protocol import (
    SUBSCRIPTION_FAILED,
    ErrorCode,
    ProtocolError,
    PushedEvent,
    Request,
)

log = logging.getLogger(__name__)

_MOST_FEEDS = 16
"""Subscriptions of one client at once, each with a page of events in memory: ours have three."""


class Conversation:
    """
    Answers requests and pushes subscriptions.

    `connect` comes first and settles the version of the protocol. Requests may overlap;
    responses carry the id of their request. No input makes `receive` raise, a broken transport
    aside.
    """

    def __init__(
        self,
        *,
        methods: Mapping[str, Method],
        send: Callable[[bytes], Awaitable[None]],
        tasks: asyncio.TaskGroup,
        version: str,
        is_agent: Callable[[], bool],
        hang_up: Callable[[], None] = lambda: None,
    ) -> None:
        """
        `send` must keep lines whole and wait while the client has no room. `is_agent`: an agent
        started this client; it may take a while, and is asked in a thread. After `hang_up` nothing
        is received or sent any more.
        """
        self.client = ""
        self._send = send
        self._tasks = tasks
        self._version = version
        self._is_agent = is_agent
        self._hang_up = hang_up
        self._allows: Callable[[str, Params], bool] | None = None
        """Of a client that may not ask for everything."""
        self._feeds: dict[str, asyncio.Task[None]] = {}
        self._subscriptions = 0
        self._methods = dict(methods) | {
            "ping": Method(call=self._ping),
            "events.unfollow": Method(call=self._unfollow, params={"subscription": str}),
        }

    async def receive(self, line: bytes) -> None:
        """Answer one line."""
        try:
            request = protocol.read_request(line)
        except ProtocolError as error:
            await self._send(protocol.refusal(error))
            return
        await self._send(await self._answer(request))

    async def refuse(self, message: str) -> None:
        """Say why this conversation ends."""
        error = ProtocolError(ErrorCode.INVALID_REQUEST, message)
        await self._send(protocol.failure(None, error))

    async def _answer(self, request: Request) -> bytes:
        try:
            return protocol.response(request.id, await self._call(request))
        except ProtocolError as error:
            return protocol.failure(request.id, error)
        except PerpetualError as error:
            return protocol.failure(request.id, protocol.from_person_error(error))
        except Exception as error:  # one bad request must not end the engine
            log.exception("Method %r failed", request.method)
            message = f"{request.method} failed: {type(error).__name__}"
            return protocol.failure(
                request.id, ProtocolError(ErrorCode.INTERNAL_ERROR, message[:200])
            )

    async def _call(self, request: Request) -> Any:
        if self._allows and not self._allows(request.method, request.params):
            message = f"This device may not ask for {request.method[:80]!r}"
            raise ProtocolError(ErrorCode.PERMISSION_DENIED, message)
        if request.method == "connect":
            return self._connect(request.params)
        if not self.client:
            raise ProtocolError(ErrorCode.AUTH_REQUIRED, "Say connect first")
        method = self._methods.get(request.method)
        if method is None:
            message = f"There is no method {request.method[:80]!r}"
            raise ProtocolError(ErrorCode.METHOD_NOT_FOUND, message)
        params = method.check(request.params)
        if method.decides(params) and await asyncio.to_thread(self._is_agent):
            raise protocol.only_a_person(request.method)
        return await method.call(params, self)

    def _connect(self, params: Params) -> dict[str, Any]:
        if params.get("protocol") != protocol.PROTOCOL:
            raise PerpetualError(
                f"The daemon runs version {self._version} and speaks protocol"
                f" {protocol.PROTOCOL}, not {params.get('protocol')!r:.20}",
                hint="Restart it with the version of this command: pcc daemon restart",
            )
        self.client = str(params.get("client") or "unnamed")[:80]
        return {
            "protocol": protocol.PROTOCOL,
            "serverVersion": self._version,
            "capabilities": sorted(self._methods),
        }

    async def _ping(self, params: Params, connection: object) -> str:
        return "pong"

    def stand(self, client: str, allows: Callable[[str, Params], bool]) -> None:
        self.client, self._allows = client, allows

    def end(self) -> None:
        self._hang_up()

    # -- subscriptions

    def subscribe(self, feed: Feed) -> str:
        if len(self._feeds) >= _MOST_FEEDS:
            raise PerpetualError(
                f"{_MOST_FEEDS} subscriptions of this connection are open",
                hint="End one of them first: events.unfollow",
            )
        self._subscriptions += 1
        name = f"s{self._subscriptions}"
        self._feeds[name] = self._tasks.create_task(self._pump(name, feed), name=f"feed {name}")
        return name

    async def _unfollow(self, params: Params, connection: object) -> bool:
        feed = self._feeds.pop(params["subscription"], None)
        return feed is not None and feed.cancel()

    async def _pump(self, name: str, feed: Feed) -> None:
        try:
            async with aclosing(feed):
                async for event, data in feed:
                    pushed = PushedEvent(event=event, data=data, subscription=name)
                    await self._send(protocol.event(pushed))
        except ConnectionError:
            return  # the reading side notices too, and ends the conversation
        except Exception:  # a feed's bug costs its subscription, not the engine
            log.exception("Feed %s of client %r failed", name, self.client)
            ended = PushedEvent(event=SUBSCRIPTION_FAILED, data=None, subscription=name)
            await self._send(protocol.event(ended))
        finally:
            self._feeds.pop(name, None)
