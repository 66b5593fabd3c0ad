"""Waiting for a person, on the real Claude Code: held, as a row, across restarts, answered once."""

import json
import os
import pty
import pwd
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.acceptance.held_back import HeldBack
from tests.acceptance.receivers import Desktop, Mailbox, Webhook
from tests.acceptance.supervised import WAITS, Supervised, wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

QUESTION = """
steps:
  - say: I need to know one thing.
    ask:
      question: Which database should the notes live in?
      header: Database
      options:
        - {label: SQLite, description: One file}
        - {label: PostgreSQL, description: A server}
  - tools:
      - Write: {file_path: "{project}/decided.md", content: "decided"}
    expect: PostgreSQL
  - say: The decision is written down.
"""


def configure(pcc, text: str) -> None:
    config = pcc.locations.data.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


def the_one_that_waits(pcc):
    wait_until(lambda: pcc.ask("escalation.list"), within=60)
    [waiting] = pcc.json("pending")
    return waiting


def refused(pcc, *words: str) -> str:
    done = pcc.pcc(*words, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def assert_the_answer_is_on_record_once(pcc, session: str) -> None:
    """In `pcc decisions` and in `pcc status`, and counted there."""
    asked = "Which database should the notes live in?"
    listed = [one for one in pcc.json("decisions") if one["verdict"] == "answer"]
    assert [(one["decided_by"], one["summary"]) for one in listed] == [
        ("person", f"{asked} → PostgreSQL")
    ]
    [answer] = pcc.json("status", session, "--show-decisions")["answers"]
    assert (answer["answers"], answer["decided_by"]) == ({asked: "PostgreSQL"}, "person")
    assert "Questions Answered: 1 (0 auto, 1 human)" in pcc.pcc("status", session).stdout


def waits_without_a_process(pcc, session):
    pcc.wait(session, "WAITING_INPUT")
    wait_until(lambda: not pcc.claudes(), within=60)
    for _ in range(20):
        assert not pcc.claudes(), "it waits without a process"
        time.sleep(0.1)


def test_a_question_waits_as_a_row_and_its_answer_resumes_the_conversation(
    install, tmp_path, monkeypatch
):
    desktop, mailbox, webhook = Desktop(tmp_path / "desktop"), Mailbox(), Webhook()
    monkeypatch.setenv("PATH", desktop.search_path())
    monkeypatch.setenv("OUR_WEBHOOK", webhook.url)
    pcc = install(QUESTION)
    configure(
        pcc,
        "[human]\nhold_seconds = 1\n[notifications]\nretry_seconds = 0.5\n"
        f'urls = ["{mailbox.url}", "env:OUR_WEBHOOK"]\n',
    )
    with mailbox.listening(), webhook.listening():
        session = pcc.start("Add a place to store notes")
        pcc.wait(session, "WAITING_INPUT")
        wait_until(lambda: not pcc.claudes())
        wait_until(lambda: webhook.got and mailbox.mails and desktop.shown, within=60)
        pcc.kill_both()
        waiting = the_one_that_waits(pcc)
        number = str(waiting["number"])
        assert waiting["title"] == "Which database should the notes live in?"
        assert pcc.status(session)["status"] == "WAITING_INPUT"
        assert "[2] PostgreSQL - A server" in pcc.pcc("pending", number).stdout
        assert "There is no option 7" in refused(pcc, "respond", number, "7")
        assert "cannot be approved" in refused(pcc, "respond", number, "--approve")

        pcc.pcc("respond", number, "2")

        assert pcc.wait(session)["status"] == "COMPLETED"
        wait_until(lambda: len(webhook.got) == len(mailbox.mails) == 2, within=60)
        wait_until(lambda: {one["state"] for one in notices(pcc)} == {"sent"}, within=60)
    assert (pcc.project / "decided.md").exists()
    assert_the_answer_is_on_record_once(pcc, session)
    assert pcc.json("pending") == []
    assert "settled at" in refused(pcc, "respond", number, "SQLite")
    runs = pcc.events(session, "RunStarted")
    assert [run["resumed"] for run in runs] == [False, True]
    # Ids leave this machine, the text stays on it.
    assert f'pcc respond {number} 1 (or 2, or "…")' in webhook.bodies[0]
    assert session in webhook.bodies[0]
    assert "database" not in " ".join(webhook.bodies)
    assert "Which database" in desktop.shown[0][-1]
    assert mailbox.mails[1]["Subject"] == f"PerpetualCC: {session} is done"
    assert len(pcc.json("notifications")) == 6


def asked_and_told(install, webhook: Webhook) -> tuple[Supervised, str, str]:
    """A session, and the number of a question of its that a person has heard of."""
    pcc = install(QUESTION)
    configure(pcc, f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n')
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])
    wait_until(lambda: webhook.got, within=60)
    return pcc, session, number


def test_a_question_whose_engine_dies_waits_as_a_row_at_once(install):
    webhook = Webhook()
    with webhook.listening():
        pcc, session, number = asked_and_told(install, webhook)
        assert pcc.claudes(), "Claude is held"

        pcc.kill_engine()

        waits_without_a_process(pcc, session)
        assert f"pcc respond {number}" in pcc.pcc("status", session).stdout
        pcc.pcc("respond", number, "2")
        assert pcc.wait(session)["status"] == "COMPLETED"
        wait_until(lambda: len(webhook.got) == 2, within=60)
    assert (pcc.project / "decided.md").exists()
    assert [run["resumed"] for run in pcc.events(session, "RunStarted")] == [False, True]
    assert len(pcc.events(session, "EscalationRaised")) == 1
    assert len(pcc.events(session, "QuestionAsked")) == 1
    assert_the_answer_is_on_record_once(pcc, session)
    assert f'pcc respond {number} 1 (or 2, or "…")' in webhook.bodies[0]
    assert webhook.got[1]["title"] == f"PerpetualCC: {session} is done"


def test_a_question_whose_claude_dies_alone_stays_and_its_answer_resumes_the_talk(install):
    """The engine lives; only the process that asked is gone, as after an out-of-memory kill."""
    webhook = Webhook()
    with webhook.listening():
        pcc, session, number = asked_and_told(install, webhook)
        engine, held = pcc.engine, pcc.claudes()
        assert held, "Claude is held"

        for pid in held:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        waits_without_a_process(pcc, session)
        assert pcc.engine == engine, "the engine lives on"
        assert [str(one["number"]) for one in pcc.json("pending")] == [number]
        assert f"pcc respond {number}" in pcc.pcc("status", session).stdout
        pcc.pcc("respond", number, "2")
        assert pcc.wait(session)["status"] == "COMPLETED"
        wait_until(lambda: len(webhook.got) == 2, within=60)
    assert (pcc.project / "decided.md").exists()
    assert [run["resumed"] for run in pcc.events(session, "RunStarted")] == [False, True]
    assert len(pcc.events(session, "EscalationRaised")) == 1
    # A call that was cut off is missing from the transcript, so that the scripted model may repeat
    # it: the answer that is there is given, and no person is asked again.
    assert_the_answer_is_on_record_once(pcc, session)
    assert pcc.json("pending") == []


def test_two_people_answer_at_once_and_one_is_told(install):
    pcc = install(QUESTION)
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])

    answers = [
        subprocess.Popen(
            pcc.command("respond", number, "PostgreSQL"),
            env=pcc.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [one.communicate(timeout=20) for one in answers]

    assert sorted(one.returncode for one in answers) == [0, 1]
    [told] = [text for _, err in said if (text := err.replace(WAITS, ""))]
    assert "was settled at" in told
    assert "your answer was not used" in told
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert len(pcc.events(session, "RunStarted")) == 1, "the held run took the answer"
    assert_the_answer_is_on_record_once(pcc, session)


def test_an_answer_given_while_the_engine_is_dead_is_taken_once(install):
    pcc = install(QUESTION)
    session = pcc.start("Add a place to store notes")
    number = the_one_that_waits(pcc)["number"]

    # The run that is held for the answer dies with its engine.
    pcc.kill_engine()
    pcc.pcc("respond", str(number), "PostgreSQL")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert len(pcc.events(session, "EscalationRaised")) == 1
    assert len(pcc.events(session, "EscalationSettled")) == 1
    assert_the_answer_is_on_record_once(pcc, session)
    assert (pcc.project / "decided.md").exists()


DANGER = """
steps:
  - tools: [Bash: {command: "rm -rf build"}]
  - tools: [Write: {file_path: "{project}/a.txt", content: "x"}]
  - say: Finished.
"""


def test_a_call_that_nobody_was_there_to_approve_is_listed_for_review(install):
    pcc = install(DANGER)
    session = pcc.start("Tidy up")

    assert pcc.wait(session)["status"] == "COMPLETED"

    [review] = pcc.json("pending")
    assert (review["type"], review["title"]) == ("review", "Refused: Bash rm -rf build")
    number = str(review["number"])
    told = pcc.pcc("pending").stdout + pcc.pcc("pending", number).stdout
    words = f'Respond with: pcc respond {number} "seen" (or --always; its task is over)'
    assert told.count(words) == 2
    assert "State: Asked while at work on: Tidy up" in told
    assert "--approve" not in told
    prompted = pcc.pcc("respond", number, "--interactive", stdin="", check=False)
    assert prompted.stdout.endswith("   [D]one, seen  > ")
    too_late = refused(pcc, "respond", number, "--approve")
    assert f"Request {number} cannot be approved any more: its task is done" in too_late
    assert [one["number"] for one in pcc.json("pending")] == [review["number"]]
    assert pcc.pcc("respond", number, "seen").stdout == f"Answered request {number}: seen\n"
    assert pcc.json("pending") == []


def test_a_call_that_an_attached_person_does_not_react_to_is_refused_and_listed(install, servers):
    pcc = install(DANGER, server_of=HeldBack)
    configure(pcc, "[human]\nhold_seconds = 1\n")
    session = pcc.start("Tidy up")
    process, ours, seen = watch(pcc, session)
    read_until((process, ours, seen), "Task: Tidy up")
    servers[0].go.set()

    read_until((process, ours, seen), "[A]pprove  [D]eny")
    read_until((process, ours, seen), "Session completed")

    assert process.wait(10) == 0
    os.close(ours)
    [review] = pcc.json("pending")
    assert review["title"] == "Refused: Bash rm -rf build"
    assert pcc.events(session, "EscalationSettled")[0]["decided_by"] == "timeout"


def test_an_approval_waited_for_allows_exactly_that_call_once(install):
    pcc = install(
        """
        steps:
          - tools: [Bash: {command: "rm -rf build"}]
          - tools: [Bash: {command: "rm -rf build"}]
          - say: Finished.
        """
    )
    (pcc.project / "build").mkdir()
    configure(pcc, '[human]\nhold_seconds = 0.5\nunattended = "wait"\n')
    session = pcc.start("Tidy up")
    pcc.wait(session, "WAITING_INPUT")
    waiting = the_one_that_waits(pcc)
    assert waiting["default"] == "it is refused at the deadline"
    assert (pcc.project / "build").exists()
    pcc.kill_engine()

    pcc.pcc("respond", str(waiting["number"]), "--approve")

    # The rehearsal repeats the call: it is let through; the one after it is asked about anew.
    wait_until(lambda: not (pcc.project / "build").exists(), within=60)
    again = the_one_that_waits(pcc)
    assert again["number"] > waiting["number"]
    pcc.pcc("respond", str(again["number"]), "--deny", "once is enough")
    assert pcc.wait(session)["status"] == "COMPLETED"
    verdicts = [(e["verdict"], e["decided_by"]) for e in pcc.events(session, "ToolDecided")]
    assert ("allow", "person") in verdicts


KEPT = """
steps:
  - tools: [Bash: {command: "ls"}]
  - tools: [Bash: {command: "ls"}]
  - say: Finished.
"""


def keep_for_a_person(pcc, rule: str) -> None:
    """In the person's own Claude Code settings, where the gate would let it through."""
    settings = Path(pcc.environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"ask": [rule]}}))


def test_what_claude_codes_own_rules_stop_is_on_record_as_refused(install):
    pcc = install(KEPT)
    keep_for_a_person(pcc, "Bash(ls:*)")
    session = pcc.start("Look around")

    assert pcc.wait(session)["status"] == "COMPLETED"

    said = [(e["verdict"], e["risk"]) for e in pcc.events(session, "ToolDecided")]
    assert said == [("allow", "LOW"), ("deny", "HIGH")] * 2
    assert "Claude Code's own rules" in pcc.events(session, "ToolDecided")[1]["reason"]
    assert {one["title"] for one in pcc.json("pending")} == {"Refused: Bash ls"}


def test_what_claude_codes_own_rules_stop_waits_for_a_person_and_counts_once(install):
    """Resumed, Claude asks for the same again, or goes on with the next: one of them may."""
    pcc = install(KEPT.replace("  - say", '  - tools: [Bash: {command: "ls"}]\n  - say'))
    keep_for_a_person(pcc, "Bash(ls:*)")
    configure(pcc, '[human]\nhold_seconds = 0.5\nunattended = "wait"\n')
    session = pcc.start("Look around")
    pcc.wait(session, "WAITING_INPUT")
    waiting = the_one_that_waits(pcc)

    pcc.pcc("respond", str(waiting["number"]), "--approve")
    pcc.wait_for_event(session, "EscalationRaised", count=2, within=60)

    assert the_one_that_waits(pcc)["number"] > waiting["number"]
    ended = [one["is_error"] for one in pcc.events(session, "ToolFinished")]
    assert ended.count(False) == 1
    pcc.pcc("stop", session)


def test_a_task_that_stopped_asks_what_to_do(install):
    pcc = install(QUESTION, signed_in=False)
    session = pcc.start("Add a place to store notes")
    pcc.wait(session, "ERROR")

    waiting = the_one_that_waits(pcc)
    assert waiting["type"] == "error"
    assert waiting["severity"] == "critical"
    assert waiting["packet"]["attempts"] == 1
    assert "pcc login" in pcc.pcc("pending", str(waiting["number"])).stdout
    pcc.pcc("respond", str(waiting["number"]), "retry")
    pcc.wait_for_event(session, "TaskStarted", count=2, within=60)
    second = the_one_that_waits(pcc)
    pcc.pcc("respond", str(second["number"]), "give up")

    assert pcc.wait(session, "COMPLETED")["detail"] == "without what was given up"
    assert pcc.json("pending") == []


@pytest.mark.timeout(240)
def test_a_receiver_that_was_down_gets_everything_once(install):
    webhook = Webhook()
    pcc = install(QUESTION)
    configure(
        pcc,
        f'[notifications]\nretry_seconds = 0.3\ndesktop = false\nurls = ["{webhook.url}"]\n',
    )
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])
    wait_until(lambda: notices(pcc)[0]["attempts"] >= 3, within=60)
    pcc.kill_engine()

    # An engine that is killed when it has noted that it sends, and has not begun to, leaves no
    # receipt: the next one waits 35 s for it, and then its turn among the tries.
    with webhook.listening():
        wait_until(lambda: webhook.got, within=90)
        pcc.pcc("respond", number, "PostgreSQL")
        pcc.wait(session)
        wait_until(lambda: len(webhook.got) == 2, within=60)
        pcc.kill_engine()
        wait_until(lambda: {one["state"] for one in notices(pcc)} == {"sent"}, within=90)
        time.sleep(1)

    assert len(webhook.got) == 2


def test_a_receiver_that_is_down_for_an_hour_gets_everything_once(install, tmp_path):
    """The clock leaps, as when a laptop sleeps; what is due then is done within seconds."""
    webhook, offset = Webhook(), tmp_path / "offset"
    offset.write_text("0")
    pcc = install(QUESTION)
    configure(
        pcc,
        '[human]\nhold_seconds = 1\nremind_after = ["40m", "24h"]\n'
        f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n',
    )
    pcc = replace(pcc, environment={**pcc.environment, "PERPETUALCC_CLOCK_OFFSET": str(offset)})
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])
    # As a row, without a process: a Claude that is resumed with no answer would ask once more.
    wait_until(lambda: not pcc.claudes(), within=60)

    def attempts() -> int:
        """0 while one is made: what it comes to is noted with the time at which it ends."""
        found = notices(pcc)
        is_over = {one["state"] for one in found} <= {"queued", "moot"}
        return sum(one["attempts"] for one in found) if is_over else 0

    wait_until(attempts, within=60)
    for minutes in (10, 20, 30, 45, 60):
        before = attempts()
        offset.write_text(str(minutes * 60.0))
        wait_until(lambda b=before: attempts() > b, within=60)
        if minutes == 30:
            pcc.kill_engine()
    assert pcc.json("pending")[0]["reminders"] == 1
    # The reminder says what the question says, unless that was being sent when it was put down.
    left = [one for one in notices(pcc) if one["state"] != "moot"]
    assert {one["state"] for one in left} <= {"queued", "sending"}
    assert 1 <= len(left) <= 2

    with webhook.listening():
        offset.write_text("6000.0")
        wait_until(lambda: len(webhook.got) == len(left), within=60)
        pcc.pcc("respond", number, "PostgreSQL")
        pcc.wait(session)
        wait_until(lambda: len(webhook.got) == len(left) + 1, within=60)
        time.sleep(1)

    assert len(webhook.got) == len(left) + 1, "what was left, and the end, once each"
    wait_until(lambda: {one["state"] for one in notices(pcc)} <= {"sent", "moot"})


def test_a_test_notification_says_what_arrives(install):
    webhook, lost = Webhook(), Webhook()
    pcc = install(QUESTION)
    assert "There is no channel" in refused(pcc, "notify", "test") or os.environ.get("DISPLAY")
    later = pcc.start("For later", "--at", "9pm")
    urls = f'urls = ["{webhook.url}", "{lost.url}"]'
    configure(pcc, f'[notifications]\ndesktop = false\nmachine = "box"\n{urls}\n')
    with_work = refused(pcc, "notify", "test")
    pcc.pcc("stop", later)

    with webhook.listening():
        done = pcc.pcc("notify", "test", check=False)

    assert "were set otherwise since the daemon read the settings" in with_work
    assert "daemon restart" in with_work
    assert "was started anew, with the settings as they are now" in done.stderr
    assert done.returncode == 1
    assert "  sent\n" in done.stdout
    assert "failed: A Connection error" in done.stdout
    assert webhook.got[0]["title"] == "PerpetualCC (box): a test"


def test_a_question_is_answered_in_attach_and_others_see_it(install):
    pcc = install(QUESTION)
    session = pcc.start("Add a place to store notes")
    the_one_that_waits(pcc)
    watchers = [watch(pcc, session) for _ in range(2)]
    first, second = watchers
    for one in watchers:
        read_until(one, "type an answer  >")

    os.write(first[1], b"2\n")

    for one in watchers:
        read_until(one, "Session completed")
        assert one[0].wait(10) == 0
        os.close(one[1])
    assert "You answered #1: PostgreSQL (from " in second[2].decode()
    assert "\r\x1b[2K" in second[2].decode(), "the other's prompt is cleared"
    assert second[2].decode().count("PostgreSQL (from ") == 1


def watch(pcc, session: str):
    """`pcc attach` at a terminal: the process, our side of it, and what was read so far."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        pcc.command("attach", session),
        env={**pcc.environment, "NO_COLOR": "1"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    return process, ours, bytearray()


def read_until(watcher, text: str, within: float = 60.0) -> None:
    _, ours, seen = watcher
    deadline = time.monotonic() + within
    os.set_blocking(ours, False)
    while text not in seen.decode(errors="replace"):
        assert time.monotonic() < deadline, seen.decode(errors="replace")
        try:
            seen += os.read(ours, 65536)
        except (BlockingIOError, OSError):
            time.sleep(0.05)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_messages_are_sent_once_whatever_kills_the_engine(install):
    """The engine is killed at another moment of each sending; every receipt is true."""
    webhook = Webhook()
    pcc = install(QUESTION)
    configure(pcc, f'[notifications]\ndesktop = false\nurls = ["{webhook.url}"]\n')

    with webhook.listening(), ThreadPoolExecutor() as terminal:
        for round_ in range(10):
            sending = terminal.submit(pcc.pcc, "notify", "test", check=False)
            wait_until(lambda n=round_: len(notices(pcc)) > n, within=60)
            time.sleep(0.13 * round_)
            pcc.kill_engine()
            sending.result()
            if round_ % 4 == 3:  # five crashes in a row are one too many for the supervisor
                pcc.pcc("daemon", "restart")
        wait_until(lambda: {one["state"] for one in notices(pcc)} == {"sent"}, within=120)

    assert len(webhook.got) == len(notices(pcc)) >= 10


def notices(pcc):
    return pcc.ask("notification.list", limit=100)


def test_a_session_whose_claude_is_held_for_an_answer_shows_that_it_waits(install):
    pcc = install(QUESTION)
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])

    held = pcc.status(session)
    assert pcc.claudes(), "Claude is held, and its process is there"
    assert (held["status"], pcc.json("list")[0]["status"]) == ("WAITING_INPUT", "WAITING_INPUT")
    assert f"pcc respond {number}" in held["detail"]
    assert [one["id"] for one in pcc.json("list", "--status", "waiting")] == [session]
    assert pcc.json("list", "--status", "running") == []

    pcc.pcc("respond", number, "PostgreSQL")
    assert pcc.wait(session)["status"] == "COMPLETED"
    settled = refused(pcc, "respond", number, "SQLite")
    assert f"by '{pwd.getpwuid(os.getuid()).pw_name}@{socket.gethostname()}" in settled


def test_an_answer_to_a_paused_session_says_that_it_stays_paused(install):
    pcc = install(QUESTION)
    session = pcc.start("Add a place to store notes")
    number = str(the_one_that_waits(pcc)["number"])
    pcc.pcc("pause", session)

    told = pcc.pcc("respond", number, "PostgreSQL").stderr

    assert f"note: The session is paused; go on with: pcc resume {session}" in told
    pcc.pcc("resume", session)
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert_the_answer_is_on_record_once(pcc, session)


NASTY = r"""
steps:
  - say: I need to know one thing.
    ask:
      question: "Which \x1b]0;owned\x07 <b>database</b> & `$(id)`?"
      header: "D\x1b[31mB"
      options:
        - {label: "<i>One</i> \x1b[2J", description: "first\r\nline"}
        - {label: "Two | 'quoted'", description: ""}
  - say: Then that one.
    expect: "Two | 'quoted'"
"""


def test_markup_and_control_characters_in_a_question_stay_text(install):
    pcc = install(NASTY)
    session = pcc.start("Ask")

    number = str(the_one_that_waits(pcc)["number"])

    for words in (("pending",), ("pending", number), ("status", session), ("logs", session)):
        shown = pcc.pcc(*words).stdout
        assert "\x1b" not in shown, words
        assert "\x07" not in shown, words
    pcc.pcc("respond", number, "2")
    assert pcc.wait(session)["status"] == "COMPLETED"
    [answered] = pcc.events(session, "QuestionAnswered")
    assert list(answered["answers"].values()) == ["Two | 'quoted'"]
