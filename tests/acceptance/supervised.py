"""PerpetualCC as a user has it: `pcc`, a daemon, the real Claude Code, and a scripted model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from perpetualcc.claude import processes
from perpetualcc.cli.history import last_events
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import DaemonUnavailable, connect
from perpetualcc.daemon.state import is_held, read_pid
from perpetualcc.domain.locations import Locations
from perpetualcc.gateway.client import Client, ConnectionLost
from tests.commands import run_pcc

T = TypeVar("T")
ENDED = {"COMPLETED", "ERROR", "STOPPED"}
WAITS = "Waiting for the daemon …\n"
"""What a command says on a machine where the daemon takes more than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised:
    """One installation with a world of its own."""

    locations: Locations
    environment: Mapping[str, str]
    project: Path
    patience: float = 50.0
    """Seconds for a command."""

    def pcc(
        self, *words: str, check: bool = True, stdin: str | None = None, within: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; a failure shows what it said."""
        done = run_pcc(
            ["--data-dir", str(self.locations.data), *words],
            env=self.environment,
            stdin=stdin,
            within=self.patience if within is None else within,
        )
        done.stderr = done.stderr.replace(WAITS, "")
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def command(self, *words: str) -> list[str]:
        return [
            *(sys.executable, "-m", "perpetualcc", "--data-dir", str(self.locations.data)),
            *words,
        ]

    def json(self, *words: str) -> Any:
        return json.loads(self.pcc(*words, "--json").stdout)

    def start(self, task: str, *words: str, project: Path | None = None) -> str:
        """Start a detached session; its id."""
        place = str(project or self.project)
        said = self.pcc("start", place, "--task", task, "--detach", *words).stdout
        return said.split()[2]

    def status(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.json("status", session)
        return found

    def ask(self, method: str, **params: Any) -> Any:
        """What a command would show, without a process of its own: a test looks often."""
        while True:
            with suppress(ConnectionLost), self.connect() as daemon:
                return daemon.call(method, **params)

    def connect(self) -> Client:
        try:
            return connect(self.locations, start=False)
        except DaemonUnavailable:
            self.pcc("daemon", "start")  # with the variables of this world
            return connect(self.locations, start=False)

    def look(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("session.get", session=session)
        return found

    def wait(self, session: str, *statuses: str, within: float = 80.0) -> dict[str, Any]:
        """Until the session is in one of the statuses (any end by default)."""
        wanted, deadline = set(statuses) or ENDED, time.monotonic() + within
        while (found := self.look(session))["status"] not in wanted:
            assert time.monotonic() < deadline, f"still {found['status']}: {self.log(session)}"
            time.sleep(0.1)
        return found

    def events(self, session: str, *kinds: str) -> list[dict[str, Any]]:
        while True:
            with suppress(ConnectionLost), self.connect() as daemon:
                found = last_events(daemon, session, 100_000)
                return [event for event in found if not kinds or event["kind"] in kinds]

    def log(self, session: str) -> str:
        engine = self.locations.engine_log
        return self.pcc("logs", session, "--level", "debug", check=False).stdout + (
            engine.read_text() if engine.exists() else ""
        )

    def wait_for_event(
        self, session: str, kind: str, *, count: int = 1, within: float = 60.0
    ) -> None:
        seen, since, deadline = 0, 0, time.monotonic() + within
        while seen < count:
            with suppress(ConnectionLost), self.connect() as daemon:
                daemon.call("events.follow", session=session, since=since)
                while seen < count:
                    event = daemon.next_event(max(0.0, deadline - time.monotonic()))
                    assert event is not None, f"no {kind} number {seen + 1}: {self.log(session)}"
                    since = event.data["seq"]
                    seen += event.data["kind"] == kind

    def claudes(self) -> list[int]:
        """Process ids of everything that runs for a session."""
        return processes.find(self.locations.data)

    @property
    def engine(self) -> int | None:
        locked = is_held(self.locations.engine_lock)
        return read_pid(self.locations.engine_lock) if locked else None

    @property
    def supervisor(self) -> int | None:
        locked = is_held(self.locations.supervisor_lock)
        return read_pid(self.locations.supervisor_lock) if locked else None

    def kill_engine(self) -> None:
        kill(self.engine)

    def kill_supervisor(self) -> None:
        kill(self.supervisor)

    def kill_both(self) -> None:
        """At once: an engine whose supervisor is gone would end by itself, and politely."""
        pids = [pid for pid in (self.supervisor, self.engine) if pid is not None]
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(map(processes.is_alive, pids)), within=5)


def kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not processes.is_alive(pid), within=5)


@contextmanager
def supervised(
    directory: Path, environment: Mapping[str, str], project: Path, *flags: str
) -> Iterator[Supervised]:
    """An installation below `directory`; everything of it has ended afterwards."""
    data = directory / "pcc" / "data"
    flags = flags or ("--idle-exit", "5")
    own = {
        **environment,
        "PERPETUALCC_SUPERVISOR": " ".join(flags),
        "PERPETUALCC_CONFIG": str(directory / "pcc" / "config.toml"),
    }
    # A busy build machine is no reason to wait.
    config = directory / "pcc" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[load]\nmax_cpu = 0.0\nmax_memory = 0.0\n")
    world = Supervised(locations=Locations(data=data), environment=own, project=project)
    try:
        yield world
    finally:
        halt.stop_now(world.locations)
    assert world.claudes() == []


def wait_until(holds: Callable[[], T], *, within: float = 30.0) -> T:
    """What it came to, once it is true of something."""
    deadline = time.monotonic() + within
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found
