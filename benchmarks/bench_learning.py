"""Learning and memory: what a hook costs, what a huge transcript costs, a million episodes."""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.daemon.meanings import Meanings
from perpetualcc.domain.episodes import Episode
from perpetualcc.domain.ids import SessionId
from perpetualcc.learning.corrections import classify
from perpetualcc.learning.install import hooks_directory
from perpetualcc.learning.places import Places
from perpetualcc.memory import EpisodicMemory
from perpetualcc.memory.terms import terms_of
from perpetualcc.store.database import Database
from perpetualcc.store.episodes import SqliteEpisodes

EPISODES = int(os.environ.get("PCC_BENCH_EPISODES", "1000000"))
_FINDS, _RECORDS = 300, 2_000
_WORDS = [f"word{number}" for number in range(20_000)]
_FREQUENT = ["deploy", "test", "database", "file", "error", "write", "read", "build"]


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        return [*_hooks(root), _transcript(root), _classifier(), *asyncio.run(_episodes(root))]


def _hooks(root: Path) -> list[Result]:
    """Each hook beside `bash -c true`, in turns, while eight others append."""
    places = Places(claude=root / "claude")
    places.make()
    environment = {"PATH": "/usr/bin:/bin", "CLAUDE_CONFIG_DIR": str(places.claude)}
    event = json.dumps({"session_id": "s", "prompt": "no, use pnpm, not npm"}).encode()
    results = []
    for script, kind in (
        ("capture.sh", "prompt"),
        ("session_start.sh", "session_start"),
        ("capture.sh", "session_end"),
    ):  # fmt: skip
        command = ["bash", str(hooks_directory() / script), kind]
        stop = threading.Event()
        others = [
            threading.Thread(target=_append, args=(command, environment, event, stop))
            for _ in range(8)
        ]
        for one in others:
            one.start()
        hook, plain = [], []
        for _ in range(60):
            plain.append(_timed(["bash", "-c", "true"], environment, event))
            hook.append(_timed(command, environment, event))
        stop.set()
        for one in others:
            one.join()
        base, cost = statistics.median(plain), statistics.median(hook)
        results.append(
            Result(
                name=f"hook {kind}", value=round(cost / (1.5 * base + 0.003), 3), unit="of limit",
                limit=1.0, note=f"{cost * 1000:.1f} ms; bash -c true {base * 1000:.1f} ms",
            )
        )  # fmt: skip
    return results


def _append(
    command: list[str], environment: dict[str, str], event: bytes, stop: threading.Event
) -> None:
    while not stop.is_set():
        subprocess.run(command, input=event, env=environment, capture_output=True, check=True)


def _timed(command: list[str], environment: dict[str, str], event: bytes) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=event, env=environment, capture_output=True, check=False)
    return time.perf_counter() - started


_READS = """
import json, resource, sys, threading
from pathlib import Path
from perpetualcc.learning.places import Places
from perpetualcc.learning.worker import Worker
Worker(Places(claude=Path(sys.argv[1]))).run(threading.Event(), once=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _transcript(root: Path) -> Result:
    """Peak memory of a worker with a 500 MB transcript over one with a small one."""
    peaks = []
    for size in (1_000, 500_000_000):
        places = Places(claude=root / f"claude{size}")
        places.make()
        transcript = root / f"transcript{size}.jsonl"
        record = {"type": "assistant", "message": {"content": "I ran npm install. " + "x" * 900}}
        line = json.dumps(record).encode() + b"\n"
        block = line * 1_000
        with transcript.open("wb") as file:
            while file.tell() < size:
                file.write(block if size > len(block) else line)
        hook = {"prompt": "no, use pnpm, not npm", "transcript_path": str(transcript)}
        queued = {"v": 1, "id": "e", "type": "prompt", "project": str(root), "hook": hook}
        places.queue.write_text(json.dumps(queued) + "\n")
        done = subprocess.run(
            [sys.executable, "-c", _READS, str(places.claude)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        scale = 1 if sys.platform == "darwin" else 1024
        peaks.append(int(done.stdout) * scale)
        transcript.unlink()
    more = (peaks[1] - peaks[0]) / 1e6
    return Result(name="500 MB transcript", value=round(more, 1), unit="MB more", limit=50)


def _classifier() -> Result:
    message, reply = (
        "No, we use pnpm here, not npm. From now on run the tests first.",
        "npm install",
    )
    return Result(
        name="classify a message", value=round(_median(lambda: classify(message, reply)), 2),
        unit="ms", limit=50,
    )  # fmt: skip


def _median(work: Callable[[], object], times: int = 30) -> float:
    costs = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        costs.append((time.perf_counter() - started) * 1000)
    return statistics.median(costs)


async def _episodes(root: Path) -> list[Result]:
    database = await Database.open(root / "memory.db")
    await _fill(database, EPISODES)
    memory = EpisodicMemory(SqliteEpisodes(database), Meanings(lambda: None))
    finds, records = [], []
    for number in range(_FINDS):
        rare, frequent = _WORDS[number * 37], " ".join(_FREQUENT[: 2 + number % 6])
        started = time.perf_counter()
        await memory.find_similar(f"{frequent} {rare} should I run this?")
        finds.append((time.perf_counter() - started) * 1000)
    for number in range(_RECORDS):
        started = time.perf_counter()
        await memory.record_episode(_episode(number))
        records.append((time.perf_counter() - started) * 1000)
    await database.close()
    return [_tail("find_similar", finds, 50), _tail("record_episode", records, 5)]


def _tail(name: str, costs: list[float], limit: float) -> Result:
    """The time that all but one of a hundred keep to, one after the other without a pause."""
    ranked = sorted(costs)
    return Result(
        name=f"{name}, p99", value=round(ranked[int(len(ranked) * 0.99) - 1], 2), unit="ms",
        limit=limit,
        note=f"{EPISODES:,} episodes, {len(costs)} times: median {statistics.median(costs):.1f},"
        f" worst {ranked[-1]:.1f} ms",
    )  # fmt: skip


async def _fill(database: Database, count: int) -> None:
    """The same rows that `record_episode` writes, many in a transaction."""
    for start in range(0, count, 50_000):
        rows = [_episode(number) for number in range(start, min(count, start + 50_000))]

        def insert(connection: object, rows: list[Episode] = rows, start: int = start) -> None:
            connection.executemany(  # type: ignore[attr-defined]
                "INSERT INTO episodes (id, session_id, timestamp, event_type, context, action,"
                " outcome, rationale, provenance) VALUES (?,?,?,?,?,?,?,?,'tool')",
                [
                    (start + i + 1, e.session, e.timestamp, e.event_type, e.context, e.action,
                     e.outcome, e.rationale)
                    for i, e in enumerate(rows)
                ],
            )  # fmt: skip
            connection.executemany(  # type: ignore[attr-defined]
                "INSERT INTO episode_terms (rowid, terms) VALUES (?, ?)",
                [
                    (start + i + 1, " ".join(terms_of(f"{e.event_type} {e.context} {e.action}")))
                    for i, e in enumerate(rows)
                ],
            )

        await database.write(insert)
    # As it lies after the upkeep: what came in large batches is no level of small segments.
    await database.write(_in_one)


def _in_one(connection: object) -> None:
    connection.execute(  # type: ignore[attr-defined]
        "INSERT INTO episode_terms (episode_terms) VALUES ('optimize')"
    )


def _episode(number: int) -> Episode:
    words = [_WORDS[(number * k) % len(_WORDS)] for k in (1, 7, 13, 29)]
    frequent = [_FREQUENT[(number + k) % len(_FREQUENT)] for k in range(3)]
    return Episode(
        session=SessionId(f"s{number % 1000}"), timestamp=float(number), event_type="tool",
        context=" ".join(words + frequent), action="allowed", outcome="success", rationale="",
    )  # fmt: skip


if __name__ == "__main__":
    for result in run():
        print(result.name, result.value, result.unit, "ok" if result.ok else "NOT OK", result.note)
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
