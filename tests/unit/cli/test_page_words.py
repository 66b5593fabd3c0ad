"""The dashboard's log says what `pcc logs` says, and its report what `pcc report` says."""

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings

from perpetualcc.cli.page_words import PageWords
from perpetualcc.cli.report import came_to
from perpetualcc.cli.telling import Telling
from perpetualcc.domain.events import EVENT_TYPES
from perpetualcc.domain.times import clock, moment
from perpetualcc.gateway.protocol import Request
from tests.unit.cli.test_lines import sent
from tests.unit.cli.test_report import report_of
from tests.unit.cli.test_telling import ASKED, LIMIT
from tests.unit.domain.test_events import events

PLACE = {"session": "abc123", "run": "r", "task": "t", "level": "info"}
NIGHT = [
    ("TaskStarted", {"prompt": "Write both", "attempt": 1}),
    ("RunStarted", {"claude_session": "c"}),
    ("QuestionAsked", {"request": "q", "questions": [ASKED]}),
    ("EscalationRaised", {"number": 2, "type": "question", "title": "Which database?",
                          "options": [], "request": "q", "questions": [ASKED]}),
    ("LimitReached", LIMIT),
    ("ResumePlanned", {"resumes_at": 3e9}),
]  # fmt: skip


class Page:
    """What passes to it."""

    def __init__(self) -> None:
        self.words, self.number = PageWords(), 0

    def ask(self, method: str, result: Any, **params: Any) -> Any:
        self.number += 1
        self.words.asked(Request(self.number, method, params))
        frame = {"type": "res", "id": self.number, "result": result}
        return json.loads(self.words.told(json.dumps(frame).encode()))["result"]

    def push(self, event: dict[str, Any], subscription: str) -> dict[str, Any]:
        frame = {"type": "event", "event": event["kind"], "data": event}
        frame["subscription"] = subscription
        return json.loads(self.words.told(json.dumps(frame).encode()))["data"]


def night() -> list[dict[str, Any]]:
    return [
        {**sent(EVENT_TYPES[kind](**data)), **PLACE, "seq": seq}
        for seq, (kind, data) in enumerate(NIGHT, start=1)
    ]


def as_printed(line: str) -> str:
    line = re.sub(r"\x1b\]moment;([^\x07]+)\x07", lambda m: moment(float(m[1])), line)
    line = re.sub(r"\x1b\]clock;([^\x07]+)\x07", lambda m: clock(float(m[1])), line)
    return re.sub(r"\x1b\[\d+m", "", line)


def test_past_and_present_are_one_telling_whichever_subscription_comes_first():
    page, telling, all_of_it = Page(), Telling(typed=False), night()
    printed = [(entry.lines, entry.is_below) for entry in map(telling.entry, all_of_it)]

    page.ask("events.follow", {"subscription": "s1"})
    told = page.ask("events.tail", all_of_it[:3], session="abc123")
    page.ask("events.follow", {"subscription": "s2"}, session="abc123")
    for event in all_of_it[3:]:
        assert set(page.push(event, "s1")) == {"seq", "at", "kind", "session"}
        told.append(page.push(event, "s2"))

    shown = [([*map(as_printed, one.get("lines", []))], one.get("below", False)) for one in told]
    assert shown == [(lines, below and bool(lines)) for lines, below in printed]
    assert "pcc " not in str(shown), "it has buttons"
    assert "lines" not in page.push(all_of_it[-1], "s2"), "once"


def test_an_earlier_page_is_told_by_itself_and_stops_nothing():
    page, all_of_it = Page(), night()
    page.ask("events.tail", all_of_it[:5], session="abc123")
    page.ask("events.follow", {"subscription": "s"}, session="abc123")

    earlier = page.ask("events.tail", all_of_it[:2], session="abc123", before=3)
    last = page.push(all_of_it[5], "s")

    assert earlier[0]["lines"] == ["\x1b[1mTask: Write both\x1b[0m"]
    assert last["below"]


def test_files_are_named_from_the_project():
    page = Page()
    page.ask("session.get", {"id": "abc123", "project": "/shop"}, session="abc123")
    failed = EVENT_TYPES["ProblemNoticed"](text="/shop/src/a.py is gone")

    [told] = page.ask("events.tail", [{**sent(failed), **PLACE}], session="abc123")

    assert as_printed(told["lines"][0]) == "✗ src/a.py is gone"


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=lambda kind: kind.__name__)
def test_no_event_makes_a_colour_or_a_time_of_its_own(kind):
    @settings(max_examples=15)
    @given(events(kind))
    def check(event):
        data = {**sent(event), **PLACE}
        [told] = Page().ask("events.tail", [data], session="abc123")
        assert not {"\x1b", "\x07"} & set(as_printed("\n".join(told.get("lines", ()))))

    check()


def test_what_an_engine_of_another_version_says_is_shown_as_it_is():
    [told] = Page().ask(
        "events.tail", [{**PLACE, "seq": 1, "at": 1.0, "kind": "TaskStarted"}], session="abc123"
    )

    assert told["lines"] == ["TaskStarted {}"]


def test_a_report_says_what_is_printed_and_a_long_one_what_is_newest():
    one = report_of(limits=["five_hour"], session={"id": "last"})
    told = {"since": 1.0, "until": time.time(), "sessions": [report_of()] * 104 + [one]}
    told["outages"] = [{"began": 1.0, "ended": 5e3, "cause": "slept", "detail": "\x1b[31m"}]

    shown = Page().ask("report.show", told, seconds=60)

    first = shown["sessions"][0]
    assert first["session"]["id"] == "last"
    assert [as_printed(line) for line in first["lines"]] == list(came_to(one))
    assert (len(shown["sessions"]), shown["hidden"]) == (100, 5)
    [outage] = shown["outages"]
    assert as_printed(outage).startswith(f"Nothing ran {moment(1.0)} to ")
    assert as_printed(outage).isprintable()
