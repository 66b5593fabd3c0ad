"""What a person reads of the earlier attempts of a task that stopped."""

import asyncio
from types import SimpleNamespace

from perpetualcc.daemon.people_desk import SessionDesk
from perpetualcc.domain.events import RecordedEvent, TaskSettled
from perpetualcc.domain.ids import SessionId
from tests.unit.daemon.test_limits import task


def test_attempts_are_told_in_plain_words_and_handovers_are_none():
    ends = [("queued", ""), ("queued", "API Error"), ("waiting", "the 5-hour limit")]
    ends += [("parked", "bad")]

    async def tail(session, _count, **_kinds):
        return [
            RecordedEvent(
                seq=n, at=0.0, event=TaskSettled(session=session, task="t-1", state=s, result=r)
            )
            for n, (s, r) in enumerate(ends)
        ]

    desk = SessionDesk(
        manager=None, ledger=None, events=SimpleNamespace(tail=tail), budget=None, work=None
    )
    lines = asyncio.run(desk.history(task("t-1", group=SessionId("s"))))

    assert [line.partition("  ")[2] for line in lines] == [
        "to be tried again: API Error",
        "waited: the 5-hour limit",
        "parked: bad",
    ]
