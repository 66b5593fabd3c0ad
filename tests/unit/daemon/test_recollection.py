"""That what is remembered ends nothing, whatever the database does."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.recollection import Recollection
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import QuestionAnswered, RecordedEvent
from perpetualcc.domain.ids import RequestId, RunId, SessionId


async def locked(*_given):
    raise PassingError("the database is locked")


async def alike(*_given, **_more):
    episode = SimpleNamespace(context="Which?", action="SQLite")
    return [SimpleNamespace(similarity=0.9, episode=episode)]


async def nothing(*_given):
    return []


def test_a_locked_database_ends_neither_the_engine_nor_a_run():
    read = []

    async def follow(*_args, **_more):
        read.append("the log")
        for event in ():
            yield event

    recollection = Recollection(
        SimpleNamespace(follow=follow),
        None,
        SimpleNamespace(forget_old=locked, find_similar=alike, mark_useful=locked),
        SimpleNamespace(get_facts=nothing),
        None,
    )
    asyncio.run(recollection.run(0))

    assert read == ["the log"]
    assert asyncio.run(recollection.about(Path("/p"), "Which?")) == ["Which? → SQLite"]


@pytest.mark.parametrize(("run", "teaches"), [("run-1", True), ("", False)])
def test_of_what_a_person_answers_a_plan_teaches_nothing(run, teaches):
    answered = QuestionAnswered(
        session=SessionId("s"), run=RunId(run), request=RequestId("q"),
        answers={"Begin with this?": "Go ahead"}, decided_by="person",
    )  # fmt: skip
    learned = []

    async def follow(*_args, **_more):
        yield RecordedEvent(seq=1, at=0.0, event=answered)

    async def project(_session):
        return Path("/p")

    async def take(what, *_more):
        learned.append(type(what).__name__)

    recollection = Recollection(
        SimpleNamespace(follow=follow),
        SimpleNamespace(project=project),
        SimpleNamespace(forget_old=nothing, record_episode=take),
        SimpleNamespace(get_facts=nothing),
        None,
    )
    recollection.habits = SimpleNamespace(learn=take)
    asyncio.run(recollection.run(0))

    assert learned == (["QuestionAnswered", "Episode"] if teaches else [])
