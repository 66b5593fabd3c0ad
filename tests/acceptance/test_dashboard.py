"""The dashboard, in a real browser: what a person sees, answers and is spared."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.supervised import Supervised, wait_until

pytestmark = [
    pytest.mark.claude,
    pytest.mark.timeout(180),
]
in_a_browser = pytest.mark.skipif(
    MISSING, reason="there is no browser: apt-get install chromium chromium-driver"
)

ASKS = """
steps:
  - say: "<b>One</b> thing first <img src=x onerror=document.title='owned'>"
    ask:
      - question: Which database should I use?
        header: Database
        options: [PostgreSQL, SQLite, MySQL]
  - say: Then I will use it.
    expect: SQLite
    tools: [Bash: {command: "git push --force origin main"}]
  - say: All is said and done.
"""


@contextmanager
def dashboard(pcc: Supervised, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and its first link."""
    command = pcc.command("dashboard", "--no-browser", *words)
    process = subprocess.Popen(
        command, env=pcc.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert (process.returncode, said.replace("Port 8420 is taken; this is another one.\n", "")) == (
        0,
        "",
    )


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with browsing(tmp_path / "profile") as found:
        yield found


@in_a_browser
def test_a_question_and_a_call_are_decided_in_the_browser(install, browser):
    pcc = install(ASKS)
    session = pcc.start("Build the shop", "--session-name", "shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.sees("shop")
        assert browser.run("return location.hash") == "#/sessions"
        browser.wait(lambda: browser.title == "(1) PerpetualCC", "the title does not count")

        browser.press("shop")
        browser.sees("<b>One</b> thing first <img")
        browser.press("Waiting")
        browser.press("Which database should I use?")
        browser.press("SQLite")
        browser.press("Answer")
        browser.sees("Answered: SQLite")
        browser.press("git push --force")
        browser.sees("If nobody answers")
        browser.write("#waiting textarea", "Not on a Friday")
        browser.press("Deny")
        browser.sees("Not on a Friday")

        pcc.wait(session, "COMPLETED")
        browser.press("Report")
        browser.sees("1 task done")
        browser.wait(lambda: browser.title == "PerpetualCC", "something still waits")
        assert browser.complaints() == []
    settled = [event["decided_by"] for event in pcc.events(session, "EscalationSettled")]
    assert len(settled) == 2
    assert "withdrawn" not in settled


@in_a_browser
def test_whoever_reads_is_told_that_somebody_else_was_first(install, browser):
    pcc = install(ASKS.partition("  - say: Then")[0])
    session = pcc.start("Build the shop", "--session-name", "shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(f"{link}")
        browser.press("Waiting")
        browser.press("Which database should I use?")
        browser.sees("MySQL")

        pcc.pcc("respond", "1", "MySQL")

        browser.sees("was first and answered: MySQL")


@in_a_browser
def test_the_page_comes_back_by_itself_and_never_undoes_a_stop(install, browser):
    pcc = install("steps: [Done.]")
    pcc.wait(pcc.start("Anything", "--session-name", "night-shift"))
    with dashboard(pcc) as (process, link):
        browser.open(link)
        browser.sees("night-shift")
        browser.sees("Live")

        pcc.kill_engine()
        wait_until(lambda: pcc.engine is not None, within=20)
        browser.sees("Live")
        pcc.pcc("daemon", "stop", "--now")
        browser.sees("The daemon does not run")
        time.sleep(2)
        assert pcc.supervisor is None
        pcc.pcc("daemon", "start")
        browser.wait(lambda: "Live" in browser.text, "it does not come back")
        browser.run("location.reload()")
        browser.sees("night-shift")

        assert process.stdout is not None
        process.stdout.readline()
        fresh = process.stdout.readline()
        assert re.search(r"#[\w-]{43}$", fresh.strip())
        assert link not in fresh
        browser.run("sessionStorage.clear()")
        browser.open("about:blank")
        browser.open(link)
        browser.sees("This link was used")
