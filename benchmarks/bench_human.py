"""How soon people are told, and how quickly what waits for them is listed."""

import asyncio
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.cli.stage import staged
from perpetualcc.config.file import Config
from perpetualcc.daemon.parts import Parts
from perpetualcc.domain.escalations import EscalationRequest, EscalationType
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.rehearsal import read_scenario
from perpetualcc.store.database import Database

_QUESTIONS = 5
_BETWEEN = 2.0
"""Seconds between questions: Claude needs longer for one, and a sender gets ready meanwhile."""
_PENDING = 10_000
_ASKED = EscalationRequest(
    session=SessionId("s"),
    run=RunId("r"),
    task=TaskId("t"),
    request=RequestId("q"),
    type=EscalationType.QUESTION,
    title="Which database should the notes live in?",
    context="The requirements do not say.",
    options=({"label": "SQLite"}, {"label": "PostgreSQL"}),
    raw={"questions": [{"question": "Which?", "options": [{"label": "SQLite"}]}]},
)


def run() -> list[Result]:
    leaving = asyncio.run(_seconds_until_told())
    listing, command = _seconds_to_list()
    return [
        Result(
            name="from a question to its webhook arriving (median)",
            value=leaving,
            unit="s",
            limit=1.0,
        ),
        Result(
            name="10,000 pending requests, all read (best of five)",
            value=listing,
            unit="s",
            limit=0.3,
        ),
        Result(
            name="what 10,000 waiting add to `pcc pending` with one",
            value=command,
            unit="s",
            limit=0.3,
        ),
    ]


@asynccontextmanager
async def _parts(folder: Path, config: Config) -> AsyncIterator[Parts]:
    locations = Locations(data=folder).prepare()
    async with await Database.open(locations.database) as database:
        yield Parts(locations, config, database, None)


async def _seconds_until_told() -> float:
    with tempfile.TemporaryDirectory() as folder, _receiver() as (url, arrivals):
        settings = NotificationSettings(desktop=False, urls=(url,))
        took = []
        async with _parts(Path(folder), Config(notifications=settings)) as parts:  # noqa: SIM117
            # The desk must have stopped before its database closes.
            async with asyncio.TaskGroup() as group:
                group.create_task(parts.desk.run())
                for number in range(_QUESTIONS):
                    await asyncio.sleep(_BETWEEN)
                    began, before = time.time(), len(arrivals)
                    await parts.queue.escalate(replace(_ASKED, request=RequestId(f"q{number}")))
                    while len(arrivals) == before:  # noqa: ASYNC110  # another thread fills it
                        await asyncio.sleep(0.005)
                    took.append(arrivals[-1] - began)
                await parts.desk.stop()
    return statistics.median(took)


@contextmanager
def _receiver() -> Iterator[tuple[str, list[float]]]:
    """A webhook and the epoch seconds at which each message arrived."""
    arrivals: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            arrivals.append(time.time())
            json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"json://127.0.0.1:{server.server_port}/", arrivals
        finally:
            server.shutdown()
            thread.join()


def _seconds_to_list() -> tuple[float, float]:
    """Reading all of them, and the whole command against itself with one."""
    with staged(read_scenario("steps: [Done.]"), None, base=dict(os.environ)) as stage:
        data = stage.folder / "pcc"
        config = Config(notifications=NotificationSettings(enabled=False))
        asyncio.run(_fill(data, config, 1))
        few = _command(stage)
        stage.pcc("daemon", "stop", "--now", quiet=True)
        reading = asyncio.run(_fill(data, config, _PENDING - 1))
        return reading, _command(stage) - few


def _command(stage: object) -> float:
    took = []
    for _ in range(6):
        began = time.perf_counter()
        if stage.pcc("pending", quiet=True):  # type: ignore[attr-defined]
            raise RuntimeError("pcc pending lists nothing")
        took.append(time.perf_counter() - began)
    return statistics.median(took[1:])  # the first one starts the daemon


async def _fill(data: Path, config: Config, count: int) -> float:
    """Add so many requests; the seconds that reading all of them takes, best of five."""
    async with _parts(data, config) as parts:
        session = await parts.sessions.create(name="s", project=data, options=SessionOptions())
        asked = replace(_ASKED, session=session.id)
        for first in range(0, count, 500):
            await asyncio.gather(
                *(
                    parts.queue.escalate(replace(asked, request=RequestId(f"{count}-{number}")))
                    for number in range(first, min(first + 500, count))
                )
            )
        took = []
        for _ in range(5):
            began = time.perf_counter()
            found = await parts.queue.get_pending()
            took.append(time.perf_counter() - began)
            if len(found) < count:
                raise RuntimeError(f"only {len(found)} of {count} are listed")
        return min(took)
