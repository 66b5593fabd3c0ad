"""
The protocol on a Unix socket. Trusts the socket's file permissions and the peer's user id; whether
an agent started the peer, its process says.

The listening socket belongs to the supervisor: it is never closed or unlinked here, so what
this server does not accept waits for the next engine.
"""

import asyncio
import logging
import math
import os
import resource
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from perpetualcc.gateway import protocol
from perpetualcc.gateway.conversation import Conversation
from perpetualcc.gateway.methods import Method
from perpetualcc.gateway.protocol import FRAME_LIMIT, ErrorCode, ProtocolError

log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Requests of one client that are answered at the same time; the next one is not read."""
_ACCEPT_PAUSE = 1.0
"""Seconds without accepting after the system ran out of file descriptors."""
_INTRODUCED_WITHIN = 10.0
"""Seconds in which a client says `connect`: a connection without a word only costs a descriptor."""
_LAST_WORDS = 0.5
"""Seconds that a client gets to read what was written when the server hangs up."""


class GatewayServer:
    """Any number of clients. One that is slow, rude or gone disturbs nobody else."""

    def __init__(
        self,
        *,
        methods: Mapping[str, Method],
        version: str,
        listener: socket.socket,
        is_agent: Callable[[int], bool],
        most: int | None = None,
        introduced_within: float = _INTRODUCED_WITHIN,
    ) -> None:
        """
        `is_agent` says of a process whether an agent started it. Of `most` clients at once, by
        default half of what this process may open, the next is refused.
        """
        self.connections = 0
        self.last_visit = -math.inf
        """When a client last came or left, in monotonic seconds; never is long ago."""
        self._methods, self._version, self._listener = methods, version, listener
        self._is_agent = is_agent
        self._most = most or _most_clients()
        self._introduced_within = introduced_within
        self._over = asyncio.Event()
        self._talks = set[asyncio.Task[None]]()
        self._is_accepting = False

    async def serve(self) -> None:
        """Serve until `close`; then hang up on everybody and return."""
        self._listener.setblocking(False)
        async with asyncio.TaskGroup() as self._tasks:
            self.resume()
            try:
                await self._over.wait()
            finally:
                self.pause()
            for task in list(self._talks):
                task.cancel()

    def close(self) -> None:
        self._over.set()

    def pause(self) -> None:
        """Leave new clients in the listening socket's queue."""
        if self._is_accepting:
            self._is_accepting = False
            asyncio.get_running_loop().remove_reader(self._listener)

    def resume(self) -> None:
        if not self._is_accepting and not self._over.is_set():
            self._is_accepting = True
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            log.exception("No client can be accepted; trying again in %s s", _ACCEPT_PAUSE)
            self.pause()
            asyncio.get_running_loop().call_later(_ACCEPT_PAUSE, self.resume)
            return
        if self.connections >= self._most:
            _refuse(client, self._most)
            return
        self.connections += 1
        self.last_visit = time.monotonic()
        task = self._tasks.create_task(self._host(client), name="client")
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)

    async def _host(self, client: socket.socket) -> None:
        try:
            try:
                process, user = peer(client)
            except OSError:  # macOS knows the process only as long as it holds its end
                return
            if user != os.getuid():
                log.warning("Refused a client of another user")
                return
            await self._talk(client, partial(self._is_agent, process))
        except* (ConnectionError, EOFError):
            pass
        except* Exception:  # one client's trouble must not end the others
            log.exception("A conversation failed")
        finally:
            client.close()
            self.connections -= 1
            self.last_visit = time.monotonic()

    async def _talk(self, client: socket.socket, is_agent: Callable[[], bool]) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=client, limit=FRAME_LIMIT)
        one_at_a_time = asyncio.Lock()

        async def send(line: bytes) -> None:
            async with one_at_a_time:
                writer.write(line)
                await writer.drain()

        try:
            async with asyncio.TaskGroup() as tasks:
                conversation = Conversation(
                    methods=self._methods,
                    send=send,
                    tasks=tasks,
                    version=self._version,
                    is_agent=is_agent,
                    hang_up=writer.transport.abort,
                )
                await _answer_lines(reader, conversation, tasks, self._introduced_within)
                # Whatever still runs for this client has nobody left to hear it.
                raise ConnectionResetError
        finally:
            await _hang_up(writer)


async def _answer_lines(
    reader: asyncio.StreamReader,
    conversation: Conversation,
    tasks: asyncio.TaskGroup,
    introduced_within: float,
) -> None:
    """Until the client is gone, or sends what no client of ours sends."""
    room = asyncio.Semaphore(_AT_ONCE)
    deadline = asyncio.get_running_loop().time() + introduced_within

    async def answer(line: bytes) -> None:
        try:
            await conversation.receive(line)
        finally:
            room.release()

    while True:
        try:
            async with asyncio.timeout_at(None if conversation.client else deadline):
                line = await reader.readline()
        except TimeoutError:
            if conversation.client:
                continue
            await conversation.refuse(f"Nobody said connect within {introduced_within:.0f} seconds")
            return
        except ValueError:
            await conversation.refuse(f"A frame may have {FRAME_LIMIT} bytes")
            return
        if not line.endswith(b"\n"):
            return
        await room.acquire()
        tasks.create_task(answer(line), name="request")


def _most_clients() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else max(1, soft // 2)


def _refuse(client: socket.socket, most: int) -> None:
    message = f"{most} clients are connected, as many as the daemon takes; close some"
    log.warning("Refused a client: %d are connected", most)
    with client, suppress(OSError):
        client.setblocking(False)
        client.send(protocol.failure(None, ProtocolError(ErrorCode.INVALID_REQUEST, message)))


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Give what is already written a moment to leave; a client that does not read loses it."""
    writer.close()
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(_LAST_WORDS):
            await writer.wait_closed()
    writer.transport.abort()


def peer(client: socket.socket) -> tuple[int, int]:
    """
    The process that connected and its user, as the kernel knows them. The process may be gone, and
    another hold its end.

    Raises:
        OSError: nobody is there any more.
    """
    if sys.platform == "darwin":  # sys/un.h: of SOL_LOCAL, LOCAL_PEERPID and LOCAL_PEERCRED
        process, user = client.getsockopt(0, 2), user_in(client.getsockopt(0, 1, 76))
    else:
        told = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process, user, _ = struct.unpack("3i", told)
    return process, user


def user_in(credentials: bytes) -> int:
    """Of sys/ucred.h's `struct xucred {u_int cr_version; uid_t cr_uid; …}`."""
    return int(struct.unpack_from("=II", credentials)[1])
