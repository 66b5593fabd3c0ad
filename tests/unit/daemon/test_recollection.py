"""That what is remembered ends nothing, whatever the database does."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from perpetualcc.daemon.recollection import Recollection
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import QuestionAnswered, RecordedEvent, TaskSettled
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from tests.fakes.clock import FakeClock


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
        None,
        SimpleNamespace(forget_old=locked, find_similar=alike, mark_useful=locked),
        SimpleNamespace(get_facts=nothing, mark_useful=locked, forget_old=locked),
        None,
        FakeClock(),
    )
    asyncio.run(recollection.run(0))

    assert read == ["the log"]
    assert asyncio.run(recollection.about(Path("/p"), "Which?")) == ["Which? → SQLite"]


async def task(_id):
    return SimpleNamespace(prompt="Move the store to SQLite")


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
        SimpleNamespace(get=task),
        SimpleNamespace(forget_old=nothing, record_episode=take),
        SimpleNamespace(get_facts=nothing, mark_useful=nothing, forget_old=nothing),
        None,
        FakeClock(),
    )
    recollection.habits = SimpleNamespace(learn=take)
    asyncio.run(recollection.run(0))

    assert learned == (["QuestionAnswered", "Episode"] if teaches else [])


def test_what_happens_in_a_worktree_is_remembered_of_its_repository(tmp_path):
    tree, kept, asked = tmp_path / ".claude" / "worktrees" / "gone", [], []
    event = QuestionAnswered(
        session=SessionId("s"), run=RunId("run-1"), request=RequestId("q"),
        answers={"Which?": "One"}, decided_by="person",
    )  # fmt: skip

    async def follow(*_args, **_more):
        yield RecordedEvent(seq=1, at=1.0, event=event)

    async def project(_session):
        return tree

    async def keep(episode):
        kept.append(episode.project)

    async def find(_question, _limit, *, project):
        asked.append(project)
        return []

    async def facts(project):
        asked.append(project)
        return []

    recollection = Recollection(
        SimpleNamespace(follow=follow),
        SimpleNamespace(project=project),
        SimpleNamespace(get=task),
        SimpleNamespace(
            forget_old=nothing, record_episode=keep, find_similar=find, mark_useful=nothing
        ),
        SimpleNamespace(get_facts=facts, mark_useful=nothing, forget_old=nothing),
        None,
        FakeClock(),
    )
    recollection.habits = SimpleNamespace(learn=nothing)
    asyncio.run(recollection.run(0))
    asyncio.run(recollection.about(tree, "Which?"))

    assert kept == [str(tmp_path)]
    assert asked == [str(tmp_path)] * 2


def test_a_task_is_remembered_by_what_it_was():
    kept = []

    async def follow(_since, **_how):
        event = TaskSettled(session=SessionId("s"), task=TaskId("t"), state="done", result="Moved")
        yield RecordedEvent(seq=1, at=1.0, event=event)

    async def project(_session):
        return Path("/p")

    async def keep(episode):
        kept.append((episode.context, episode.action, episode.outcome))

    async def nothing(*_):
        return None

    recollection = Recollection(
        SimpleNamespace(follow=follow),
        SimpleNamespace(project=project),
        SimpleNamespace(get=task),
        SimpleNamespace(record_episode=keep),
        None,
        SimpleNamespace(learn=nothing),
        FakeClock(),
    )
    asyncio.run(recollection.run(0))

    assert kept == [("Move the store to SQLite", "done", "success")]
