"""What the page says of numbers that only some engines tell, in a real browser."""

import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.browser import MISSING, browsing
from tests.acceptance.test_dashboard_size import SESSION, bridge

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(120),
]

PERPETUAL = {
    "id": "p1", "name": "night-shift", "runs": 1, "tasks": [], "spent": {"tokens": 1, "usd": 1.0},
    "perpetual": {"hard_tokens": 120_000, "warn_tokens": 90_000},
    "todo": "2 of 7 done; now: Write the <b>tests</b> \u202e",
}  # fmt: skip
REFUSED = {**PERPETUAL, "id": "c1", "name": "shop", "status": "COMPLETED", "refused": 3}
REFUSED |= {"perpetual": None, "todo": ""}
FAILED = {
    "seq": 1, "at": 1_800_000_000.0, "kind": "ToolFailed", "level": "info", "session": "p1",
    "tool": "Edit", "summary": "a.py",
    "text": "<tool_use_error>File has not been read</tool_use_error>",
}  # fmt: skip
QUESTION = {
    "number": 4, "session": "p1", "type": "question", "severity": "normal", "title": "Which?",
    "context": "", "options": [], "suggestion": "", "packet": {}, "default": "it waits",
    "deadline": None, "raised_at": 1.0, "settled_at": None, "project": "/p",
    "raw": {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]},
}  # fmt: skip


def answer(method: str, params: dict[str, Any]) -> Any:
    resets = time.time() + 3600
    windows = [
        {"window": "five_hour", "used": 0.34, "resets_at": resets},
        {"window": "seven_day", "used": 0.121, "resets_at": resets},
        {"window": "seven_day_opus", "used": 0.5, "resets_at": resets},
    ]
    match method:
        case "session.list":
            return [{**SESSION, **one} for one in (PERPETUAL, REFUSED)]
        case "session.get":
            return {**SESSION, **(REFUSED if params["session"] == "c1" else PERPETUAL)}
        case "events.tail":
            return [FAILED] if params.get("session") == "p1" else []
        case "events.follow":
            return {"subscription": params.get("session", "all")}
        case "budget.show":
            return {"budgets": [], "today": {"tokens": 0, "usd": 0.0}, "windows": windows}
        case "report.show":
            return {"since": 1.0, "until": 2.0, "sessions": []}
        case "escalation.list":
            return [QUESTION]
        case "escalation.get":
            return QUESTION
        case "escalation.count":
            return 1
    return []


def play(end: socket.socket) -> None:
    with suppress(OSError, ValueError), end, end.makefile("rwb") as talk:
        for line in talk:
            asked = json.loads(line)
            told = answer(asked["method"], asked["params"])
            talk.write(json.dumps({"type": "res", "id": asked["id"], "result": told}).encode())
            talk.write(b"\n")
            talk.flush()


def test_refusals_windows_a_handovers_bound_and_claudes_list_are_told(tmp_path: Path):
    with bridge(play) as dashboard, browsing(tmp_path / "profile") as browser:
        browser.open(dashboard.link)
        browser.sees("Completed, 3 refused")
        browser.sees("context 61K of 120K")
        browser.sees("context 61K of 200K")
        browser.sees("5-hour window 34% used · week 12% used · week of Opus 50% used")
        browser.press("night-shift")
        browser.sees("Claude's list: 2 of 7 done; now: Write the <b>tests</b> \ufffd")
        browser.sees("until it hands over")
        browser.sees("did not work: File has not been read")
        assert "tool_use_error" not in browser.text
        browser.press("shop")
        browser.sees("pcc decisions --session c1 --verdict deny")
        browser.press("Report")
        browser.sees("Subscription: 5-hour window 34% used, resets ")
        browser.press("Waiting")
        browser.press("Which?")
        browser.press("Answer")
        browser.sees("Choose an option, or write an answer of your own.")
        assert "number" not in browser.text
        assert browser.complaints() == []
