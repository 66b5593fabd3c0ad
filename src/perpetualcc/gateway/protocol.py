"""
The frames of seed 002: requests, responses and events, one JSON object a line.

Bytes in, frames out, and back. Knows nothing about sockets.
"""

import json
from enum import IntEnum
from typing import Any, NamedTuple

from perpetualcc.domain.errors import PerpetualError

PROTOCOL = 1
"""Grows when an old client could misunderstand a new engine, or the other way round."""

SUBSCRIPTION_FAILED = "subscription.failed"
"""The last event of a subscription that ends because of a bug."""

FRAME_LIMIT = 4 * 1024 * 1024
"""Bytes of one frame: a requirements document fits, a runaway client does not."""


class ErrorCode(IntEnum):
    """Seed 002, "Error Codes"; -32010 is this project's own."""

    PARSE_ERROR = -32700
    """Not JSON."""
    INVALID_REQUEST = -32600
    """JSON, but not a request."""
    METHOD_NOT_FOUND = -32601
    """An older engine may not know it yet."""
    INVALID_PARAMS = -32602
    """A parameter is missing, unknown or of the wrong type."""
    INTERNAL_ERROR = -32603
    """A bug; the engine's log has the traceback."""
    AUTH_REQUIRED = -32000
    """Say `connect` first."""
    AUTH_FAILED = -32001
    """Who asks is not who it says: a browser that is not paired."""
    PERMISSION_DENIED = -32002
    """Who asks may not do this."""
    RATE_LIMITED = -32003
    """Reserved, not sent: too many requests at once."""
    GOAL_NOT_FOUND = -32004
    """Reserved, not sent: no goal has this id."""
    ALREADY_RUNNING = -32005
    """Reserved, not sent: what was asked for is under way."""
    APPLICATION_ERROR = -32010
    """Something a person can act on; `data` holds the message and the hint."""


_UNKNOWN_TO_OTHERS = {ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_PARAMS}
"""What an engine of another version answers to what it does not know."""


class ProtocolError(Exception):
    """An error that travels in an error frame."""

    def __init__(self, code: ErrorCode, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Request(NamedTuple):
    """A client wants something. `id` comes back in the response."""

    id: str | int
    method: str
    params: dict[str, Any]


class PushedEvent(NamedTuple):
    """Something the engine says unasked, as part of a subscription."""

    event: str
    data: Any
    subscription: str | None = None


def read_request(line: bytes) -> Request:
    """
    The request in a line.

    Raises:
        ProtocolError: it is not JSON, or not a request. `data` names its id when it has one.
    """
    frame = read_frame(line)
    identity = frame.get("id")
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        raise ProtocolError(ErrorCode.INVALID_REQUEST, "A request needs an id")
    method, params = frame.get("method"), frame.get("params", {})
    if frame.get("type") != "req" or not isinstance(method, str):
        message = 'A request is {"type": "req", "id", "method", "params"}'
        raise ProtocolError(ErrorCode.INVALID_REQUEST, message, {"id": identity})
    if not isinstance(params, dict):
        message = "The params of a request are an object"
        raise ProtocolError(ErrorCode.INVALID_REQUEST, message, {"id": identity})
    return Request(id=identity, method=method, params=params)


def read_frame(line: bytes) -> dict[str, Any]:
    """Any frame. Raises ProtocolError for what is no JSON object."""
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(ErrorCode.PARSE_ERROR, "A frame is one line of JSON") from error
    if not isinstance(frame, dict):
        raise ProtocolError(ErrorCode.INVALID_REQUEST, "A frame is a JSON object")
    return frame


def request(identity: str | int, method: str, params: dict[str, Any]) -> bytes:
    return _line({"type": "req", "id": identity, "method": method, "params": params})


def response(identity: str | int, result: Any) -> bytes:
    return _line({"type": "res", "id": identity, "result": result})


def failure(identity: str | int | None, error: ProtocolError) -> bytes:
    body: dict[str, Any] = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _line({"type": "res", "id": identity, "error": body})


def refusal(error: ProtocolError) -> bytes:
    """The failure of a line that `read_request` did not take."""
    identity, error.data = (error.data or {}).get("id"), None
    return failure(identity, error)


def event(pushed: PushedEvent) -> bytes:
    frame = {"type": "event", "event": pushed.event, "data": pushed.data}
    if pushed.subscription is not None:
        frame["subscription"] = pushed.subscription
    return _line(frame)


def from_person_error(error: PerpetualError) -> ProtocolError:
    """What a person can act on stays that on the other side."""
    data = {"message": error.message, "hint": error.hint}
    return ProtocolError(ErrorCode.APPLICATION_ERROR, error.message, data)


def only_a_person(method: str) -> ProtocolError:
    """What a process that an agent started reads when it would decide for its person."""
    message = f"Only a person may ask for {method!r}, and this process belongs to an agent's run"
    data = {"message": message, "hint": "Type it in a terminal of your own"}
    return ProtocolError(ErrorCode.PERMISSION_DENIED, message, data)


def as_exception(body: dict[str, Any], *, is_other_version: bool = False) -> PerpetualError:
    """
    The opposite: what a client raises for the `error` of a response.

    `is_other_version`: the daemon is not of the client's version, so it may not know a parameter.
    """
    data = body.get("data")
    is_for_person = body.get("code") in {ErrorCode.APPLICATION_ERROR, ErrorCode.PERMISSION_DENIED}
    if is_for_person and isinstance(data, dict):
        return PerpetualError(str(data.get("message")), hint=data.get("hint"))
    message = body.get("message", "no message")
    if is_other_version and body.get("code") in _UNKNOWN_TO_OTHERS:
        hint = "The daemon runs another version than this command: pcc daemon restart"
    elif body.get("code") == ErrorCode.METHOD_NOT_FOUND:
        hint = "The daemon may be older than this command: pcc daemon restart"
    elif body.get("code") == ErrorCode.INTERNAL_ERROR:
        hint = "This is a bug; its traceback is in: pcc daemon logs"
    else:
        hint = None
    return PerpetualError(f"The daemon answers: {message}", hint=hint)


def _line(frame: dict[str, Any]) -> bytes:
    line = json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    if len(line) >= FRAME_LIMIT:
        raise PerpetualError(
            f"A message of {len(line)} bytes is over the limit of {FRAME_LIMIT}",
            hint="Put long texts into a file and name the file",
        )
    return line + b"\n"
