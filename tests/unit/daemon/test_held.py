"""Sessions as people see them, beside what the database says of them."""

import asyncio
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.held import Held
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from tests.unit.store.test_people import ASKED, world

WAITING = SessionStatus.WAITING_INPUT


def session(project, status):
    return Session(
        id=SessionId("s"),
        name="mine",
        project=project,
        status=status,
        options=SessionOptions(),
        created_at=0,
        updated_at=0,
    )


async def begins(_):
    return {}


@pytest.mark.parametrize("status", SessionStatus)
def test_what_asked_waits_also_before_its_task_is_claimed_again_after_a_restart(tmp_path, status):
    async def play():
        async with world(tmp_path) as it:
            held = Held(escalations=it.store, manager=SimpleNamespace(begins=begins))
            number = (await it.queue.escalate(ASKED)).number
            known = [session(tmp_path, status)]
            return await held.shown(known), await held.shown(known, WAITING), number

    [seen], found, number = asyncio.run(play())

    is_asking = status in {SessionStatus.IDLE, SessionStatus.PROCESSING, WAITING}
    assert seen.status is (WAITING if is_asking else status)
    assert (f"pcc respond {number}" in seen.detail) is is_asking
    assert bool(found) is is_asking
    assert (status in Held.asked_for(None, WAITING)) is is_asking
