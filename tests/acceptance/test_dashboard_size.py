"""The page with 200 sessions and a log of 100,000 events, in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.scripted_engine import SESSION, ScriptedEngine

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(240),
]

EVENTS = 100_000


def event(seq: int) -> dict[str, Any]:
    return {
        "seq": seq, "at": 1_800_000_000.0 + seq, "kind": "TextSaid", "level": "info",
        "session": "s000", "run": "r", "task": "t", "text": f"Line {seq} of what Claude says",
    }  # fmt: skip


def tail(params: dict[str, Any]) -> list[dict[str, Any]]:
    end = params.get("before") or 1_001
    return [event(n) for n in range(max(1, end - params["count"]), end)]


TASKS = [{"prompt": f"Task {n}", "state": "done", "due": None, "result": ""} for n in range(2_000)]
SAID = {
    "session.list": [{**SESSION, "id": f"s{n:03}", "name": f"session-{n}"} for n in range(200)],
    "session.get": {**SESSION, "id": "s000", "name": "session-0", "tasks": TASKS},
    "events.tail": tail,
}


def a_hundred_thousand(method: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """As soon as somebody follows the session."""
    if method == "events.follow" and "session" in params:
        for seq in range(1_001, 1_001 + EVENTS):
            yield {"event": "TextSaid", "data": event(seq), "subscription": params["session"]}


def worked(browser: Browser) -> float:
    """
    Seconds of a processor that the page's own thread has used; on a busy machine it waits for one
    much longer than it works. The page answers when it has done what it is at.
    """
    found = browser.command("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in found if one["name"] == "TaskDuration")


def least(browser: Browser) -> float:
    """What this browser needs, here and now, only to read as many events."""
    before = worked(browser)
    only_reads = "for (let n = 0; n < arguments[1]; n++) JSON.parse(arguments[0])"
    browser.run(only_reads, json.dumps(event(1)), EVENTS)
    return worked(browser) - before


def test_the_page_stays_quick_and_small(tmp_path: Path):
    engine = ScriptedEngine(SAID, a_hundred_thousand)
    with engine.bridged() as dashboard, browsing(tmp_path / "profile") as browser:
        browser.open(dashboard.link)
        browser.sees("session-199")
        browser.command("Performance.enable", timeDomain="threadTicks")
        unit = least(browser)
        browser.press("session-0")
        began = last = worked(browser)
        longest = 0.0
        while f"Line {EVENTS + 1_000} of" not in browser.run(
            "return document.querySelector('.log')?.lastChild?.innerText ?? ''"
        ):
            assert browser.run("return document.getElementsByTagName('*').length") < 8_000
            now = worked(browser)
            longest, last = max(longest, now - last), now
            assert longest < 60 * unit, f"the page hangs for {longest:.1f} s"
            assert now - began < 600 * unit, f"the page works for {now - began:.1f} s"

        assert browser.run("return document.querySelectorAll('.log li').length") <= 1_000
        newest = browser.run("return document.querySelector('.log').lastChild.innerText")
        assert newest.startswith("2027-01-1"), "on another day a line says on which"
        for _ in range(5):
            before = browser.run("return document.querySelector('.log').firstChild.innerText")
            browser.press("Earlier")
            browser.wait(
                lambda before=before: (
                    before
                    != browser.run("return document.querySelector('.log').firstChild.innerText")
                ),
                "nothing earlier comes",
            )
        assert browser.run("return document.querySelectorAll('.log li').length") <= 1_000
        browser.press("Newest")
        browser.write("#filter", "session-19")
        found = "return document.querySelectorAll('#session-list li:not([hidden])').length"
        assert browser.run(found) == 11
