"""The Messages API as bytes: replies as server-sent events or JSON, errors, limit headers."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from perpetualcc.rehearsal.scenario import Failure, FailureKind, Quota, Reply, Usage

_PIECES = 20
"""Into how many pieces a slowly streamed text is cut."""
_EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_ERRORS = {
    FailureKind.USAGE_LIMIT: (429, "rate_limit_error", "This account's limit is reached"),
    FailureKind.RATE_LIMIT: (429, "rate_limit_error", "Number of request tokens is exceeded"),
    FailureKind.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    FailureKind.SERVER_ERROR: (500, "api_error", "Internal server error"),
}
_PREFIX = "anthropic-ratelimit-unified"
# Header prefix of each window, as Claude Code reads them.
_CLAIMS = {"five_hour": "5h", "seven_day": "7d", "seven_day_opus": "7d_opus"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP response: pieces of body, each after a wait in seconds; `cut` resets at the end."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Sequence[tuple[float, bytes]] = ()
    cut: bool = False
    silent: bool = False
    """Not even a status line: the connection is reset."""


def json_answer(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer with one JSON document."""
    return Answer(
        status=status,
        headers={"content-type": "application/json", **(headers or {})},
        pieces=[(0.0, json.dumps(data).encode())],
    )


def error_answer(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """Answer with the API's error document."""
    document = {"type": "error", "error": {"type": kind, "message": message}}
    return json_answer(document, status, headers)


def reply_answer(
    reply: Reply, ids: Sequence[str], *, model: str, message_id: str, streams: bool
) -> Answer:
    """Answer with a scripted reply; `ids` name its tool calls, in order."""
    blocks = _blocks(reply, ids)
    message = _message(model, message_id, reply.usage)
    headers = {**_quota_headers(reply.quota), **reply.headers}
    if not streams:
        message |= {"content": blocks, "stop_reason": reply.stop_reason}
        message["usage"] |= {"output_tokens": reply.usage.output}
        answer = json_answer(message, headers=headers)
        return Answer(
            headers=answer.headers,
            pieces=[(reply.delay.total_seconds(), answer.pieces[0][1])],
        )
    return Answer(
        headers={**_EVENT_STREAM, **headers},
        pieces=_paced(list(_reply_events(reply, blocks, message)), reply),
    )


def broken_answer(failure: Failure, *, model: str, message_id: str) -> Answer:
    """A stream that says a few words and is cut off."""
    message = _message(model, message_id, Usage())
    said = _event("message_start", message=message)
    said += _start(0, {"type": "text", "text": ""})
    said += _delta(0, {"type": "text_delta", "text": failure.say})
    return Answer(headers=_EVENT_STREAM, pieces=[(0.0, said)], cut=True)


def failure_answer(failure: Failure, *, resets_at: float, model: str, message_id: str) -> Answer:
    """Answer with what goes wrong; `resets_at` is epoch seconds."""
    if failure.kind is FailureKind.CONNECTION_RESET:
        return Answer(silent=True)
    if failure.kind is FailureKind.BROKEN_STREAM:
        return broken_answer(failure, model=model, message_id=message_id)
    fallback = (failure.status, failure.type, "The scenario says so")
    status, kind, message = _ERRORS.get(failure.kind, fallback)
    headers = {**_failure_headers(failure, resets_at), **failure.headers}
    return error_answer(status, kind, failure.message or message, headers)


def _failure_headers(failure: Failure, resets_at: float) -> dict[str, str]:
    if failure.kind is FailureKind.USAGE_LIMIT:
        return _window_headers("rejected", failure.window, 1.0, resets_at)
    if failure.kind is FailureKind.RATE_LIMIT:
        seconds = f"{failure.retry_after.total_seconds():g}"
        return {"retry-after": seconds, "x-should-retry": "false"}
    return {}


def _quota_headers(quota: Quota | None) -> dict[str, str]:
    if quota is None:
        return {}
    now = time.time()
    headers: dict[str, str] = {}
    for other in quota.also:
        resets_at = now + other.resets_in.total_seconds()
        headers |= _of_window("allowed", other.window, other.used, resets_at)
    resets_at = now + quota.resets_in.total_seconds()
    return headers | _window_headers(quota.status, quota.window, quota.used, resets_at)


def _window_headers(status: str, window: str, used: float, resets_at: float) -> dict[str, str]:
    """Of the window that counts."""
    return {
        f"{_PREFIX}-status": status,
        f"{_PREFIX}-reset": str(round(resets_at)),
        f"{_PREFIX}-representative-claim": window,
        **_of_window(status, window, used, resets_at),
    }


def _of_window(status: str, window: str, used: float, resets_at: float) -> dict[str, str]:
    claim = _CLAIMS.get(window, window)
    headers = {
        f"{_PREFIX}-{claim}-status": status,
        f"{_PREFIX}-{claim}-reset": str(round(resets_at)),
        f"{_PREFIX}-{claim}-utilization": f"{used:g}",
    }
    if status == "allowed_warning":
        headers[f"{_PREFIX}-{claim}-surpassed-threshold"] = f"{used:g}"
    return headers


def _message(model: str, message_id: str, usage: Usage) -> dict[str, Any]:
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 1,
        },
    }


def _blocks(reply: Reply, ids: Sequence[str]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.say:
        blocks.append({"type": "text", "text": reply.say})
    for call, name in zip(reply.tools, ids, strict=True):
        blocks.append({"type": "tool_use", "id": name, "name": call.name, "input": call.input})
    return blocks


def _reply_events(
    reply: Reply, blocks: list[dict[str, Any]], message: dict[str, Any]
) -> Iterator[bytes]:
    """The stream in pieces that may be sent apart: the text's, then everything else."""
    head = _event("message_start", message=message)
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            yield head + _start(index, {"type": "text", "text": ""})
            for part in _parts(block["text"], bool(reply.takes)):
                yield _delta(index, {"type": "text_delta", "text": part})
            head = b""
        else:
            text = json.dumps(block["input"])
            head += _start(index, {**block, "input": {}})
            head += _delta(index, {"type": "input_json_delta", "partial_json": text})
        head += _event("content_block_stop", index=index)
    delta = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    usage = {"output_tokens": reply.usage.output}
    yield head + _event("message_delta", delta=delta, usage=usage) + _event("message_stop")


def _parts(text: str, slowly: bool) -> list[str]:
    size = max(1, -(-len(text) // _PIECES)) if slowly else len(text)
    return [text[start : start + size] for start in range(0, len(text), size)]


def _paced(events: list[bytes], reply: Reply) -> list[tuple[float, bytes]]:
    """Give each piece its wait; a reply that does not stream slowly is one piece."""
    delay = reply.delay.total_seconds()
    if not reply.takes:
        return [(delay, b"".join(events))]
    pause = reply.takes.total_seconds() / max(1, len(events) - 1)
    return [(delay if number == 0 else pause, event) for number, event in enumerate(events)]


def _start(index: int, block: dict[str, Any]) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _delta(index: int, delta: dict[str, Any]) -> bytes:
    return _event("content_block_delta", index=index, delta=delta)


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
