"""
As much HTTP/1.1 server as a loopback client needs: keep-alive, lengths, chunked replies.

Not a web server: no TLS, no uploads, 64 MB a request at most.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.rehearsal.wire import Answer

_MOST_BYTES = 64 * 1024 * 1024
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request. Header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; empty when it is none."""
        try:
            body = json.loads(self.raw or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}


Handler = Callable[[Request], Awaitable[Answer]]


async def serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler
) -> None:
    """Answer requests on one connection until it closes or an answer cuts it."""
    try:
        while (request := await _read_request(reader)) is not None:
            answer = await handler(request)
            if not await _send(writer, answer, with_body=request.method != "HEAD"):
                _reset(writer)
                return
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        pass  # a killed client leaves its connection in any state
    finally:
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset, not an end."""
    transport: asyncio.WriteTransport = writer.transport
    transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    path = target.partition("?")[0]
    return Request(method=method, path=path, headers=headers, raw=await _read_body(reader, headers))


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = int(headers.get("content-length", "0"))
    if length > _MOST_BYTES:
        raise ValueError("the request is too long")
    return await reader.readexactly(length)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if len(body) + size > _MOST_BYTES:
            raise ValueError("the request is too long")
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readuntil(b"\r\n")) != b"\r\n":
        pass
    return bytes(body)


async def _send(writer: asyncio.StreamWriter, answer: Answer, *, with_body: bool) -> bool:
    """Write an answer; false when the connection is to be reset."""
    if answer.silent:
        return False
    pieces = list(answer.pieces) if with_body else []
    simple = len(pieces) <= 1 and not answer.cut
    if pieces and pieces[0][0]:
        await asyncio.sleep(pieces[0][0])
    head = _head(answer, length=len(pieces[0][1]) if pieces else 0, chunked=not simple)
    if simple:
        writer.write(head + (pieces[0][1] if pieces else b""))
        await writer.drain()
        return True
    for number, (wait, piece) in enumerate(pieces):
        if number:
            await asyncio.sleep(wait)
        writer.write((b"" if number else head) + b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    if answer.cut:
        await asyncio.sleep(0.05)  # let the client read what was said before the reset
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _head(answer: Answer, *, length: int, chunked: bool) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    lines.append("transfer-encoding: chunked" if chunked else f"content-length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
