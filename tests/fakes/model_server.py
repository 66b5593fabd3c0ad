"""A loopback server that speaks the wire formats of Gemini, Ollama and Messages, well or badly."""

import json
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Mood(StrEnum):
    """How it answers."""

    RIGHT = "right"
    SLOW = "slow"
    MALFORMED = "malformed"
    """The wire format is right, what the model wrote is not."""
    GARBAGE = "garbage"
    """Not even the wire format is right."""
    LIMITED = "429"
    BROKEN = "500"
    AWAY = "away"
    """It sends whoever asks to `elsewhere`."""
    CUT = "cut"
    """The connection is gone in the middle of the answer."""


@dataclass(slots=True)
class ModelServer:
    """What it says, and what it was asked."""

    url: str
    mood: Mood = Mood.RIGHT
    reply: dict[str, Any] = field(default_factory=dict)
    """What the model writes, as JSON."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    """Of all prompts and replies, as it has told."""
    slowness: float = 3.0
    """Seconds."""
    thoughts: int = 0
    """Tokens that Gemini's model thinks before it answers; they count as the reply's."""
    window: int = 1_000_000
    """Tokens that Ollama's model reads at most, whatever it is asked to."""
    elsewhere: str = ""
    """Address of another server."""
    behind: str = ""
    """Address of the model of the session itself: what asks for no structured output goes there."""


@contextmanager
def model_server():
    """A running server on a free port; stopped and closed at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    state = ModelServer(url=f"http://127.0.0.1:{server.server_address[1]}")
    server.state = state
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        """Quiet."""

    def do_GET(self):
        models = {"models": [{"name": "tiny:latest", "model": "tiny:latest"}]}
        if self.path.startswith("/api/tags"):
            self._json(200, models)
        elif "/models/" in self.path:
            known = self.path.split("?")[0].endswith("/tiny")
            self._json(200 if known else 404, {"name": "models/tiny"})
        else:
            self._json(404, {})

    def do_POST(self):
        state = self.server.state
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(sent or b"{}")
        tools = {tool.get("name") for tool in body.get("tools", [])}
        if state.behind and self.path.startswith("/v1/") and "StructuredOutput" not in tools:
            self._pass_on(sent)
            return
        if "count_tokens" in self.path:
            self._json(200, {"input_tokens": 1})
            return
        state.asked.append(body)
        if state.mood is Mood.SLOW:
            time.sleep(state.slowness)
        if state.mood is Mood.LIMITED:
            self._json(429, {"error": {"code": 429, "message": "slow down"}})
        elif state.mood is Mood.BROKEN:
            self._json(500, {"error": {"code": 500, "message": "broken"}})
        elif state.mood is Mood.AWAY:
            self._send(307, "text/html", b"", location=state.elsewhere + self.path)
        elif state.mood is Mood.GARBAGE:
            self._send(200, "application/json", b"<html>not what you asked</html>")
        else:
            self._speak(body, state)

    def _pass_on(self, sent):
        request = urllib.request.Request(self.server.state.behind + self.path, sent)
        for name in ("content-type", "authorization", "x-api-key", "anthropic-version"):
            if name in self.headers:
                request.add_header(name, self.headers[name])
        try:
            with urllib.request.urlopen(request) as reply:
                self._send(reply.status, reply.headers["content-type"], reply.read(), whole=True)
        except urllib.error.HTTPError as refusal:
            self._send(refusal.code, "application/json", refusal.read(), whole=True)

    def _speak(self, body, state):
        text = json.dumps(state.reply) if state.mood is not Mood.MALFORMED else "As an AI, I"
        if self.path.startswith("/v1/messages"):
            self._messages(body, state)
        elif self.path.startswith("/api/chat"):
            message = {"role": "assistant", "content": text}
            read = len(json.dumps(body["messages"])) // 4
            counts = {"prompt_eval_count": min(read, state.window), "eval_count": 30}
            state.tokens += sum(counts.values())
            self._json(200, {"model": "tiny", "message": message, "done": True, **counts})
        else:
            left = body.get("generationConfig", {}).get("maxOutputTokens", 0) - state.thoughts
            content = {"role": "model", "parts": [{"text": text[: max(0, left)]}]}
            usage = {"promptTokenCount": 120, "candidatesTokenCount": 30}
            state.tokens += sum(usage.values())
            candidate = {"content": content, "finishReason": "STOP" if left > 0 else "MAX_TOKENS"}
            self._json(200, {"candidates": [candidate], "usageMetadata": usage})

    def _messages(self, body, state):
        """As Claude Code wants it: the tool that hands in structured output, then an end."""
        handed_in = any(
            part.get("type") == "tool_result"
            for message in body.get("messages", [])
            if isinstance(message.get("content"), list)
            for part in message["content"]
        )
        tools = [tool["name"] for tool in body.get("tools", [])]
        if "StructuredOutput" in tools and not handed_in and state.mood is not Mood.MALFORMED:
            block = {"type": "tool_use", "id": "toolu_1", "name": "StructuredOutput", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(state.reply)}
            self._events(block, delta, "tool_use")
        else:
            delta = {"type": "text_delta", "text": "Done."}
            self._events({"type": "text", "text": ""}, delta, "end_turn")

    def _events(self, block, delta, stop):
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "tiny", "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 120, "output_tokens": 1},
        }  # fmt: skip
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": 30},
            },
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        self._send(200, "text/event-stream", text.encode())

    def _json(self, status, data):
        self._send(status, "application/json", json.dumps(data).encode())

    def _send(self, status, kind, content, *, whole=False, location=""):
        is_cut = not whole and self.server.state.mood is Mood.CUT
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            if status == 429:
                self.send_header("x-should-retry", "false")
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if is_cut else content)
            self.close_connection = self.close_connection or is_cut
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
