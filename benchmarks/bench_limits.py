"""Waiting: how late a due session starts, what a checkpoint costs, and a thousand that wait."""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.config import CONFIG_VARIABLE, locate
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import connect
from perpetualcc.daemon.state import Phase, read_status
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.ids import SessionId, new_task_id
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import NewTask
from perpetualcc.sessions.changed_files import changed_files
from perpetualcc.sessions.checkpoint import CheckpointManager, SessionState
from perpetualcc.store.database import Database
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore

_WAITING = 1000
_IDLE_SECONDS = 20
_FILES = 40
_SAVES = 60
_PLACES, _FILES_EACH = 200, 50


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return [_checkpoint(Path(folder)), *_changed(Path(folder)), *_waits(Path(folder))]


def _checkpoint(folder: Path) -> Result:
    project = folder / "project"
    project.mkdir()
    names = [f"file_{n}.py" for n in range(_FILES)]
    for name in names:
        (project / name).write_text("x = 1\n" * 3000)
    manager = CheckpointManager(folder, SystemClock(), retention=timedelta(days=7))
    state = SessionState(
        session_id=SessionId("abc123"),
        project_path=str(project),
        current_task="Build it",
        reason="a limit",
        completed_subtasks=["one"] * 20,
        pending_subtasks=["two"] * 20,
        modified_files=names,
        conversation_summary="What was said. " * 300,
    )
    times = []
    for _ in range(_SAVES):
        begun = time.perf_counter()
        manager.save(state)
        times.append(time.perf_counter() - begun)
    return Result(
        name="checkpoint, median",
        value=round(statistics.median(times) * 1000, 2),
        unit="ms",
        limit=20,
        note=f"{_FILES} files of 18 kB; p95 {statistics.quantiles(times, n=20)[18] * 1000:.1f} ms",
    )


def _waits(folder: Path) -> list[Result]:
    """The real supervisor and engine; the runs end at once, for want of a Claude Code."""
    locations = locate(folder / "data").prepare()
    due = time.time() + 12
    asyncio.run(_fill(locations, folder, due))
    with _configured(folder):
        try:
            connect(locations, flags=["--idle-exit=0.2"]).close()
            late = _lateness(locations, due)
            supervisor = _wait_asleep(locations)
            before = _cpu_seconds(supervisor)
            time.sleep(_IDLE_SECONDS)
            used = (_cpu_seconds(supervisor) - before) / _IDLE_SECONDS * 100
            is_gone = read_status(locations).engine is None
        finally:
            halt.stop_now(locations)
    return [
        Result(
            name="due session starts late by, engine asleep",
            value=round(late, 2),
            unit="s",
            limit=2,
            note="from the due time to the run on file, the engine's start included",
        ),
        Result(
            name=f"idle supervisor CPU, {_WAITING} sessions waiting",
            value=round(used, 3),
            unit="%",
            limit=0.1,
            note=f"over {_IDLE_SECONDS} s; engine gone: {is_gone}",
        ),
    ]


async def _fill(locations: Locations, folder: Path, due: float) -> None:
    """One session that is due soon, and many that wait for a day."""
    async with await Database.open(locations.database) as database:
        ledger = SqliteLedger(database, SystemClock(), "bench")
        sessions = SessionStore(database, SystemClock())
        for number in range(_WAITING + 1):
            session = await sessions.create(
                name=f"s{number}", project=folder / "project", options=SessionOptions()
            )
            at = due + (86400 if number else 0)
            await ledger.add(NewTask(id=new_task_id(), group=session.id, prompt="Wait", due=at))


def _changed(folder: Path) -> Iterator[Result]:
    """Which files changed since the task began: with git, and by looking at the tree."""
    tree = folder / "tree"
    for n in range(_PLACES):
        (tree / f"package_{n}").mkdir(parents=True)
        for m in range(_FILES_EACH):
            (tree / f"package_{n}" / f"file_{m}.py").write_text("x = 1\n")
    yield _looked("changed files of a tree, median of its own time", tree, 150)
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    git = ["git", "-C", str(tree), "-c", "user.name=b", "-c", "user.email=b@example.org"]
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "All"], check=True)
    yield _looked("changed files of a repository, median", tree, 300, clock=time.perf_counter)


def _looked(
    name: str, tree: Path, limit: float, clock: Callable[[], float] = time.thread_time
) -> Result:
    time.sleep(1.1)  # git's times are in seconds
    since, times = time.time(), []
    for n in range(_FILES):
        (tree / f"package_{n}" / "file_0.py").write_text(f"x = {since}\n")
    for _ in range(11):
        begun = clock()
        found = changed_files(tree, since)
        times.append(clock() - begun)
    return Result(
        name=name,
        value=round(statistics.median(times) * 1000, 1),
        unit="ms",
        limit=limit,
        note=f"{_PLACES * _FILES_EACH:,} files, {len(found)} told of",
    )


@contextmanager
def _configured(folder: Path) -> Iterator[None]:
    config = folder / "config.toml"
    config.write_text('[claude]\nbinary = "/usr/bin/false"\n')
    before = dict(os.environ)
    os.environ[CONFIG_VARIABLE] = str(config)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _lateness(locations: Locations, due: float) -> float:
    _wait_asleep(locations)
    assert time.time() < due, "the machine is too slow to be measured"
    time.sleep(due - time.time() + 4)
    with connect(locations, flags=["--idle-exit=0.2"]) as daemon:
        events = daemon.call("events.tail", session="s0", count=50)
    return float(next(event["at"] for event in events if event["kind"] == "RunStarted") - due)


def _wait_asleep(locations: Locations) -> int:
    deadline = time.monotonic() + 30
    while (status := read_status(locations)).phase is not Phase.ASLEEP:
        assert time.monotonic() < deadline, status
        time.sleep(0.02)
    assert status.supervisor is not None, status
    return status.supervisor


def _cpu_seconds(pid: int) -> float:
    """User and system time, to the hundredth; from `ps` where there is no /proc."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    said = subprocess.run(
        ["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout
    minutes, seconds = said.strip().split(":")[-2:]
    return int(minutes) * 60 + float(seconds)
