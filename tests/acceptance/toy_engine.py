"""A tiny engine on the real host: enough to crash, hang, work, wait and tell stories."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from perpetualcc.claude import processes
from perpetualcc.daemon import host
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import RunId
from perpetualcc.domain.locations import Locations
from perpetualcc.gateway.methods import Connection, Method

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


class Toy:
    """Does on demand what engines do."""

    def __init__(self, locations: Locations) -> None:
        self.data = locations.data
        self.busy = False
        self.methods = {
            "toy.echo": Method(call=self.echo, params={"text": str}),
            "toy.pid": Method(call=self.pid),
            "toy.decide": Method(call=self.pid, is_decision=True),
            "toy.look": Method(
                call=self.pid, params={"attend": bool | None}, only_people=frozenset({"attend"})
            ),
            "toy.fail": Method(call=self.fail, params={"how": str}),
            "toy.block": Method(call=self.block, params={"seconds": float}),
            "toy.due": Method(call=self.due, params={"at": float | None}),
            "toy.work": Method(call=self.work),
            "toy.spawn": Method(call=self.spawn),
            "daemon.go_on": Method(call=self.pid),
            "events.follow": Method(call=self.follow, params={"since": int}),
        }

    async def echo(self, params: dict[str, Any], connection: Connection) -> str:
        return str(params["text"])

    async def pid(self, params: dict[str, Any], connection: Connection) -> int:
        return os.getpid()

    async def fail(self, params: dict[str, Any], connection: Connection) -> None:
        match params["how"]:
            case "person":
                raise PerpetualError("No session 'x'", hint="pcc list")
            case "bug":
                raise RuntimeError("a bug")
            case "exit":
                os._exit(3)

    async def block(self, params: dict[str, Any], connection: Connection) -> None:
        time.sleep(params["seconds"])  # noqa: ASYNC251  # what a bad engine does

    async def due(self, params: dict[str, Any], connection: Connection) -> None:
        (self.data / "due").write_text(str(params["at"] or ""))

    async def work(self, params: dict[str, Any], connection: Connection) -> None:
        self.busy = True

    async def spawn(self, params: dict[str, Any], connection: Connection) -> int:
        environment = os.environ | processes.mark(self.data, RunId("r-1"))
        command = ["setsid", "-f", sys.executable, "-c", STUBBORN]
        child = await asyncio.create_subprocess_exec(
            *command, env=environment, stdout=subprocess.PIPE
        )
        assert child.stdout
        await child.stdout.readline()
        await child.wait()
        return child.pid

    async def follow(self, params: dict[str, Any], connection: Connection) -> str:
        async def feed() -> AsyncGenerator[tuple[str, Any], None]:
            seq = params["since"]
            while True:
                seq += 1
                yield "Counted", {"seq": seq, "pid": os.getpid(), "text": "x" * 1000}
                await asyncio.sleep(0.001)

        return connection.subscribe(feed())

    async def next_due(self) -> float | None:
        file = self.data / "due"
        text = file.read_text() if file.exists() else ""
        if text and float(text) <= time.time():
            file.unlink()
            (self.data / "served").write_text(str(time.time()))
            return None
        return float(text) if text else None

    async def goes_on(self) -> float:
        return 0.0 if self.busy else float("inf")

    async def got_on(self) -> None:
        if not (self.data / "progress").exists():
            await asyncio.Event().wait()

    async def stop(self, grace: timedelta) -> None:
        (self.data / "stopped").write_text(str(grace.total_seconds()))
        if self.busy:
            await asyncio.sleep(0.3)
            (self.data / "finished").touch()


@asynccontextmanager
async def build(locations: Locations) -> AsyncIterator[Toy]:
    if (locations.data / "broken").exists():
        raise RuntimeError("the toy is broken")
    if (locations.data / "newer").exists():
        raise PerpetualError("The database is newer", hint="Upgrade")
    yield Toy(locations)


if __name__ == "__main__":
    host.run(build)
