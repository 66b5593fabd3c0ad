"""
What the dashboard's log and report say: what `pcc logs` and `pcc report` say, put into the frames
that pass to a page, instead of what it is made from.
"""

import json
from collections.abc import Mapping
from typing import Any

from perpetualcc.cli.lines import plain
from perpetualcc.cli.look import for_a_page
from perpetualcc.cli.report import came_to, outage_lines
from perpetualcc.cli.telling import Entry, Telling
from perpetualcc.gateway.protocol import Request
from perpetualcc.sessions.report_words import sums

Data = Mapping[str, Any]

_LEVELS = frozenset({"info", "warn", "error"})
"""As of `pcc logs`."""
_MOST = 100
"""Sessions that a page's report shows; the newest."""
_HEARD = frozenset({"events.tail", "events.follow", "session.get", "report.show"})
"""Methods whose answers are read here."""


class PageWords:
    """Of one page. It must ask for the past of a session before it follows it."""

    def __init__(self) -> None:
        self._asked: dict[str | int, Request] = {}
        """What has no answer yet."""
        self._projects: dict[str, str] = {}
        self._logs: dict[str, _Log] = {}
        """By session; of each the newest that was asked for goes on."""
        self._followed: dict[str, str] = {}
        """Which session a subscription is about."""

    def asked(self, request: Request) -> None:
        """The page asks that."""
        if request.method in _HEARD:
            self._asked[request.id] = request

    def told(self, frame: bytes) -> bytes:
        """The same for the page, in words."""
        found = json.loads(frame)
        if found.get("type") == "event":
            found["data"] = self._event(found["data"], found.get("subscription"))
        elif (request := self._asked.pop(found.get("id"), None)) and "result" in found:
            found["result"] = self._answer(request, found["result"])
        else:
            return frame
        return json.dumps(found, ensure_ascii=False).encode()

    def _event(self, data: Data | None, subscription: str | None) -> Any:
        log = self._logs.get(self._followed.get(subscription or "", ""))
        if data is None:  # the subscription failed
            return None
        return log.told(data) if log else _place(data)

    def _answer(self, request: Request, result: Any) -> Any:
        session = str(request.params.get("session") or "")
        match request.method:
            case "session.get":
                self._projects[result["id"]] = result["project"]
            case "events.follow":
                self._followed[result["subscription"]] = session
            case "events.tail":
                return self._past(session, result, is_newest=not request.params.get("before"))
            case "report.show":
                return _report(result)
        return result

    def _past(self, session: str, events: list[Data], *, is_newest: bool) -> list[Data]:
        log = _Log(self._projects.get(session, ""))
        if session and is_newest:
            self._logs[session] = log
        return [log.told(event) if session else _place(event) for event in events]


class _Log:
    """A session's events in their order; what was told is not told again."""

    def __init__(self, project: str) -> None:
        self._telling = Telling(project=project, typed=False)
        self._last = 0

    def told(self, event: Data) -> Data:
        if event["seq"] <= self._last or event["level"] not in _LEVELS:
            return _place(event)
        self._last = event["seq"]
        with for_a_page():
            lines, is_below = self._entry(event)
        if not lines:
            return _place(event)
        number = {"number": event["number"]} if "number" in event else {}
        return {**_place(event), "lines": lines, "below": is_below, **number}

    def _entry(self, event: Data) -> Entry:
        try:
            return self._telling.entry(event)
        except (KeyError, TypeError, ValueError):  # an engine of another version
            return Entry([plain(event)])


def _place(event: Data) -> Data:
    """All that a page needs of what it does not show."""
    return {name: event[name] for name in ("seq", "at", "kind", "session")}


def _report(told: dict[str, Any]) -> Data:
    shown = told["sessions"][-_MOST:]
    with for_a_page():
        return {
            "since": told["since"],
            "sums": sums(told["sessions"]) if shown else "nothing happened",
            "outages": outage_lines(told),
            "hidden": len(told["sessions"]) - len(shown),
            "sessions": [
                {
                    "session": one["session"],
                    "lines": list(came_to(one)),
                    "snapshots": one.get("snapshots", 0),
                }
                for one in reversed(shown)
            ],
        }
