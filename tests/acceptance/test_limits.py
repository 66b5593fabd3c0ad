"""Usage limits on the real Claude Code: hit in mid-task, waited out without a process, gone on."""

import asyncio
import json
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from perpetualcc.rehearsal import RehearsalServer
from perpetualcc.rehearsal.http import Request
from perpetualcc.rehearsal.server import session_id
from perpetualcc.rehearsal.wire import Answer
from tests.acceptance.supervised import wait_until
from tests.acceptance.terminals import terminal

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]


def story(fail: str) -> str:
    return f"""
    steps:
      - tools: [{{Write: {{file_path: "{{project}}/src/first.py", content: "one = 1"}}}}]
      - fail: {fail}
      - tools: [{{Write: {{file_path: "{{project}}/src/second.py", content: "two = 2"}}}}]
      - Both files are written.
    """


FIVE_HOURS = story("{kind: usage_limit, in: 8s}")


def limited(install, scenario, *flags, config="", **more):
    """An installation whose engine sleeps at once when nothing is to be done."""
    pcc = install(scenario, *(flags or ("--idle-exit", "0.5")), **more)
    path = Path(pcc.environment["PERPETUALCC_CONFIG"])
    path.write_text(path.read_text() + config)
    return pcc


def assert_went_on(pcc, session, *, runs=2) -> None:
    """Each file written once, the task done once, in one conversation."""
    written = [
        event["summary"]
        for event in pcc.events(session, "ToolDecided")
        if event["tool"] == "Write" and event["verdict"] == "allow"
    ]
    assert written == ["src/first.py", "src/second.py"]
    states = [event["state"] for event in pcc.events(session, "TaskSettled")]
    assert states == ["waiting"] * (runs - 1) + ["done"]
    started = pcc.events(session, "RunStarted")
    assert [event["resumed"] for event in started] == [False] + [True] * (runs - 1)
    assert len({event["claude_session"] for event in started}) == 1
    assert pcc.claudes() == []


def test_claude_code_does_not_wait_for_a_limit_in_its_own_process(install):
    """As it does where somebody exported this for sessions of their own."""
    pcc = limited(install, FIVE_HOURS, subscription=True)
    pcc.environment["CLAUDE_CODE_RETRY_WATCHDOG"] = "1"
    session = pcc.start("Write two files")

    assert pcc.wait(session, "RATE_LIMITED", within=60)["detail"] == "the 5-hour limit"
    assert pcc.claudes() == []
    pcc.wait(session, "COMPLETED")
    assert_went_on(pcc, session)


def test_a_session_waits_for_its_five_hours_and_goes_on_where_it_was(install):
    pcc = limited(install, FIVE_HOURS, subscription=True)
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"] == "the 5-hour limit"
    assert waiting["tasks"][0]["attempts"] == 0
    assert 0 < waiting["resumes_at"] - time.time() < 10
    assert pcc.claudes() == []
    [kept] = waiting["checkpoints"]
    assert (kept["reason"], kept["files"]) == ("the 5-hour limit", ["src/first.py"])
    assert "Resumes: " in pcc.pcc("list").stdout
    limit = pcc.events(session, "LimitReached")[0]
    assert limit["window"] == "five_hour"
    assert abs(waiting["resumes_at"] - limit["resets_at"]) <= 1
    planned = pcc.events(session, "ResumePlanned")
    assert [event["resumes_at"] for event in planned] == [waiting["resumes_at"]]
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)
    resumed = pcc.events(session, "RunStarted")[1]["at"]
    assert 0 <= resumed - waiting["resumes_at"] < 10, "not at the next look of half a minute"


def test_a_pause_counts_for_a_session_that_waits_for_its_turn(install):
    wait = story("{kind: usage_limit, in: 8s, everyone: true}")
    slowly = "[limits]\nstagger_seconds = 8\n"
    pcc = limited(install, wait, "--idle-exit", "20", subscription=True, config=slowly)
    other = pcc.project.parent / "other"
    other.mkdir()
    sessions = [pcc.start("Write two files"), pcc.start("Write two files", project=other)]
    for one in sessions:
        pcc.wait(one, "RATE_LIMITED")

    def in_turn():
        """The one that waits while the other is at work; both have been claimed."""
        found = [pcc.look(one) for one in sessions]
        is_claimed = all(one["tasks"][0]["state"] != "waiting" for one in found)
        held = [one["id"] for one in found if one["status"] == "RATE_LIMITED"]
        return held[0] if is_claimed and len(held) == 1 else None

    last = wait_until(in_turn, within=60)
    pcc.pcc("pause", last)

    wait_until(lambda: pcc.look(last)["tasks"][0]["state"] == "queued", within=60)
    assert pcc.look(last)["status"] == "PAUSED"
    pcc.pcc("resume", last)
    assert pcc.wait(last, within=60)["status"] == "COMPLETED"
    assert "PROCESSING" not in [
        event["after"]
        for event in pcc.events(last, "SessionStatusChanged")
        if event["before"] == "PAUSED"
    ]


@pytest.mark.parametrize(
    "victim", [pytest.param("engine", marks=pytest.mark.soak), "supervisor and engine"]
)
def test_a_wait_outlives_whatever_is_killed(install, victim):
    longer = story("{kind: usage_limit, in: 25s}")  # than everything takes to come back
    pcc = limited(install, longer, "--idle-exit", "20", subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    if "supervisor" in victim:
        pcc.kill_both()
    elif pcc.engine is not None:
        pcc.kill_engine()

    assert pcc.status(session)["resumes_at"] == due
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["awake", "asleep"])
def test_a_machine_that_slept_past_the_reset_goes_on_when_it_wakes(install, engine):
    patience = "30" if engine == "awake" else "0.5"
    wait = story("{kind: usage_limit, in: 15s}")
    pcc = limited(install, wait, "--idle-exit", patience, subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]
    if engine == "asleep":
        wait_until(lambda: pcc.engine is None)

    asleep = [pid for pid in (pcc.supervisor, pcc.engine) if pid is not None]
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(max(0.0, due - time.time()) + 2)
    woke = time.time()
    for pid in asleep:
        os.kill(pid, signal.SIGCONT)

    pcc.wait_for_event(session, "RunStarted", count=2)
    assert pcc.events(session, "RunStarted")[1]["at"] >= woke > due
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


def test_source_and_prose_about_limits_are_no_limit(install):
    talk = "API Error 429: rate limit. You've hit your weekly limit · resets Mon 12:00am"
    pcc = limited(
        install,
        f"""
        files: {{src/limits.py: "RATE_LIMIT = 429  # {talk}"}}
        steps:
          - say: "{talk}"
            tools: [{{Write: {{file_path: "{{project}}/src/limits.py", content: "# {talk}"}}}}]
          - tools: [{{Read: {{file_path: "{{project}}/src/limits.py"}}}}]
          - say: "{talk}"
            tools:
              - Bash: {{command: "cat src/limits.py; exit 1"}}
              - Bash: {{command: "echo '{talk}' >&2; exit 429"}}
          - "Done: usage limit reached|1893456000 is now documented. {talk}"
        """,
    )
    session = pcc.start("Document the rate limit 429")

    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert pcc.events(session, "LimitReached", "ResumePlanned") == []
    assert len(pcc.events(session, "RunStarted")) == 1


@pytest.mark.soak
def test_a_person_cuts_a_wait_short(install):
    pcc = limited(install, FIVE_HOURS, subscription=True)
    session = pcc.start("Write two files")
    due = pcc.wait(session, "RATE_LIMITED")["resumes_at"]

    pcc.pcc("resume", session)

    pcc.wait_for_event(session, "RunStarted", count=2, within=60)
    assert pcc.events(session, "RunStarted")[1]["at"] < due
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"


@pytest.mark.soak
def test_a_checkpoint_is_kept_of_the_limit_and_shown(install):
    pcc = limited(install, story("{kind: usage_limit, in: 15s}"), subscription=True)
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    assert "Checkpoints: 1" in pcc.pcc("status", session).stdout
    kept = pcc.status(session)["checkpoints"][0]
    assert (kept["reason"], kept["files"]) == ("the 5-hour limit", ["src/first.py"])
    pcc.pcc("pause", session)
    wait_until(lambda: not pcc.claudes())
    (pcc.project / "src/first.py").write_text("somebody else's")
    pcc.pcc("resume", session)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    told = transcript(pcc, session).read_text()
    assert "src/first.py: changed" in told.split("no longer as you left them")[1]


def transcript(pcc, session) -> Path:
    conversation = pcc.events(session, "RunStarted")[0]["claude_session"]
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    return next(home.glob(f"projects/*/{conversation}.jsonl"))


def torn(transcript: bytes) -> bytes:
    """As a full disk leaves it: a message that is cut off, and the next one behind it."""
    lines = transcript.splitlines(keepends=True)
    middle = [at for at, line in enumerate(lines) if line.startswith(b'{"parentUuid":"')][1]
    lines[middle] = lines[middle][:60] + b"x" * (len(lines[middle]) - 60)
    return b"".join(lines)


@pytest.mark.parametrize(
    "damage", [pytest.param("lost", marks=pytest.mark.soak), "cut in half", "torn in the middle"]
)
def test_a_lost_conversation_begins_again_from_the_checkpoint(install, damage):
    pcc = limited(install, story("{kind: usage_limit, in: 12s}"), subscription=True)
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    file = transcript(pcc, session)
    if damage == "lost":
        file.unlink()
    elif damage == "torn in the middle":
        file.write_bytes(torn(file.read_bytes()))
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    started = pcc.events(session, "RunStarted")
    assert [event["resumed"] for event in started][:2] == [False, False]
    assert [event["lost"] for event in started][:2] == [False, True]
    assert "No whole transcript is there to go on from" in pcc.pcc("logs", session).stdout
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    fresh = next(home.glob(f"projects/*/{started[1]['claude_session']}.jsonl")).read_text()
    assert "CONTEXT RESTORATION" in fresh
    assert "src/first.py" in fresh
    assert "Continue from: Write two files" in fresh


@pytest.mark.soak
@pytest.mark.parametrize("transcript_is", ["there", "lost"])
def test_a_checkpoint_from_another_project_is_never_gone_on_from(install, transcript_is):
    """Somebody put it where this session's own newest one is; the work is told by the tables."""
    pcc = limited(install, story("{kind: usage_limit, in: 12s}"), subscription=True)
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    [own] = (pcc.locations.data / "checkpoints" / session).glob("*.json")
    foreign = json.loads(own.read_text()) | {
        "project_path": "/srv/another",
        "next_action": "Delete the other project",
        "transcript_bytes": 0,
        "modified_files": [{"path": "src/first.py", "hash": "0" * 64}],
    }
    own.with_name("20991231T235959.000000Z.json").write_text(json.dumps(foreign))
    if transcript_is == "lost":
        transcript(pcc, session).unlink()

    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    home = Path(pcc.environment["CLAUDE_CONFIG_DIR"])
    said = [path.read_text() for path in home.glob("projects/*/*.jsonl")]
    assert not any("Delete the other project" in text or "/srv/another" in text for text in said)
    if transcript_is == "there":
        assert_went_on(pcc, session)
        assert "no longer as you left them" not in said[0]
    else:
        assert any("Continue from: Write two files" in text for text in said)


class MovedClock:
    """The engine's clock, ahead of the machine's."""

    def __init__(self, pcc, path: Path) -> None:
        self.pcc, self.path = pcc, path
        path.write_text("0")
        pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(path)

    def now(self) -> float:
        return time.time() + float(self.path.read_text())

    def move_to(self, at: float) -> None:
        """What a sleeping supervisor would notice within half a minute, a visitor tells it now."""
        self.pcc.pcc("daemon", "stop")
        self.path.write_text(str(at - time.time()))
        self.pcc.pcc("daemon", "start")


def refused(text: str) -> str:
    return (
        f'{{kind: http, status: 429, type: rate_limit_error, message: "{text}",'
        ' headers: {x-should-retry: "false"}}'
    )


def test_a_key_that_is_refused_without_a_time_is_waited_for_patiently(install, tmp_path):
    pcc = limited(install, story("rate_limit"))
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"] == "the API key's rate limit"
    assert 30 < waiting["resumes_at"] - clock.now() <= 60
    clock.move_to(waiting["resumes_at"] + 1)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


SOON = datetime.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=2)  # noqa: DTZ005  # local is meant
"""A full hour, of this machine's own time."""
DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=3)


def clock_of(at: datetime) -> str:
    """As Claude Code writes it: 3:45pm, 8pm."""
    minutes = f":{at:%M}" if at.minute else ""
    return f"{at.hour % 12 or 12}{minutes}{'am' if at.hour < 12 else 'pm'}"


def next_monday() -> datetime:
    today = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ005  # local is meant
    return today + timedelta(days=7 - today.weekday())


def eight_in_chicago() -> datetime:
    return datetime(DAY.year, DAY.month, DAY.day, 20, tzinfo=ZoneInfo("America/Chicago"))


def half_past_eleven_in_colombo() -> datetime:
    now = datetime.now(ZoneInfo("Asia/Colombo"))
    at = now.replace(hour=11, minute=30, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


# What Claude Code writes, of which window it is, and the moment that is meant.
TEXTS = {
    "session": (f"You've hit your session limit · resets {clock_of(SOON)}", "5-hour", SOON),
    "weekly": ("You've hit your weekly limit · resets Mon 12:00am", "weekly", next_monday()),
    "weekly with a zone": (
        f"You've hit your weekly limit · resets {DAY:%b %d} at 8pm (America/Chicago)",
        "weekly",
        eight_in_chicago(),
    ),
    "model": (f"You've hit your Opus limit · resets {clock_of(SOON)}", "model", SOON),
    "extra usage": (
        "You're out of extra usage · resets 11:30am (Asia/Colombo)",
        "spend",
        half_past_eleven_in_colombo(),
    ),
    "epoch": (f"Claude AI usage limit reached|{SOON.timestamp():.0f}", "5-hour", SOON),
    "old": (f"5-hour limit reached ∙ resets {clock_of(SOON)}", "5-hour", SOON),
    "regain": (f"You will regain access on {DAY:%Y-%m-%d} at 00:00 UTC", "spend", DAY),
    "spend": (f"spend limit reached (daily; resets {DAY:%Y-%m-%d} 00:00 UTC)", "spend", DAY),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", TEXTS)
def test_each_text_is_a_wait_that_ends(install, tmp_path, name):
    said, word, meant = TEXTS[name]
    pcc = limited(install, story(refused(said)))
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert word in waiting["detail"]
    assert waiting["resumes_at"] == meant.timestamp() + 60
    assert pcc.claudes() == []
    clock.move_to(meant.timestamp() + 61)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


HICCUPS = {
    "temporary": refused("Server is temporarily limiting requests (not your usage limit)"),
    "overloaded": "{kind: overloaded, headers: {x-should-retry: 'false'}}",
}


@pytest.mark.soak
@pytest.mark.parametrize("name", HICCUPS)
def test_a_server_that_is_too_busy_is_backed_off_from_and_is_no_limit(install, tmp_path, name):
    pcc = limited(install, story(HICCUPS[name]))
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"] == "the server is overloaded or fails"
    assert 5 < waiting["resumes_at"] - clock.now() <= 15
    assert waiting["tasks"][0]["attempts"] == 0
    clock.move_to(waiting["resumes_at"] + 1)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


@pytest.mark.soak
def test_an_empty_credit_balance_is_no_wait_but_a_persons_to_mend(install):
    text = "Your credit balance is too low to access the Anthropic API."
    pcc = limited(install, story(f'{{kind: http, status: 400, message: "{text}"}}'))
    session = pcc.start("Write two files")

    stopped = pcc.wait(session)

    assert (stopped["status"], stopped["detail"]) == ("ERROR", "Credit balance is too low")
    assert pcc.events(session, "LimitReached", "ResumePlanned") == []
    [asked] = pcc.json("pending")
    assert "Check the credit balance" in pcc.pcc("pending", str(asked["number"])).stdout
    pcc.pcc("resume", session)
    assert pcc.wait(session, "COMPLETED", within=90)["status"] == "COMPLETED"


@pytest.mark.soak
@pytest.mark.parametrize(
    "message",
    [
        "messages.4.content: the text '429 rate limit' is not allowed here",
        "You've hit your weekly limit · resets Mon 12:00am, says the file that you sent",
    ],
)
def test_a_request_that_is_wrong_is_no_limit_whatever_its_message_quotes(install, message):
    wrong = f'{{kind: http, status: 400, times: 99, message: "{message}"}}'
    pcc = limited(install, story(wrong))
    session = pcc.start("Write two files")

    stopped = pcc.wait(session, within=90)

    assert stopped["status"] == "ERROR"
    assert message[:40] in stopped["detail"]
    conversations = [event["claude_session"] for event in pcc.events(session, "RunStarted")]
    # A failure like any other: tried again, in fresh conversations too, and then a person's.
    assert 3 <= len(conversations) <= 6
    assert len(set(conversations)) <= 3
    assert pcc.events(session, "LimitReached", "ResumePlanned") == []


def unbelievable(form: str, ahead: float) -> str:
    """A refusal that names a reset so many seconds from now, in headers or in words."""
    reset = round(time.time() + ahead)
    if form == "text":
        return refused(f"Claude AI usage limit reached|{reset}")
    prefix = "anthropic-ratelimit-unified"
    told = (
        f'{{{prefix}-status: rejected, {prefix}-reset: "{reset}",'
        f' {prefix}-representative-claim: five_hour, x-should-retry: "false"}}'
    )
    return f"{{kind: http, status: 429, type: rate_limit_error, headers: {told}}}"


@pytest.mark.soak
@pytest.mark.parametrize("form", ["headers", "text"])
@pytest.mark.parametrize("ahead", [-3600, 5 * 365 * 86400], ids=["past", "years ahead"])
def test_a_reset_that_cannot_be_is_not_believed(install, tmp_path, ahead, form):
    pcc = limited(install, story(unbelievable(form, ahead)), subscription=form == "headers")
    clock = MovedClock(pcc, tmp_path / "offset")
    session = pcc.start("Write two files")

    waiting = pcc.wait(session, "RATE_LIMITED")

    assert waiting["detail"] == "the 5-hour limit"
    assert 30 < waiting["resumes_at"] - clock.now() <= 60
    clock.move_to(waiting["resumes_at"] + 1)
    assert pcc.wait(session, within=90)["status"] == "COMPLETED"
    assert_went_on(pcc, session)


@pytest.mark.soak
def test_a_person_is_warned_before_a_limit_and_sees_what_remains_of_it(install):
    """From 85 % on; `pcc attach` counts down on a terminal."""
    pcc = limited(
        install,
        """
        steps:
          - quota: {status: allowed, window: five_hour, used: 0.84, in: 1h}
            tools: [{Write: {file_path: "{project}/src/first.py", content: "one = 1"}}]
          - quota: {status: allowed_warning, window: five_hour, used: 0.9, in: 1h}
            tools: [{Write: {file_path: "{project}/src/second.py", content: "two = 2"}}]
          - fail: {kind: usage_limit, in: 25s}
          - Both files are written.
        """,
        subscription=True,
    )
    session = pcc.start("Write two files")
    pcc.wait(session, "RATE_LIMITED")

    with terminal(pcc.command("attach", session), pcc.environment) as screen:
        screen.wait_for("Resuming in 0:1")
        screen.wait_for("Resuming in 0:03")
        screen.wait_for("Task completed", within=60)

    warned = pcc.events(session, "LimitApproached")
    assert [round(one["utilization"], 2) for one in warned] == [0.9]
    assert screen.seen.index("Resuming in 0:1") < screen.seen.index("Resuming in 0:03")


class Together(RehearsalServer):
    """Nobody hears anything before so many conversations have asked: then all are at work."""

    def __init__(self, count: int, *words, **options) -> None:
        super().__init__(*words, **options)
        self._count, self._asked, self._all = count, set(), asyncio.Event()

    async def _answer(self, request: Request) -> Answer:
        if request.path == "/v1/messages" and (body := request.json()).get("tools"):
            self._asked.add(session_id(request.headers, body))
            if len(self._asked) == self._count:
                self._all.set()
            await self._all.wait()
        return await super()._answer(request)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_ten_sessions_that_hit_it_together_wake_one_by_one_the_most_important_first(
    install, tmp_path
):
    pcc = limited(
        install,
        story("{kind: usage_limit, in: 30s, everyone: true}"),
        subscription=True,
        server_of=partial(Together, 10),
        config="[limits]\nstagger_seconds = 0.5\n[sessions]\nmax_concurrent = 10\n",
    )
    sessions = []
    for n in range(10):
        project = tmp_path / f"project-{n}"
        project.mkdir()
        plan = tmp_path / f"plan-{n}.md"
        plan.write_text(f"# Plan\n\n## Tasks\n\n- [ ] Write two files (priority: {n})\n")
        said = pcc.pcc("start", str(project), "--requirements", str(plan), "--detach").stdout
        sessions.append(said.split()[2])

    for session in sessions:
        assert pcc.wait(session, within=200)["status"] == "COMPLETED"

    assert all(len(pcc.events(one, "LimitReached")) == 1 for one in sessions)
    resumed = [pcc.events(one, "RunStarted")[-1]["at"] for one in sessions]
    assert resumed == sorted(resumed, reverse=True)
    assert min(a - b for a, b in pairwise(resumed)) > 0.3
    due = {pcc.events(one, "ResumePlanned")[-1]["resumes_at"] for one in sessions}
    assert len(due) == 1
    assert min(resumed) >= due.pop()
    for session in sessions:
        assert_went_on(pcc, session)
