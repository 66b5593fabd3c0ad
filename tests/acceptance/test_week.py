"""
A week in a minute: sessions that share one account and one budget, through limits, kills and
clock jumps. The engine, its tables and its files are real; Claude and the clock are not.
"""

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.claude import TOKENS

ROOT = Path(__file__).parents[2]


class Week:
    """One data directory and a clock; engines come and go."""

    def __init__(self, folder: Path, *, sessions: int, tasks: int) -> None:
        self.folder, self.sessions, self.tasks = folder, sessions, tasks
        self.offset = folder / "offset"
        self.offset.write_text("0")
        config = folder / "config.toml"
        # Nobody is reminded: that follows the machine's own time, which does not leap here.
        config.write_text(
            "[limits]\nstagger_seconds = 0.0\n[load]\nmax_cpu = 0.0\n[human]\nremind_after = []\n"
        )
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "PERPETUALCC_CONFIG": str(config),
            "PERPETUALCC_CLOCK_OFFSET": str(self.offset),
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        }

    def engine(self) -> subprocess.Popen:
        words = [self.folder / "data", self.folder, self.offset, self.sessions, self.tasks]
        script = str(ROOT / "tests" / "acceptance" / "week_engine.py")
        return subprocess.Popen(
            [sys.executable, script, *map(str, words)],
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )

    def jump(self, seconds: float) -> None:
        self.offset.write_text(str(float(self.offset.read_text()) + seconds))

    @property
    def days(self) -> float:
        return float(self.offset.read_text()) / 86400

    def rows(self, sql: str) -> list:
        with closing(sqlite3.connect(self.folder / "data" / "perpetualcc.db")) as database:
            return database.execute(sql).fetchall()

    def limits(self) -> int:
        path = self.folder / "data" / "perpetualcc.db"
        if not path.exists():
            return 0
        try:
            return self.rows("SELECT count(*) FROM events WHERE kind = 'LimitReached'")[0][0]
        except sqlite3.OperationalError:
            return 0

    def play(self, kills: int, jumps: dict[int, float], *, limits: int, within: float) -> None:
        """Kill the engine so often, evenly over the limits that are expected."""
        deadline = time.monotonic() + within
        for number in range(kills):
            engine = self.engine()
            wanted = (number + 1) * limits // (kills + 1)
            while self.limits() < wanted and engine.poll() is None:
                assert time.monotonic() < deadline, f"{self.limits()} limits in {self.days} days"
                time.sleep(0.02)
            time.sleep(random.uniform(0, 0.1))
            engine.kill()
            engine.communicate()
            self.jump(jumps.get(number, 0.0))
        engine = self.engine()
        _, said = engine.communicate(timeout=max(1.0, deadline - time.monotonic()))
        assert engine.returncode == 0, said


def assert_nothing_was_lost(week: Week, *, kills: int) -> None:
    done = week.rows(
        "SELECT task, count(*) FROM events WHERE kind = 'TaskSettled'"
        " AND json_extract(data, '$.state') = 'done' GROUP BY task"
    )
    assert [count for _, count in done] == [1] * (week.sessions * week.tasks)
    assert week.rows("SELECT DISTINCT state FROM tasks") == [("done",)]
    assert week.rows("SELECT count(*) FROM spending WHERE ended_at IS NULL") == [(0,)]
    spent = week.rows("SELECT day, sum(tokens) FROM spending GROUP BY day")
    # One reply may be on its way when the budget is met.
    assert max(tokens for _, tokens in spent) <= 15_000 + TOKENS, spent
    # A kill may come between the run's row and the conversation's first line, never later. What a
    # limit turned away before its first word is begun anew: this Claude has no process to name.
    begun = week.rows(
        "SELECT count(DISTINCT claude_session) FROM runs WHERE tokens_in > 0 OR outcome <> 'later'"
    )[0][0]
    assert begun <= week.sessions * week.tasks + kills * week.sessions
    waiting = "SELECT count(*) FROM limit_waits WHERE over_at IS NULL"
    assert week.rows(waiting) == [(0,)]


def test_some_days_of_limits_a_kill_and_a_clock_that_jumps_back(tmp_path):
    week = Week(tmp_path, sessions=3, tasks=1)

    week.play(1, {0: -3 * 3600}, limits=3, within=50)

    assert_nothing_was_lost(week, kills=1)
    assert week.limits() >= 3


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_week_of_thirty_limits_and_seven_kills(tmp_path):
    week = Week(tmp_path, sessions=8, tasks=4)

    # Five kills and two reboots are the same to the engine; a clock jump each way.
    week.play(7, {2: 9 * 3600, 4: -6 * 3600}, limits=30, within=500)

    assert_nothing_was_lost(week, kills=7)
    assert week.limits() >= 30
    assert week.days >= 6
