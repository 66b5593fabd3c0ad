"""That what is remembered ends nothing, whatever the database does."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

from perpetualcc.daemon.recollection import Recollection
from perpetualcc.domain.errors import PassingError


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
