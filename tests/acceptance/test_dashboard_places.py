"""Where the page leads: to the top of what was opened, back to where one was, by keyboard too."""

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.scripted_engine import ScriptedEngine
from tests.acceptance.test_dashboard_size import SAID, event

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(120),
]

FIRST = {**event(1), "kind": "SessionCreated"}


def tail(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Each answer holds one event, as where a long text fills it."""
    seq = (params.get("before") or 5) - 1
    return [event(seq) if seq > 1 else FIRST] if seq > 0 else []


def engine() -> ScriptedEngine:
    shown = dict(SAID["session.get"])
    return ScriptedEngine(
        {
            **SAID,
            "events.tail": tail,
            "session.get": shown,
            "session.pause": lambda _: shown.update(status="PAUSED"),
        }
    )


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with engine().bridged() as dashboard, browsing(tmp_path / "profile") as found:
        found.size(390, 844)
        found.open(dashboard.link)
        found.sees("session-199")
        yield found


def test_what_is_opened_from_far_down_a_list_is_shown_from_its_beginning(browser):
    browser.run("window.scrollTo(0, 5000)")

    browser.press("session-60")
    browser.sees("Add a task")
    at_the_top = browser.run("return scrollY")
    browser.run("history.back()")
    browser.wait(lambda: browser.run("return scrollY") == 5000, "the place in the list is lost")
    browser.press("Report")
    browser.sees("nothing happened")

    assert at_the_top == 0
    assert browser.run("return scrollY") == 0
    assert browser.complaints() == []


def test_the_keyboard_goes_on_in_what_was_opened_and_back_where_it_was(browser):
    browser.size(1400, 900)
    browser.run("document.querySelector('a[href=\"#/session/s003\"]').focus()")

    browser.key("Enter")
    browser.wait(lambda: browser.focus.startswith("SECTION"), "the focus stays in the list")
    browser.run("document.querySelector('.skip').focus()")
    browser.key("Enter")
    in_it, address = browser.focus, browser.run("return location.hash")
    browser.run("history.back()")
    browser.wait(lambda: "session-3" in browser.focus, "the focus is lost on the way back")

    assert in_it.startswith("SECTION")
    assert address == "#/session/s003"
    assert browser.focus.startswith("A ")


def test_what_is_before_an_answer_that_one_text_filled_can_be_reached(browser):
    browser.press("session-0")
    browser.sees("Line 4 of")

    for seq in (3, 2):
        browser.press("Earlier")
        browser.sees(f"Line {seq} of")
    browser.press("Earlier")

    browser.wait(lambda: "Earlier" not in browser.text, "there is nothing before")


def test_a_button_that_is_pressed_and_goes_leaves_the_keyboard_at_the_one_that_comes(browser):
    browser.press("session-0")
    browser.sees("Pause")
    browser.tab_to("BUTTON Pause")

    browser.key("Enter")

    browser.wait(lambda: browser.focus == "BUTTON Resume", "the focus is lost")


def test_whoever_comes_back_to_a_connection_that_died_meanwhile_is_soon_connected_again(tmp_path):
    over, asleep = Event(), Event()
    found = ScriptedEngine(
        {**SAID, "escalation.count": lambda _: (asleep.is_set() and not over.wait(60)) or 0}
    )
    with found.bridged() as there, browsing(tmp_path / "other") as browser:
        browser.open(there.link)
        browser.sees("Live")
        asleep.set()

        browser.run("window.dispatchEvent(new Event('online'))")
        browser.wait(lambda: "trying again" in browser.text, "it is not noticed", within=20)
        over.set()
        browser.sees("Live")

        assert browser.complaints() == []


DAYS_LATER = """
  const Real = Date, ahead = arguments[0] * 86400e3;
  window.Date = class extends Real {
    constructor(...given) { super(...(given.length ? given : [Real.now() + ahead])); }
    static now() { return Real.now() + ahead; }
  };
  document.dispatchEvent(new Event("visibilitychange"));
  return document.querySelector(".log time").innerText;
"""


def test_what_has_an_hour_today_has_a_date_tomorrow(browser):
    browser.press("session-0")
    browser.sees("Line 4 of")
    browser.run("document.querySelector('.log time').dataset.at = Date.now() / 1000")

    today, tomorrow = browser.run(DAYS_LATER, 0), browser.run(DAYS_LATER, 1)

    assert re.fullmatch(r"\d\d:\d\d:\d\d", today)
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d {today}", tomorrow)
