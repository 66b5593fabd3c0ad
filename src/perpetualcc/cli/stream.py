"""Watching a session live: events out, answers in."""

import select
import sys
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from perpetualcc.cli.connection import connect
from perpetualcc.cli.lines import shown
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client, ConnectionLost


class Ending(Enum):
    """Why watching ended."""

    FINISHED = auto()
    """The session has completed."""
    PAUSED = auto()
    STOPPED = auto()
    FAILED = auto()
    """A person must look."""
    DETACHED = auto()
    """The person left; the session goes on."""


_ENDINGS = {
    "COMPLETED": Ending.FINISHED,
    "PAUSED": Ending.PAUSED,
    "STOPPED": Ending.STOPPED,
    "ERROR": Ending.FAILED,
}


class Watcher:
    """Follows one session from its first event, across restarts of the engine."""

    def __init__(self, options: GlobalOptions, session: str) -> None:
        self._options = options
        self._session = session
        self._since = 0
        self._waiting: dict[int, Mapping[str, Any]] = {}
        self._listens = sys.stdin.isatty()

    def watch(self) -> Ending:
        """Until the session ends, or the person leaves with Ctrl+C."""
        if self._listens:
            print("\nCtrl+C to detach (session continues in background)\nCtrl+D to stop session\n")
        while True:
            try:
                with connect(self._options) as daemon:
                    daemon.call(
                        "events.follow",
                        session=self._session,
                        since=self._since,
                        attend=self._listens,
                    )
                    return self._follow(daemon)
            except ConnectionLost:
                continue
            except KeyboardInterrupt:
                return Ending.DETACHED

    def _follow(self, daemon: Client) -> Ending:
        ended: Ending | None = None
        while True:
            # A status of the past does not end the watching: something may come after it.
            event = daemon.next_event(0)
            if event is None and ended is not None:
                event = daemon.next_event(0.3)
            if event is not None:
                ended = self._show(event.data, ended)
            elif ended is not None:
                return ended
            else:
                self._wait(daemon)

    def _show(self, event: Mapping[str, Any], ended: Ending | None) -> Ending | None:
        self._since = event["seq"]
        for line in shown(event, self._options.detail):
            print(line, flush=True)
        match event["kind"]:
            case "EscalationRaised":
                self._waiting[event["number"]] = event
                self._prompt()
            case "EscalationSettled":
                self._waiting.pop(event["number"], None)
            case "SessionStatusChanged":
                return _ENDINGS.get(event["after"])
            case _:
                pass
        return ended

    def _prompt(self) -> None:
        if not (self._listens and self._waiting):
            return
        request = self._waiting[min(self._waiting)]
        if request["type"] == "permission":
            print("   [A]pprove  [D]eny  or say why not  > ", end="", flush=True)
            return
        for i, option in enumerate(request["options"], start=1):
            about = f" - {option['description']}" if option.get("description") else ""
            print(f"     [{i}] {option['label']}{about}")
        numbers = f"[1-{len(request['options'])}] Select  " if request["options"] else ""
        print(f"   {numbers}or type an answer  > ", end="", flush=True)

    def _wait(self, daemon: Client) -> None:
        readers: list[Any] = [daemon] + ([sys.stdin] if self._listens else [])
        ready, _, _ = select.select(readers, [], [], 1.0)
        if sys.stdin in ready:
            line = sys.stdin.readline()
            if not line:
                daemon.call("session.stop", session=self._session)
                self._listens = False
            elif line.strip():
                self._answer(daemon, line.strip())

    def _answer(self, daemon: Client, line: str) -> None:
        if not self._waiting:
            print("Nothing waits for an answer. Ctrl+C to detach, Ctrl+D to stop the session.")
            return
        number = min(self._waiting)
        try:
            daemon.call(
                "escalation.respond", number=number, **answer_from(self._waiting[number], line)
            )
        except PerpetualError as error:
            print(f"error: {error.message}")
            self._waiting.pop(number, None)


def answer_from(request: Mapping[str, Any], line: str) -> dict[str, Any]:
    """What a typed line means for a request."""
    if request["type"] == "permission":
        if line.lower() in {"a", "approve", "y", "yes"}:
            return {"approve": True}
        return {"approve": False, "text": "" if line.lower() in {"d", "deny", "n", "no"} else line}
    options = request["options"]
    if line.isdecimal() and 1 <= int(line) <= len(options):
        return {"text": options[int(line) - 1]["label"]}
    return {"text": line}
