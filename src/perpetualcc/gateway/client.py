"""
A synchronous client for commands and the terminal interface: standard library only, and quick
to import.
"""

import os
import pwd
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.version import code_version
from perpetualcc.gateway import protocol
from perpetualcc.gateway.protocol import FRAME_LIMIT, ProtocolError, PushedEvent


def who_asks() -> str:
    """
    `ana@box pts/3`: the person, the machine and the terminal that an answer came from.

    The terminal is left out for a command that has none.
    """
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user without a name
        user = str(os.getuid())
    return " ".join([f"{user}@{socket.gethostname()}", *_terminal()])


def _terminal() -> list[str]:
    for stream in (sys.stdin, sys.stderr):
        try:
            return [os.ttyname(stream.fileno()).removeprefix("/dev/")]
        except (OSError, ValueError, AttributeError):
            continue
    return []


class ConnectionLost(PerpetualError):  # noqa: N818  # named for what happened
    """
    The daemon hung up or died. What it was told before is not lost.

    Of what was asked last only the answer may be: who asks again without a look has it twice.
    """

    def __init__(self) -> None:
        super().__init__(
            "The daemon is gone, and left no answer",
            hint="Before you ask again, see whether it is done: pcc list, pcc status",
        )


class Client:
    """
    One connection. Calls wait for their response; events that come meanwhile are kept.

    Every error that the engine answers with is raised as PerpetualError with its hint.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.server_version = ""
        self.capabilities: list[str] = []
        self._socket = sock
        self._unread = bytearray()
        self._events = deque[PushedEvent]()
        self._last_id = 0

    @classmethod
    def open(cls, path: Path, *, timeout: float | None = None) -> Self:
        """
        Connect and agree on the protocol; `timeout` in seconds is for each of both steps.

        Raises:
            OSError: nobody listens.
            ConnectionLost: somebody hung up.
            TimeoutError: nobody answered.
            PerpetualError: the other side speaks another version.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client = cls(sock)
        try:
            sock.settimeout(timeout)
            sock.connect(str(path))
            client.hello()
            sock.settimeout(None)
        except BaseException:
            client.close()
            raise
        return client

    def hello(self) -> None:
        """Introduce this client, by who sits before it; nothing else is answered before."""
        welcome = self.call("connect", protocol=protocol.PROTOCOL, client=who_asks())
        self.server_version = welcome["serverVersion"]
        self.capabilities = welcome["capabilities"]

    def call(self, method: str, /, **params: Any) -> Any:
        """
        Ask, and wait for the answer as long as the engine lives.

        Raises:
            ConnectionLost: it does not live any more.
            PerpetualError: its own, or for a parameter that is no Unicode text.
        """
        self._last_id += 1
        for given in params.values():
            _check_text(given)
        self._write(protocol.request(self._last_id, method, params))
        while True:
            frame = self._read_frame()
            if frame.get("type") == "res" and frame.get("id") in {self._last_id, None}:
                break
            self._keep(frame)
        if "error" in frame:
            is_other = self.server_version not in {"", code_version()}
            raise protocol.as_exception(frame["error"], is_other_version=is_other)
        return frame.get("result")

    def next_event(self, timeout: float | None = None) -> PushedEvent | None:
        """The next event; None when none came within `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._events:
            if b"\n" not in self._unread:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not select.select([self._socket], [], [], left)[0]:
                    return None
                self._fill()
                continue
            self._keep(self._read_frame())
        return self._events.popleft()

    def events(self, timeout: float | None = None) -> Iterator[PushedEvent]:
        """Events as they come; ends when `timeout` seconds passed without one."""
        while (event := self.next_event(timeout)) is not None:
            yield event

    def fileno(self) -> int:
        """For `select`: when readable, call `next_event(0)` until it returns None."""
        return self._socket.fileno()

    def detached(self) -> socket.socket:
        """The connection, for somebody else to speak on; nothing was asked but `connect`."""
        return self._socket

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, frame: dict[str, Any]) -> None:
        if frame.get("type") == "event":
            self._events.append(
                PushedEvent(
                    event=str(frame.get("event")),
                    data=frame.get("data"),
                    subscription=frame.get("subscription"),
                )
            )

    def _write(self, line: bytes) -> None:
        try:
            self._socket.sendall(line)
        except ConnectionError as error:
            raise ConnectionLost from error

    def _read_frame(self) -> dict[str, Any]:
        while (end := self._unread.find(b"\n")) < 0:
            self._fill()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            return protocol.read_frame(line)
        except ProtocolError as error:
            raise ConnectionLost from error

    def _fill(self) -> None:
        try:
            chunk = self._socket.recv(65536)
        except ConnectionError as error:
            raise ConnectionLost from error
        if not chunk or len(self._unread) > FRAME_LIMIT:
            raise ConnectionLost
        self._unread += chunk


def _check_text(given: Any) -> None:
    """A name that is not UTF-8 cannot travel; sent with a `?` it would be another name."""
    match given:
        case str():
            try:
                given.encode()
            except UnicodeEncodeError:
                raise PerpetualError(
                    f"{given!r} is not UTF-8 text",
                    hint="Rename the file or directory, or type it again in a UTF-8 terminal",
                ) from None
        case list():
            for one in given:
                _check_text(one)
        case dict():
            _check_text(list(given.values()))
        case _:
            pass
