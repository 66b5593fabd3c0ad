"""What the page tells of a night in which a limit was hit and a person said something."""

import re
from pathlib import Path

import pytest

from tests.acceptance.browser import MISSING, browsing
from tests.acceptance.scripted_engine import SESSION, ScriptedEngine
from tests.acceptance.test_dashboard import dashboard
from tests.acceptance.test_limits import story

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(180),
]


def plain(text: str) -> list[str]:
    """Lines without their times and margins."""
    return [re.sub(r"^(\[[-\d: ]+\])?\s+", "", line) for line in text.splitlines()]


@pytest.mark.claude
def test_a_limit_is_one_entry_and_what_waits_to_be_heard_is_told(install, tmp_path):
    pcc = install(story("{kind: usage_limit, in: 600s}"), subscription=True)
    session = pcc.start("Write both", "--session-name", "shop")
    pcc.wait(session, "RATE_LIMITED")
    pcc.pcc("say", session, "Keep the <b>old</b> names")
    with dashboard(pcc) as (_, link), browsing(tmp_path / "profile") as browser:
        browser.open(link)
        browser.press("shop")
        browser.sees('You said: "Keep the <b>old</b> names" (not heard yet)')
        browser.sees("⏳ Usage limit reached (5-hour); resets")
        printed = re.sub(r"; prevent it with: .*", "", pcc.pcc("logs", session).stdout)
        entries = "return [...document.querySelectorAll('.log .words')].map(one => one.innerText)"
        assert plain("\n".join(browser.run(entries))) == plain(printed)
        browser.press("Report")
        browser.sees("Waits until")
        browser.sees("then goes on by itself: the 5-hour limit")
        assert browser.complaints() == []


WORDS = [
    {"text": f"Words {heard}", "at": 1.0, "heard": heard}
    for heard in ("heard", "given", "waiting", "never")
]
TOLD = {
    "session": {**SESSION, "id": "s1", "name": "shop"}, "tasks": [], "answers": [], "refused": [],
    "problems": [], "files": [], "limits": ["five_hour", "overload", "five_hour"], "budgets": [],
    "checks": 0, "restarts": 2, "handovers": 1, "runs": 1, "allowed": 1, "tokens": 1, "usd": 1.0,
    "snapshots": 0, "words": WORDS,
}  # fmt: skip


def test_the_report_names_limits_and_says_which_words_were_heard(tmp_path: Path):
    engine = ScriptedEngine({"report.show": {"since": 1.0, "until": 2.0, "sessions": [TOLD]}})
    with engine.bridged() as there, browsing(tmp_path / "profile") as browser:
        browser.open(there.link)
        browser.press("Report")
        for line in (
            "Waited for the 5-hour limit 2 times",
            "Waited for a server that is overloaded or fails",
            "Cut off 2 times, and taken over after a restart of the daemon",
            "Handed over to a fresh conversation",
            'You said: "Words heard" (heard)',
            'You said: "Words waiting" (not heard yet)',
            'You said: "Words never" (never heard: its task was over)',
        ):
            browser.sees(f"{line}\n")
        assert "What has changed" not in browser.text
        assert browser.complaints() == []
