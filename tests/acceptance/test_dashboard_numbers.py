"""What the page says of numbers that only some engines tell, in a real browser."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.browser import MISSING, browsing
from tests.acceptance.scripted_engine import SESSION, ScriptedEngine

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
    "task": "t", "run": "r",
    "tool": "Edit", "summary": "a.py",
    "text": "<tool_use_error>File has not been read</tool_use_error>",
}  # fmt: skip
QUESTION = {
    "number": 4, "session": "p1", "type": "question", "severity": "normal", "title": "Which?",
    "context": "", "options": [], "suggestion": "", "packet": {}, "default": "it waits",
    "deadline": None, "raised_at": 1.0, "settled_at": None, "project": "/p",
    "raw": {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]},
}  # fmt: skip


def windows(_: dict[str, Any]) -> dict[str, Any]:
    resets = time.time() + 3600
    used = {"five_hour": 0.34, "seven_day": 0.121, "seven_day_opus": 0.5}
    told = [{"window": name, "used": much, "resets_at": resets} for name, much in used.items()]
    return {"budgets": [], "today": {"tokens": 0, "usd": 0.0}, "windows": told}


SAID = {
    "session.list": [{**SESSION, **one} for one in (PERPETUAL, REFUSED)],
    "session.get": lambda params: (
        {**SESSION, **(REFUSED if params["session"] == "c1" else PERPETUAL)}
    ),
    "events.tail": lambda params: [FAILED] if params.get("session") == "p1" else [],
    "budget.show": windows,
    "escalation.list": [QUESTION],
    "escalation.get": QUESTION,
    "escalation.count": 1,
}


def test_refusals_windows_a_handovers_bound_and_claudes_list_are_told(tmp_path: Path):
    with ScriptedEngine(SAID).bridged() as dashboard, browsing(tmp_path / "profile") as browser:
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
