"""What a task has reserved when its run never begins."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.session_work import SessionWork
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.database import Database
from tests.unit.daemon.test_budget_questions import Stage
from tests.unit.daemon.test_limits import task


async def nothing(*_args, **_more):
    return None


class Agent:
    """Fails before its run is there."""

    async def advance(self, _task):
        raise PerpetualError("No handover of iteration 7 is on file")


def work_of(stage, begin):
    work = SessionWork(
        Agent(),
        SimpleNamespace(admit=nothing, clock=stage.clock, begins=lambda _task: None),
        stage.keeper,
        SimpleNamespace(save=nothing, latest=nothing),
        SimpleNamespace(admit=nothing),
        SimpleNamespace(tail=nothing),
        SimpleNamespace(claimed=nothing),
        SimpleNamespace(),
        reviews=SimpleNamespace(admit=nothing),
        memory=SimpleNamespace(settle=nothing),
        snapshots=SimpleNamespace(put_back=nothing, before=nothing),
        words=SimpleNamespace(begins=lambda _task: None, is_unheard=nothing),
    )

    async def session(_name):
        return stage.session

    work.manager = SimpleNamespace(get_session=session, begin=begin)
    return work


async def advance(work):
    with suppress(PerpetualError):
        await work.advance(task("t-1"))


@pytest.mark.parametrize("how", ["cancelled in the reservation", "cancelled after it", "fails"])
def test_a_run_that_never_begins_gives_back_what_it_reserved(tmp_path, how):
    async def main():
        database, here = await Database.open(tmp_path / "pcc.db"), asyncio.Event()
        stage = Stage(database, tmp_path)
        await stage.store.set_limit("tokens_per_day", 60_000)

        async def begin(_session):
            if how != "fails":
                here.set()
                await asyncio.sleep(60)
            return True

        reserve = stage.store.reserve

        async def written_but_not_told(*given):
            await reserve(*given)
            here.set()
            await asyncio.sleep(60)

        if how == "cancelled in the reservation":
            stage.store.reserve = written_but_not_told
        async with asyncio.TaskGroup() as group:
            advancing = group.create_task(advance(work_of(stage, begin)))
            if how != "fails":
                await here.wait()
                advancing.cancel()

        held = (await stage.store.spent(stage.clock.now())).held_tokens
        await database.close()
        return held

    assert asyncio.run(main()) == 0
