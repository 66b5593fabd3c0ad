"""
The real engine with a scripted Claude and a clock that jumps to whatever is due next.

`python week_engine.py DATA FOLDER OFFSET SESSIONS TASKS`: starts the sessions, or goes on with
them, and exits with 0 when every one is finished. It may be killed at any time.
"""

import asyncio
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from perpetualcc.config.clock import wall_clock
from perpetualcc.daemon.engine import build
from perpetualcc.domain.locations import Locations
from tests.fakes.claude import FakeClaudes


async def _a_person() -> bool:
    return False


_NOBODY = SimpleNamespace(client="test", is_agent=_a_person)


async def main(data: Path, folder: Path, offset: Path, sessions: int, tasks: int) -> None:
    locations = Locations(data=data).prepare()
    async with build(locations, FakeClaudes(folder=folder, clock=wall_clock())) as engine:
        await begin(engine, folder, sessions, tasks)
        while not await finished(engine, sessions):
            await asyncio.sleep(0.02)
            if not engine.busy:
                await leap(engine, offset)


async def call(engine, method: str, **params):
    wanted = engine.methods[method]
    return await wanted.call({name: params.get(name) for name in wanted.params} | params, _NOBODY)


async def begin(engine, folder: Path, sessions: int, tasks: int) -> None:
    await call(engine, "budget.set", name="tokens_per_day", value=15_000.0)
    there = {one["name"] for one in await call(engine, "session.list", limit=100)}
    for n in range(sessions):
        project = folder / f"project-{n}"
        project.mkdir(exist_ok=True)
        if f"s{n}" not in there:
            await call(
                engine, "session.start", project=str(project), task=f"task {n}", name=f"s{n}"
            )
        found = await call(engine, "session.get", session=f"s{n}")
        for m in range(len(found["tasks"]), tasks):
            await call(engine, "task.add", session=f"s{n}", prompt=f"task {n}.{m}")


async def finished(engine, sessions: int) -> bool:
    found = await call(engine, "session.list", limit=100)
    assert not [one for one in found if one["status"] == "ERROR"], found
    return [one["status"] for one in found] == ["COMPLETED"] * sessions


async def leap(engine, offset: Path) -> None:
    """To the next due time, as far ahead as it is."""
    due = await engine.next_due()
    if due is not None and (ahead := due - time.time()) > 0:
        draft = offset.with_suffix(".new")
        draft.write_text(str(float(offset.read_text()) + ahead + 0.01))
        draft.replace(offset)
        engine._parts.dispatcher.wake()


if __name__ == "__main__":
    paths = [Path(word) for word in sys.argv[1:4]]
    asyncio.run(main(*paths, int(sys.argv[4]), int(sys.argv[5])))
