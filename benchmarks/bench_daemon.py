"""What a sleeping daemon costs, how fast it wakes, and what any command costs."""

import asyncio
import importlib.util
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.config import locate
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import connect
from perpetualcc.daemon.state import Phase, read_status
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.store.database import Database
from perpetualcc.store.sessions import SessionStore

IDLE_SECONDS = 20
WAKES = 5
STARTS = 15
_TOY = Path(__file__).parent.parent / "tests" / "acceptance"


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        locations = locate(Path(directory) / "data")
        flags = ["--idle-exit=0.2"]
        if importlib.util.find_spec("perpetualcc.daemon.engine") is None:
            os.environ["PYTHONPATH"] = str(_TOY)
            flags.append("--engine=toy_engine")
        try:
            found = [*_sleeping(locations, flags), _waking(locations), *_commands(locations)]
        finally:
            halt.stop_now(locations)
    return [*found, *_listing()]


def _sleeping(locations: Locations, flags: list[str]) -> list[Result]:
    connect(locations, flags=flags).close()
    supervisor = _wait_asleep(locations)
    before = _cpu_seconds(supervisor)
    time.sleep(IDLE_SECONDS)
    used = (_cpu_seconds(supervisor) - before) / IDLE_SECONDS * 100
    is_gone = read_status(locations).engine is None
    return [
        Result(name="idle supervisor memory", value=_megabytes(supervisor), unit="MB", limit=25),
        Result(
            name="idle supervisor CPU",
            value=used,
            unit="%",
            limit=0.1,
            note=f"over {IDLE_SECONDS} s; engine gone: {is_gone}",
        ),
    ]


def _waking(locations: Locations) -> Result:
    times = []
    for _ in range(WAKES):
        _wait_asleep(locations)
        before = time.perf_counter()
        with connect(locations) as client:
            client.call("ping")
        times.append(time.perf_counter() - before)
    return Result(
        name="asleep to first answer",
        value=max(times),
        unit="s",
        limit=3,
        note=f"the slowest of {WAKES}",
    )


def _commands(locations: Locations) -> list[Result]:
    pcc = [sys.executable, "-m", "perpetualcc"]
    commands = {
        "baseline": _BASELINE,
        "pcc --help": [*pcc, "--help"],
        "pcc daemon status": [*pcc, "--data-dir", str(locations.data), "daemon", "status"],
    }
    median = _medians(commands)
    return [_against_typer(name, median) for name in list(commands)[1:]]


_BASELINE = [sys.executable, "-c", "import typer"]


def _medians(commands: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Seconds of each command, taking turns, so that a busy moment meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            before = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - before)
    return {name: statistics.median(values) for name, values in times.items()}


def _against_typer(name: str, median: Mapping[str, float]) -> Result:
    return Result(
        name=f"`{name}` against `import typer`",
        value=median[name] / median["baseline"],
        unit="times",
        limit=1.5,
        note=f"{median[name] * 1000:.0f} ms",
    )


def _listing() -> list[Result]:
    """`pcc list` with an engine awake: a few finished sessions, and ten thousand."""
    with ExitStack() as stack:
        commands = {"baseline": _BASELINE}
        for name, count in (("pcc list", _FEW), ("pcc list of many", _MANY)):
            locations = stack.enter_context(_awake_with(count))
            data = ["--data-dir", str(locations.data)]
            commands[name] = [sys.executable, "-m", "perpetualcc", *data, "list"]
        median = _medians(commands)
    few, many = median["pcc list"], median["pcc list of many"]
    return [
        _against_typer("pcc list", median),
        Result(
            name=f"`pcc list` of {_MANY:,} finished sessions against {_FEW}",
            value=many / few,
            unit="times",
            limit=2,
            note=f"{many * 1000:.0f} ms against {few * 1000:.0f} ms",
        ),
    ]


_FEW, _MANY = 10, 10_000


@contextmanager
def _awake_with(count: int) -> Iterator[Locations]:
    """An engine that stays awake, because a client stays connected."""
    with tempfile.TemporaryDirectory() as directory:
        locations = locate(Path(directory) / "data")
        try:
            connect(locations).close()
            halt.stop_now(locations)
            _finish_sessions(locations.database, count)
            with connect(locations) as client:
                assert len(client.call("session.list", limit=count)) == count
                yield locations
        finally:
            halt.stop_now(locations)


def _finish_sessions(database: Path, count: int) -> None:
    """One session as the product makes it, and the rest after its pattern; each did one task."""
    asyncio.run(_create_one(database))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sessions SET status = 'COMPLETED'")
        connection.executemany(
            "INSERT INTO sessions (id, name, project, status, options, created_at, updated_at)"
            " SELECT ?, ?, project, status, options, created_at, updated_at FROM sessions LIMIT 1",
            [(f"x{n:05}", f"session-{n}") for n in range(1, count)],
        )
        connection.execute(
            "INSERT INTO tasks (id, group_name, prompt, priority, lane, state, max_attempts,"
            " payload, created_at, updated_at)"
            " SELECT 't-' || id, id, 'Write the report', 0, 'interactive', 'done', 3, '{}', 0, 0"
            " FROM sessions"
        )


async def _create_one(path: Path) -> None:
    async with await Database.open(path) as database:
        store = SessionStore(database, SystemClock())
        await store.create(name="session", project=path.parent, options=SessionOptions())


def _wait_asleep(locations: Locations) -> int:
    deadline = time.monotonic() + 30
    while (status := read_status(locations)).phase is not Phase.ASLEEP:
        if time.monotonic() > deadline:
            raise TimeoutError(f"The engine does not fall asleep: {status}")
        time.sleep(0.02)
    assert status.supervisor
    return status.supervisor


def _cpu_seconds(pid: int) -> float:
    """User and system time so far; `ps` has seconds only, so macOS reads low."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    minutes, seconds = _ps(pid, "time").split(":")[-2:]
    return int(minutes) * 60 + float(seconds)


def _megabytes(pid: int) -> float:
    return int(_ps(pid, "rss")) / 1024


def _ps(pid: int, field: str) -> str:
    command = ["ps", "-o", f"{field}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
