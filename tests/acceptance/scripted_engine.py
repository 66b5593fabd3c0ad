"""An engine that says what a test tells it to, behind the dashboard's own bridge."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from perpetualcc.cli.page_words import PageWords
from perpetualcc.gateway.dashboard.bridge import Bridge

SESSION = {
    "project": "/home/ana/shop", "status": "PROCESSING", "detail": "", "brain": "none",
    "resumes_at": None, "tokens": 61_000, "context_window": 200_000, "delay": "",
    "task": "Rework the importer so that it reads every format that the partners send",
    "runs": 1, "tasks": [], "spent": {"tokens": 1, "usd": 1.0},
}  # fmt: skip


class ScriptedEngine:
    """Answers as it is told to, and remembers what it was asked."""

    def __init__(
        self,
        said: Mapping[str, Any],
        pushes: Callable[[str, dict[str, Any]], Iterable[dict[str, Any]]] = lambda *_: (),
    ) -> None:
        """
        `said`: by method an answer, or what makes one of the parameters; one with a `code` is an
        error. `pushes`: the events that follow what was asked.
        """
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.said: dict[str, Any] = {
            "budget.show": {"budgets": [], "today": {"tokens": 0, "usd": 0.0}},
            "escalation.count": 0,
            "events.follow": lambda params: {"subscription": params.get("session", "all")},
            "report.show": {"since": 1.0, "until": 2.0, "sessions": []},
            **said,
        }
        self._pushes = pushes

    def play(self, end: socket.socket) -> None:
        # Outermost: closing flushes, and the page may have gone.
        with suppress(OSError, ValueError), end, end.makefile("rwb") as talk:
            for line in talk:
                asked = json.loads(line)
                method, params = asked["method"], asked["params"]
                self.asked.append((method, params))
                told = self.said.get(method, [])
                told = told(params) if callable(told) else told
                kind = "error" if isinstance(told, dict) and "code" in told else "result"
                talk.write(_line({"type": "res", "id": asked["id"], kind: told}))
                for pushed in self._pushes(method, params):
                    talk.write(_line({"type": "event", **pushed}))
                talk.flush()

    def counted(self, method: str) -> int:
        return [name for name, _ in self.asked].count(method)

    @contextmanager
    def bridged(self) -> Iterator[Bridge]:
        def reach() -> socket.socket:
            ours, theirs = socket.socketpair()
            threading.Thread(target=self.play, args=[theirs], daemon=True).start()
            return ours

        listener = socket.create_server(("127.0.0.1", 0))
        found = Bridge(port=listener.getsockname()[1], reach=reach, words=PageWords)
        loop, over = asyncio.new_event_loop(), asyncio.Event()
        serving = found.serve(listener, over)
        thread = threading.Thread(target=loop.run_until_complete, args=[serving])
        thread.start()
        try:
            yield found
        finally:
            loop.call_soon_threadsafe(over.set)
            thread.join()
            loop.close()


def _line(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode() + b"\n"
