"""
A week in minutes on the real Claude Code: sessions that share one account and one budget, through
limits, kills of the engine, reboots, and a clock that is set forward and back.

Only the model and the clock are not real. The account counts its own replies, by that clock.
"""

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from perpetualcc.rehearsal import RehearsalServer
from perpetualcc.rehearsal.http import Request
from perpetualcc.rehearsal.scenario import Failure, FailureKind
from perpetualcc.rehearsal.wire import Answer, failure_answer
from tests.acceptance.supervised import Supervised, wait_until

pytestmark = [pytest.mark.claude, pytest.mark.soak, pytest.mark.timeout(1500)]

SESSIONS, TASKS, STEPS = 8, 2, 6
WINDOW, REPLIES_EACH = 5 * 3600, 3
TOKENS = 1_000 + 50
DAY = 12_000
"""Tokens: less than the windows of a day would allow."""
LIMITS = 30
ENGINE, REBOOT = "engine", "reboot"
# What is killed, one after the other, evenly over the limits, and how the clock is set then.
ACCIDENTS = [
    (ENGINE, 0),
    (ENGINE, 0),
    (REBOOT, 9 * 3600),
    (ENGINE, 0),
    (ENGINE, -6 * 3600),
    (REBOOT, 0),
    (ENGINE, 0),
]

STORY = """
usage: {input: 1000, output: 50}
steps:
  - repeat: 6
    delay: 200ms
    tools: [{Bash: {command: "mkdir -p src && echo done >> src/step_{n}.txt"}}]
  - All six steps are done.
"""


def day_of(offset: Path) -> str:
    """The local day of a clock that is so far ahead."""
    return time.strftime("%Y-%m-%d", time.localtime(time.time() + float(offset.read_text())))


class Account(RehearsalServer):
    """A subscription whose window holds a few replies."""

    def __init__(self, offset: Path, *words, **options) -> None:
        super().__init__(*words, **options)
        self._offset = offset
        self._opened, self._used = 0.0, 0
        self.spent: Counter[str] = Counter()
        """Tokens really given out, by local day."""
        self.windows = 0

    async def _answer(self, request: Request) -> Answer:
        if request.path != "/v1/messages" or not request.json().get("tools"):
            return await super()._answer(request)
        now = time.time() + float(self._offset.read_text())
        if now >= self._opened + WINDOW:
            self._opened, self._used = now, 0
            self.windows += 1
        if self._used >= REPLIES_EACH:
            return failure_answer(
                Failure(kind=FailureKind.USAGE_LIMIT),
                resets_at=self._opened + WINDOW,
                model="",
                message_id="",
            )
        self._used += 1
        self.spent[day_of(self._offset)] += TOKENS
        return await super()._answer(request)


class Week:
    """Eight sessions, and what happens to them."""

    def __init__(self, pcc: Supervised, offset: Path) -> None:
        self.pcc, self.offset = pcc, offset
        self.kills: Counter[str] = Counter()
        """By local day."""

    def begin(self, folder: Path) -> None:
        self.pcc.pcc("budget", "set", "tokens_per_day", str(DAY))
        for n in range(SESSIONS):
            project = folder / f"project-{n}"
            subprocess.run(["git", "init", "--quiet", str(project)], check=True)
            session = self.pcc.start("The first part", "--session-name", f"s{n}", project=project)
            for m in range(1, TASKS):
                self.pcc.pcc("add", session, f"Part {m + 1}")

    def play(self, *, within: float) -> None:
        deadline = time.monotonic() + within
        accidents = list(enumerate(ACCIDENTS, start=1))
        for statuses in self._statuses():
            assert time.monotonic() < deadline, f"{self.limits()} limits in {self.days:.1f} days"
            assert "ERROR" not in statuses, self.pcc.json("list")
            if accidents and "PROCESSING" in statuses:
                number, (victim, jump) = accidents[0]
                if self.limits() >= number * LIMITS // (len(ACCIDENTS) + 1):
                    self._happens(victim, jump)
                    del accidents[0]
        assert accidents == [], "the week was over before everything had happened"

    def _statuses(self) -> Iterator[set[str]]:
        """What the sessions do, until all have done everything; whoever waits need not wait."""
        while True:
            listed = self.pcc.ask("session.list", limit=100)
            statuses = {one["status"] for one in listed}
            yield statuses
            if statuses == {"COMPLETED"}:
                return
            due = [one["resumes_at"] for one in listed if one["resumes_at"]]
            if due and "PROCESSING" not in statuses:
                self._leap(min(due))
            time.sleep(0.3)

    def _leap(self, due: float) -> None:
        ahead = due - (time.time() + float(self.offset.read_text()))
        if ahead > 0:
            self.jump(ahead + 0.01)

    def _happens(self, victim: str, jump: float) -> None:
        time.sleep(random.uniform(0, 1.5))
        self.kills[day_of(self.offset)] += 1
        if victim == REBOOT:
            for pid in [self.pcc.supervisor, self.pcc.engine, *self.pcc.claudes()]:
                with suppress(ProcessLookupError, TypeError):
                    os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not self.pcc.claudes())
        elif self.pcc.engine is not None:
            self.pcc.kill_engine()
        self.jump(jump)

    def jump(self, seconds: float) -> None:
        draft = self.offset.with_suffix(".new")
        draft.write_text(str(float(self.offset.read_text()) + seconds))
        draft.replace(self.offset)

    @property
    def days(self) -> float:
        return float(self.offset.read_text()) / 86400

    def rows(self, sql: str) -> list:
        with closing(sqlite3.connect(self.pcc.locations.database)) as database:
            return database.execute(sql).fetchall()

    def limits(self) -> int:
        return self.rows("SELECT count(*) FROM events WHERE kind = 'LimitReached'")[0][0]


def test_a_week_of_limits_kills_reboots_and_clock_jumps_on_the_real_claude_code(
    install, tmp_path, servers
):
    offset = tmp_path / "offset"
    offset.write_text("0")
    pcc = install(STORY, "--idle-exit", "5", server_of=partial(Account, offset), subscription=True)
    config = Path(pcc.environment["PERPETUALCC_CONFIG"])
    # Nobody is reminded: what a person would be asked has its own tests.
    config.write_text(
        config.read_text() + "[limits]\nstagger_seconds = 0.0\n[human]\nremind_after = []\n"
    )
    pcc.environment["PERPETUALCC_CLOCK_OFFSET"] = str(offset)
    week, account = Week(replace(pcc, patience=300.0), offset), servers[0]

    week.begin(tmp_path)
    week.play(within=1200)

    told = f"{week.limits()} limits, {account.windows} windows, {week.days:.1f} days"
    assert week.limits() >= LIMITS, told
    assert week.days >= 5, told
    assert_everything_was_done_once(week)
    assert_nothing_waits(week)
    assert_the_budget_was_kept(week, account)


def assert_everything_was_done_once(week: Week) -> None:
    done = week.rows(
        "SELECT task, count(*) FROM events WHERE kind = 'TaskSettled'"
        " AND json_extract(data, '$.state') = 'done' GROUP BY task"
    )
    assert [count for _, count in done] == [1] * (SESSIONS * TASKS)
    assert week.rows("SELECT DISTINCT state FROM tasks") == [("done",)]
    repeated = 0
    for n in range(SESSIONS):
        for step in range(1, STEPS + 1):
            file = week.offset.parent / f"project-{n}" / "src" / f"step_{step}.txt"
            times = len(file.read_text().splitlines())
            assert times >= TASKS, file
            repeated += times - TASKS
    # A step whose result was not on file yet may come again: one for each run that was killed.
    assert repeated <= len(ACCIDENTS) * 3, repeated


def assert_nothing_waits(week: Week) -> None:
    assert week.rows("SELECT count(*) FROM limit_waits WHERE over_at IS NULL") == [(0,)]
    assert week.rows("SELECT count(*) FROM spending WHERE ended_at IS NULL") == [(0,)]
    assert week.pcc.claudes() == []


def assert_the_budget_was_kept(week: Week, account: Account) -> None:
    """
    By the account's own count, and in the book. One reply crosses the line, one may be on its way
    by then, and one when a process is killed; a clock that goes back must not buy a day twice.
    """
    for day, spent in account.spent.items():
        assert spent <= DAY + (2 + week.kills[day]) * TOKENS, (day, account.spent, week.kills)
    booked = week.rows("SELECT sum(tokens) FROM spending")[0][0]
    assert booked >= sum(account.spent.values()) * 0.9, (booked, account.spent)
