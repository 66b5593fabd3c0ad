"""What the page tells of a night in which a limit was hit and a person said something."""

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.browser import MISSING, browsing
from tests.acceptance.test_dashboard import dashboard
from tests.acceptance.test_dashboard_size import SESSION, bridge
from tests.acceptance.test_limits import story

pytestmark = [
    pytest.mark.skipif(MISSING, reason="there is no browser: apt-get install chromium"),
    pytest.mark.timeout(180),
]


@pytest.mark.claude
def test_a_limit_is_one_entry_and_what_waits_to_be_heard_is_told(install, tmp_path):
    pcc = install(story("{kind: usage_limit, in: 600s}"), subscription=True)
    session = pcc.start("Write both", "--session-name", "shop")
    pcc.wait(session, "RATE_LIMITED")
    pcc.pcc("say", session, "Keep the <b>old</b> names")
    with dashboard(pcc) as (_, link), browsing(tmp_path / "profile") as browser:
        browser.open(link)
        browser.press("shop")
        browser.sees("You said: “Keep the <b>old</b> names” (not heard yet)")
        browser.sees("◔ Stopped: the 5-hour limit; resets")
        entries = browser.run(
            "return [...document.querySelectorAll('.log li')].map(one => one.innerText)"
        )
        told = [one for one in entries if "limit" in one or "by itself" in one]
        assert len(told) == 1, told
        assert "Goes on by itself at" in told[0]
        browser.press("Report")
        browser.sees("Stopped: the 5-hour limit")
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


def play(end: socket.socket) -> None:
    said: dict[str, Any] = {
        "report.show": {"since": 1.0, "until": 2.0, "sessions": [TOLD]},
        "budget.show": {"budgets": [], "today": {"tokens": 0, "usd": 0.0}},
        "events.follow": {"subscription": "s"},
        "escalation.count": 0,
    }
    with suppress(OSError, ValueError), end, end.makefile("rwb") as talk:
        for line in talk:
            asked = json.loads(line)
            frame = {"type": "res", "id": asked["id"], "result": said.get(asked["method"], [])}
            talk.write(json.dumps(frame).encode() + b"\n")
            talk.flush()


def test_the_report_names_limits_and_says_which_words_were_heard(tmp_path: Path):
    with bridge(play) as there, browsing(tmp_path / "profile") as browser:
        browser.open(there.link)
        browser.press("Report")
        browser.sees("Stopped: the 5-hour limit (2 times)")
        browser.sees("Stopped: the server is overloaded or fails\n")
        browser.sees("Cut off, and taken over after a restart of the daemon (2 times)")
        browser.sees("Handed over to a fresh conversation\n")
        browser.sees("You said: Words heard\nheard")
        browser.sees("You said: Words waiting\nnot heard yet")
        browser.sees("You said: Words never\nnever heard: its task was over")
        assert "What has changed" not in browser.text
        assert browser.complaints() == []
