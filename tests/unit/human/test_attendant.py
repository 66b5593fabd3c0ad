"""Whether people are told of what happened, whatever is in the way for a while."""

import asyncio
from types import SimpleNamespace

import pytest

from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import RecordedEvent, SessionStatusChanged, TaskStarted
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.human import attendant as attendants
from perpetualcc.human.attendant import Attendant

STARTED = TaskStarted(session=SessionId("s"), task=TaskId("t"), prompt="p", attempt=1)


@pytest.mark.parametrize(
    ("trouble", "tries", "told"),
    [(PassingError("the disk is full"), 6, [1, 2]), (ValueError("a bug"), 3, [2])],
)
def test_trouble_that_passes_is_waited_for_and_a_bug_silences_nothing_else(
    monkeypatch, trouble, tries, told
):
    monkeypatch.setattr(attendants, "_PAUSES", (0.0, 0.0))
    failed, done = [], []

    async def withdraw(*_args, **_more):
        if not done and len(failed) < (6 if isinstance(trouble, PassingError) else 3):
            failed.append(1)
            raise trouble

    async def put(_notices, *, seen, **_more):
        done.append(seen)

    async def follow(_kinds):
        for seq in (1, 2):
            yield RecordedEvent(seq=seq, at=0.0, event=STARTED)

    attendant = Attendant(
        news=SimpleNamespace(follow=follow),
        queue=SimpleNamespace(store=SimpleNamespace(withdraw=withdraw)),
        work=None,
        outbox=SimpleNamespace(put=put),
        channels=(),
        settings=None,
        wake=lambda: None,
    )
    asyncio.run(attendant.run())

    assert (len(failed), done) == (tries, told)


@pytest.mark.parametrize(("after", "over"), [("PROCESSING", "s"), ("RATE_LIMITED", None)])
def test_only_a_limit_that_is_no_longer_waited_for_is_over(after, over):
    outdated = []

    async def put(_notices, *, goes_on, **_more):
        outdated.append(goes_on)

    async def follow(_kinds):
        changed = SessionStatusChanged(session="s", before="RATE_LIMITED", after=after)
        yield RecordedEvent(seq=1, at=0.0, event=changed)

    attendant = Attendant(
        news=SimpleNamespace(follow=follow),
        queue=None,
        work=None,
        outbox=SimpleNamespace(put=put),
        channels=(),
        settings=None,
        wake=lambda: None,
    )
    asyncio.run(attendant.run())

    assert outdated == [over]


@pytest.mark.parametrize(("looks", "waited"), [([False], 1), ([True, True, False], 3)])
def test_who_asks_what_waits_hears_of_what_has_just_happened(looks, waited):
    seen = []

    async def is_ahead(_kinds):
        seen.append(1)
        return looks[len(seen) - 1]

    asyncio.run(attendant_of(news=SimpleNamespace(is_ahead=is_ahead)).caught_up())

    assert len(seen) == waited


def test_who_asks_what_waits_is_not_kept_by_trouble(monkeypatch):
    monkeypatch.setattr(attendants, "_BETWEEN", 0.0)
    seen = []

    async def is_ahead(_kinds):
        seen.append(1)
        return True

    asyncio.run(attendant_of(news=SimpleNamespace(is_ahead=is_ahead)).caught_up())

    assert len(seen) == attendants._LOOKS


def attendant_of(**parts):
    usual = {"queue": None, "work": None, "outbox": None, "channels": (), "settings": None}
    return Attendant(**{**usual, "wake": lambda: None, **parts})
