"""
A session's events as entries: one for each thing that happened, however many events tell of it.

What belongs to the entry above it stands below it, without a time of its own; what was told is
not told again. Who looks for a fault sees every event.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from perpetualcc.cli.lines import Data, stamped, words_of
from perpetualcc.cli.options import Detail

_PARTS: Mapping[str, frozenset[str]] = {
    "TaskStarted": frozenset({"RunStarted"}),
    "QuestionAsked": frozenset({"EscalationRaised"}),
    "ChecksBegan": frozenset({"CheckEnded"}),
    "LimitReached": frozenset({"ResumePlanned", "EscalationRaised"}),
    **dict.fromkeys(
        ("BudgetApproached", "BudgetUsedUp"),
        frozenset({"EscalationRaised", "TaskSettled", "SessionStatusChanged"}),
    ),
    "TaskSettled": frozenset({"EscalationRaised", "SessionStatusChanged"}),
    "SessionStatusChanged": frozenset({"EscalationRaised"}),
}
"""What an entry begins with, and the events that tell more of the same."""
_WAITS = frozenset({"LimitReached", "BudgetApproached", "BudgetUsedUp"})


class Entry(NamedTuple):
    """What an event adds: to the entry above it, where it `is_below`, or as one of its own."""

    lines: list[str]
    is_below: bool = False


class Telling:
    """Reads one session's events in their order; holds what of them was told."""

    def __init__(
        self,
        detail: Detail = Detail.NORMAL,
        *,
        project: str = "",
        staged: bool = False,
        here: bool = False,
        typed: bool = True,
    ) -> None:
        """As for `lines.words_of`."""
        self._detail = detail
        self._where: dict[str, Any] = {
            "project": project, "staged": staged, "here": here, "typed": typed,
        }  # fmt: skip
        self._head: Data | None = None
        """What the newest entry begins with."""
        self._resumed: str | None = None
        """The run that the newest entry says goes on."""
        self._titles: dict[int, str] = {}
        """What is asked for, by the request's number; of calls only."""
        self._settled: set[str] = set()
        """Requests whose answer was told."""
        self._begun: set[str] = set()
        """Tasks that were begun, and are not over."""

    def lines(self, event: Data) -> list[str]:
        """None for what has been told, and for what is not for people."""
        entry = self.entry(event)
        return stamped(event, entry.lines, below=entry.is_below)

    def entry(self, event: Data) -> Entry:
        """`lines`, without their times."""
        if self._detail is Detail.VERBOSE:
            return Entry(words_of(event, self._detail, **self._where))
        told = Entry([]) if self._is_told(event) else self._entry(event)
        self._note(event)
        return told

    def interrupt(self) -> None:
        """Something else was printed: nothing stands directly below the newest entry any more."""
        self._head = self._resumed = None

    def _entry(self, event: Data) -> Entry:
        head = self._head if self._belongs(event) else None
        goes_on = event["task"] in self._begun
        known = {
            "head": head,
            "goes_on": goes_on,
            "call": self._titles.get(event.get("number", 0), ""),
        }
        found = words_of(event, self._detail, known=known, **self._where)
        if found:
            self._head = head or event
            is_resumed = goes_on and event["kind"] == "TaskStarted"
            self._resumed = event["run"] if is_resumed else None
        return Entry(found, is_below=head is not None)

    def _belongs(self, event: Data) -> bool:
        """Whether it tells more of what the newest entry tells."""
        head, kind = self._head, event["kind"]
        if head is None or kind not in _PARTS.get(head["kind"], ()):
            return False
        if kind == "SessionStatusChanged":
            return event["after"] in {"COMPLETED", "ERROR"}
        if kind != "EscalationRaised":
            return bool(event["task"] == head["task"])
        if event["type"] == "error":
            return head.get("after") == "ERROR" or event["task"] == head["task"]
        is_same = head.get("request") == event["request"]
        return event["type"] == "question" and (is_same or head["kind"] in _WAITS)

    def _is_told(self, event: Data) -> bool:
        if event["kind"] in {"QuestionAnswered", "ToolDecided"}:
            is_waited_for = event["decided_by"] in {"person", "timeout"}
            return is_waited_for and event["request"] in self._settled
        if event["kind"] == "BudgetUsedUp":
            return self._is_said_to_be_used_up(event)
        is_resumed = event["kind"] == "RunStarted" and event["resumed"]
        return is_resumed and self._resumed is not None and event["run"] == self._resumed

    def _is_said_to_be_used_up(self, event: Data) -> bool:
        """One reply took it from nearly to wholly, and there is no more to say of it."""
        head = self._head or {}
        is_it = head.get("kind") == "BudgetApproached" and head["name"] == event["name"]
        stops = str(event["name"]).startswith(("task_", "run_"))
        return is_it and bool(head["used"] >= head["allowed"]) and not stops

    def _note(self, event: Data) -> None:
        match event["kind"]:
            case "EscalationRaised" if event["type"] == "permission":
                self._titles[event["number"]] = event["title"].removeprefix("Approve: ")
            case "EscalationSettled" if event["decided_by"] != "withdrawn":
                is_a_call = event["answer"].startswith(("approved", "denied"))
                if not is_a_call or event["number"] in self._titles:
                    self._settled.add(event["request"])
            case "TaskStarted":
                self._begun.add(event["task"])
            case "TaskSettled" if event["state"] not in {"queued", "waiting"}:
                self._begun.discard(event["task"])
            case _:
                pass
