"""Who is notified, on loopback: a webhook, a mailbox, and a desktop that writes down its argv."""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Webhook:
    """Keeps what is posted to it. `url` is Apprise's address for it."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.got: list[dict[str, Any]] = []
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.port}/hook"

    @property
    def bodies(self) -> list[str]:
        return [one["message"] for one in self.got]

    @contextmanager
    def listening(self) -> Iterator["Webhook"]:
        got = self.got

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Silence."""

        ThreadingHTTPServer.allow_reuse_address = True
        with ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


class Mailbox:
    """A real SMTP server that keeps what it is given."""

    def __init__(self) -> None:
        self.port = free_port()
        self.mails: list[Any] = []

    @property
    def url(self) -> str:
        return f"mailto://127.0.0.1:{self.port}?from=pcc@example.org&to=person@example.org"

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802
        self.mails.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"

    @contextmanager
    def listening(self) -> Iterator["Mailbox"]:
        from aiosmtpd.controller import Controller

        controller = Controller(self, hostname="127.0.0.1", port=self.port)
        controller.start()
        try:
            yield self
        finally:
            controller.stop()


class Desktop:
    """A `notify-send` in a directory of its own; put `path` first in PATH."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.path = directory
        self._shown = directory / "shown.jsonl"
        program = directory / ("osascript" if sys.platform == "darwin" else "notify-send")
        program.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            f"open({str(self._shown)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        )
        program.chmod(0o755)

    def search_path(self) -> str:
        return f"{self.path}{os.pathsep}{os.environ['PATH']}"

    @property
    def shown(self) -> list[list[str]]:
        if not self._shown.exists():
            return []
        return [json.loads(line) for line in self._shown.read_text().splitlines()]
