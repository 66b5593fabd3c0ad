"""The dashboard, in a real browser: what a person sees, answers and is spared."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from perpetualcc.claude import processes
from perpetualcc.domain.ids import RunId
from perpetualcc.gateway.protocol import ErrorCode
from tests.acceptance.browser import MISSING, Browser, browsing
from tests.acceptance.held_back import HeldBack
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
      - question: "Which database should {project}/db.py use?"
        header: Database
        options: [PostgreSQL, SQLite, MySQL]
  - say: Then I will use it.
    expect: SQLite
    tools: [Bash: {command: "git push --force origin main"}]
  - say: All is said and done.
"""


@contextmanager
def dashboard(
    pcc: Supervised, *words: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and its first link."""
    command = pcc.command("dashboard", *(words or ["--no-browser"]))
    process = subprocess.Popen(
        command,
        env={**pcc.environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in said


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

        browser.press("Report")
        browser.sees("? Waiting")
        browser.press("shop")
        browser.sees("<b>One</b> thing first <img")
        browser.sees('QUESTION from Claude: "Which database should db.py use?"')
        browser.press("Waiting")
        browser.press("Which database should db.py use?")
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


WORKS = """
scenes:
  - when: And the second thing
    steps: [The second thing is done.]
  - steps:
      - say: I look around.
        takes: 3s
        tools: [Bash: {command: ls}]
        usage: {output: 20000}
      - say: The first thing is done.
        takes: 1s
"""


@in_a_browser
def test_work_is_stopped_added_and_taken_up_again_in_the_browser(install, servers, browser):
    pcc = install(WORKS, server_of=HeldBack)
    pcc.pcc(
        "start", str(pcc.project), "--task", "Tidy up", "--at", "tomorrow at 9am",
        "--session-name", "night", "--detach",
    )  # fmt: skip
    session = pcc.start("Build the shop", "--session-name", "shop")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.sees("Begins")
        browser.sees("09:00: Tidy up")
        browser.press("shop")
        browser.write("#prompt", "No catalogue yet, please")
        browser.press("Say to Claude")
        browser.sees("It reaches Claude at its next step.")
        browser.sees('You said: "No catalogue yet, please"')
        browser.press("Pause")
        servers[0].go.set()
        pcc.wait(session, "PAUSED")
        browser.sees("Paused")
        pcc.pcc("add", session, "And the second thing\n\nIn the catalogue,\nnot the shop")
        browser.sees("(queued)\nIn the catalogue, not the shop")
        browser.write("#prompt", "And a third thing")
        browser.press("Add")
        browser.sees("And a third thing")
        browser.press("Resume")

        pcc.wait(session, "COMPLETED")
        browser.sees("The second thing is done.")
        cost = f"{pcc.status(session)['spent']['usd']:.2f}"
        assert cost != "0.00"
        heard = [json.dumps(one.messages).count("No catalogue yet") for one in servers[0].requests]
        assert max(heard) == 1
        browser.wait(lambda: f"· ${cost} ·" in browser.text, "the list has no cost")
        detail = "return document.querySelector('#session .detail')?.innerText ?? ''"
        browser.wait(lambda: "\n✓ Build the shop" in browser.run(detail), "its lines are one")
        assert browser.complaints() == []


@in_a_browser
def test_a_task_is_added_and_a_question_answered_by_the_keyboard_alone(install, browser):
    pcc = install(ASKS)
    session = pcc.start("Build the shop", "--session-name", "shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.sees("Waiting")
        browser.sees("Build the shop")
        browser.tab_to("shop")
        browser.key("Enter")
        browser.sees("It waits for you")
        browser.tab_to("TEXTAREA")
        browser.command("Input.insertText", text="And a basket")
        browser.tab_to("BUTTON Add")
        browser.key("Enter")
        browser.sees("And a basket\n(queued)")

        browser.tab_to("It waits for you")
        browser.key("Enter")
        browser.sees("SQLite")
        assert browser.run("return location.hash") == "#/waiting/1"
        browser.tab_to("INPUT")
        browser.key("ArrowDown")
        browser.tab_to("BUTTON Answer")
        browser.key("Enter")
        browser.wait(lambda: browser.focus == "BUTTON Put away", "the focus is lost")
        browser.sees("Answered: SQLite")
        browser.key("Enter")
        assert not browser.focus.startswith("BODY")
        assert browser.complaints() == []
    (answered,) = pcc.events(session, "QuestionAnswered")
    assert answered["answers"] == {f"Which database should {pcc.project}/db.py use?": "SQLite"}


@in_a_browser
def test_what_begins_under_a_condition_and_an_address_that_was_cut_off(install, browser):
    pcc = install("steps: [Sorted.]")
    words = ("--when", "ls inbox/*.md", "--every", "10 minutes")
    said = pcc.pcc("start", str(pcc.project), "--task", "Sort the inbox", *words).stdout
    given_up = pcc.pcc("start", str(pcc.project), "--task", "Not this", "--at", "23:59").stdout
    pcc.pcc("stop", given_up.split()[2], "Not this")
    pcc.pcc("add", said.split()[2], "Print it", "--at", "in 9 hours")
    pcc.pcc("add", said.split()[2], "Bind it", "--after", "Print it")
    pcc.pcc("stop", said.split()[2], "Print it")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("sort-inbox")
        browser.sees("begins when it succeeds: ls inbox/*.md · every 10 minutes")
        browser.sees("Begins when it succeeds: ls inbox/*.md\n")
        browser.sees("■\nBind it")

        browser.run("location.hash = '#/session/%E0%A4'")
        browser.sees("No session matches '%E0%A4'")
        assert not browser.run("return document.querySelector('#session .row.work').innerText")

        browser.run("location.hash = '#/report'")
        browser.wait(
            lambda: re.search(r"■ [\d:]+ +Not this", browser.text), "it is not said to be stopped"
        )
        assert browser.complaints() == []
    assert pcc.look(said.split()[2])["status"] == "IDLE"


SEVERAL = """
steps:
  - ask:
      - {question: "Which database?", header: Database, options: [PostgreSQL, SQLite]}
      - question: What belongs into it?
        header: Scope
        multi_select: true
        options: [Search, Basket, "Invoices, PDF"]
      - question: Which name?
        header: Name
        options: [{label: Shop, preview: "+------+\\n| Shop |"}, Store]
  - say: Fine.
    expect: Bazaar
"""


@in_a_browser
def test_several_questions_are_answered_at_once_and_nothing_is_chosen_beforehand(install, browser):
    pcc = install(SEVERAL)
    session = pcc.start("Build the shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("Waiting")
        browser.press("Which database?")
        browser.sees("3/3: Which name?")
        browser.sees("+------+\n| Shop |")
        assert browser.run("return document.querySelectorAll('#waiting :checked').length") == 0

        browser.run("document.body.dataset.scope = 'look'")
        assert "PostgreSQL" in browser.text
        assert "answer of your own" not in browser.text
        browser.run("document.body.dataset.scope = 'work'")

        browser.press("Answer")
        browser.sees("Choose an option, or write an answer of your own.")
        for choice in ("SQLite", "Search", "Invoices, PDF"):
            browser.press(choice)
        browser.write("[name=own2]", "Bazaar")
        browser.press("Answer")
        browser.sees("Answered: SQLite; Search, Invoices, PDF; Bazaar")

        pcc.wait(session, "COMPLETED")


@in_a_browser
def test_whoever_reads_is_told_that_somebody_else_was_first(install, browser):
    pcc = install(ASKS.partition("  - say: Then")[0])
    session = pcc.start("Build the shop", "--session-name", "shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("Waiting")
        browser.press("Which database should db.py use?")
        browser.sees("MySQL")
        browser.write("[name=own0]", "Rather Redis")

        pcc.pcc("respond", "1", "MySQL")

        browser.sees("was first and answered: MySQL")
        browser.sees("You had typed: Rather Redis")
        browser.run("location.hash = '#/waiting/1'")
        browser.sees("#1 does not wait any more, settled by")
        browser.run("location.hash = '#/waiting/99'")
        browser.sees("No request 99 is waiting for you.")
        browser.run("location.hash = '#/waiting'")
        browser.wait(lambda: "No request 99" not in browser.text, "the word stays")


@in_a_browser
def test_a_card_is_read_in_its_order_and_stays_in_its_place(install, browser):
    pcc = install(ASKS.partition("  - say: Then")[0])
    pcc.wait(pcc.start("Build the shop", "--session-name", "سلة"), "WAITING_INPUT")
    pcc.wait(pcc.start("Build the mill", "--session-name", "mill"), "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("Waiting")
        browser.sees("#2 · mill")
        gap = """
          const [name, age] = [...document.querySelectorAll('#waiting .line .quiet > *')].slice(-2);
          return age.getBoundingClientRect().left - name.getBoundingClientRect().right;
        """
        assert browser.run(gap) > 0

        first = "return document.querySelector('#waiting .card').innerText"
        browser.press(browser.run(first).splitlines()[1])
        browser.press("SQLite")
        browser.press("Answer")
        browser.wait(lambda: browser.title == "(1) PerpetualCC", "it still waits")
        assert "Answered: SQLite" in browser.run(first)


@in_a_browser
def test_a_number_of_ones_own_is_an_answer_and_no_option(install, browser):
    question = "question: How many workers?\n        header: Workers\n        options: ['4', '8']\n"
    pcc = install(f"steps:\n  - say: First\n    ask:\n      - {question}  - say: Done.\n")
    session = pcc.start("Build the shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link):
        browser.open(link)
        browser.press("Waiting")
        browser.press("How many workers?")
        browser.sees("Or an answer of your own")
        browser.write("[name=own0]", "2")
        browser.press("Answer")
        browser.sees("Answered: 2")


@in_a_browser
def test_the_page_comes_back_by_itself_and_never_undoes_a_stop(install, browser):
    pcc = install("steps: [Done.]")
    pcc.wait(pcc.start("Anything", "--session-name", "night-shift"))
    with dashboard(pcc) as (process, link):
        browser.open(link)
        browser.sees("night-shift")
        browser.sees("Live")

        pcc.kill_engine()
        wait_until(lambda: pcc.engine is not None, within=60)
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
        browser.press("Waiting")
        assert "Nothing waits" not in browser.text


@in_a_browser
def test_a_page_that_hears_nothing_any_more_does_not_say_that_it_is_live(install, browser):
    pcc = install("steps: [Done.]")
    pcc.wait(pcc.start("Anything", "--session-name", "night-shift"))
    sooner = "const real = setTimeout; window.setTimeout = (f, ms) => real(f, Math.min(ms, 5000));"
    browser.command("Page.addScriptToEvaluateOnNewDocument", source=sooner)
    with dashboard(pcc) as (process, link):
        browser.open(link)
        browser.press("night-shift")
        browser.sees("Add a task")
        browser.sees("Live")

        process.send_signal(signal.SIGSTOP)
        try:
            browser.write("#prompt", "And a basket")
            browser.press("Add")
            browser.sees("the connection was lost; trying again")
            browser.press("Add")
            browser.sees("Not connected; nothing was sent")
        finally:
            process.send_signal(signal.SIGCONT)
        browser.sees("Live")
        browser.wait(lambda: "Not connected" not in browser.text, "it is still said")


@contextmanager
def talk(link: str) -> Iterator[ClientConnection]:
    """The page's own way in, without a page."""
    own, _, code = link.partition("/#")
    address = f"{own.replace('http', 'ws')}/engine"
    with connect(address, origin=own, compression=None, proxy=None) as page:
        assert json.loads(page.recv(10))["type"] == "challenge"
        page.send(json.dumps({"code": code}))
        assert json.loads(page.recv(10))["type"] == "welcome"
        yield page


def ask(page: ClientConnection, method: str, **params: object) -> Any:
    """The answer; what is pushed meanwhile is passed over."""
    page.send(json.dumps({"type": "req", "id": method, "method": method, "params": params}))
    while (frame := json.loads(page.recv(20))).get("id") != method:
        pass
    return frame.get("result", frame.get("error"))


def test_a_client_of_the_page_s_protocol_answers_and_can_make_no_rule(install):
    pcc = install(ASKS.partition("    expect")[0])
    session = pcc.start("Build the shop")
    pcc.wait(session, "WAITING_INPUT")
    with dashboard(pcc) as (_, link), talk(link) as page:
        [waiting] = ask(page, "escalation.list")
        refused = ask(page, "escalation.respond", number=1, text="SQLite", always=True)
        added = ask(page, "rule.add", effect="allow", subject="command", pattern="*")
        settled = ask(page, "escalation.respond", number=1, text="SQLite")

        assert waiting["number"] == 1
        assert refused["code"] == added["code"] == ErrorCode.PERMISSION_DENIED
        assert settled["answer"] == "SQLite"
        pcc.wait(session, "COMPLETED")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_its_terminal_does_and_an_open_page_is_told(install, number):
    pcc = install("steps: [Done.]")
    with dashboard(pcc) as (process, link), talk(link) as page:
        process.send_signal(number)

        with pytest.raises(ConnectionClosed):
            page.recv(10)
        assert process.wait(10) == 0


def test_a_port_that_is_taken_is_said_and_an_agent_s_run_opens_none(install):
    pcc = install("steps: [Done.]")
    with dashboard(pcc) as (_, link):
        port = link.partition("/#")[0].rpartition(":")[2]
        taken = pcc.pcc("dashboard", "--no-browser", "--port", port, check=False)
        assert taken.returncode == 1
        assert f"Port {port} cannot be used" in taken.stderr
    environment = {**pcc.environment, **processes.mark(pcc.locations.data, RunId("r-1"))}
    agents = subprocess.run(
        pcc.command("dashboard", "--no-browser"),
        env=environment, capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert agents.returncode == 1
    assert "Only a person may open the dashboard" in agents.stderr


def test_a_browser_is_opened_by_way_of_a_private_file_and_holds_up_nothing(install, tmp_path):
    pcc = install("steps: [Done.]")
    opened, program = tmp_path / "opened", tmp_path / "browser"
    program.write_text(
        f'#!/bin/sh\necho $$ "$@" > {opened}.part; mv {opened}.part {opened}\n'
        "exec sleep 60 >&- 2>&-\n"
    )
    program.chmod(0o755)
    with dashboard(pcc, "--port", str(free_port()), DISPLAY=":9", BROWSER=str(program)) as (
        _,
        link,
    ):
        wait_until(opened.exists)
        browser, address = opened.read_text().split()
        door = Path(address.removeprefix("file://"))

        assert link.partition("#")[2] not in opened.read_text()
        assert f"url={link}" in door.read_text()
        assert door.stat().st_mode & 0o777 == 0o600
        with talk(link):
            wait_until(lambda: not door.exists())
    os.kill(int(browser), signal.SIGKILL)  # it is still there


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
