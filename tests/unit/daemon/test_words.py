"""Words as rows: in order, once, bounded, and asked for in the transcripts."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from perpetualcc.daemon.words import WordKeeper
from perpetualcc.daemon.words_api import addressed
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import ClaudeSessionId, MessageId, SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import Lane, TaskState
from perpetualcc.domain.words import MOST
from perpetualcc.sessions.task_queue import PlannedTask, tasks_of
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.sessions import SessionStore
from perpetualcc.store.words import SqliteWords, TaskOverError
from tests.fakes.clock import FakeClock
from tests.unit.agent.test_supervision import SESSION, TASK

CONVERSATION = ClaudeSessionId("c-1")


class World:
    """A session with one task, and what is said to it."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database = database
        self.events = EventLog(database, clock)
        self.sessions = SessionStore(database, clock)
        self.keeper = WordKeeper(store=SqliteWords(database, clock))

    async def begin(self, project: Path) -> None:
        def begin(session):
            plan = [PlannedTask(prompt="Build it")]
            self.task = tasks_of(plan, session.id, Lane.INTERACTIVE)[0]
            return [self.task], []

        session = await self.sessions.create(
            name="mine", project=project, options=SessionOptions(), begin=begin
        )
        self.session = session.id

    async def say(self, text: str, key: str | None = None):
        return await self.keeper.add(self.session, self.task.id, text, by="test", key=key)

    async def give(self, number: int, message: str) -> None:
        await self.keeper.give([number], MessageId(message), CONVERSATION)

    async def become(self, state: str) -> None:
        await self.database.write(
            lambda c: c.execute("UPDATE tasks SET state = ? WHERE id = ?", (state, self.task.id))
        )

    async def states(self) -> list[str]:
        return [one.state.value for one in await self.keeper.all(self.task.id)]


@pytest.fixture
def play(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    @asynccontextmanager
    async def world():
        async with await Database.open(tmp_path / "pcc.db") as database:
            made = World(database, FakeClock())
            await made.begin(tmp_path)
            yield made

    def run(scene):
        async def main():
            async with world() as made:
                return await scene(made)

        return asyncio.run(main())

    return run


def transcript(tmp_path, *records) -> None:
    path = tmp_path / "claude" / "projects" / "p" / f"{CONVERSATION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def queued(message: str) -> dict:
    return {"type": "attachment", "attachment": {"type": "queued_command", "source_uuid": message}}


def test_many_clients_at_once_keep_an_order_and_a_bound(play):
    async def scene(world):
        results = await asyncio.gather(
            *(world.say(f"word {n}") for n in range(MOST + 5)), return_exceptions=True
        )
        kept = await world.keeper.waiting(world.task.id)
        told = [one.event.text for one in await world.events.tail(world.session, 100)]
        return results, kept, told

    results, kept, told = play(scene)

    refused = [one for one in results if isinstance(one, PerpetualError)]
    assert len(refused) == 5
    assert "20 things that were said wait" in refused[0].message
    assert [one.text for one in kept] == [f"word {n}" for n in range(MOST)] == told


def test_what_is_said_twice_with_one_key_is_said_once(play):
    async def scene(world):
        first, again = await world.say("use v2", "k"), await world.say("use v2", "k")
        other = await world.say("use v2", "l")
        return first.number, again.number, other.number, len(await world.events.tail(None, 10))

    first, again, other, events = play(scene)

    assert (first == again, other > first, events) == (True, True, 2)


@pytest.mark.parametrize("state", ["done", "cancelled", "missed"])
def test_nobody_speaks_to_a_task_that_is_over(play, state):
    async def scene(world):
        await world.become(state)
        with pytest.raises(TaskOverError, match="nobody is there"):
            await world.say("use v2")
        return await world.events.tail(None, 10)

    assert play(scene) == []


def test_a_task_that_is_done_goes_on_for_what_was_said_or_hears_nothing_more(play):
    async def scene(world):
        await world.say("use v2")
        goes_on = await world.keeper.goes_on(world.task.id)
        await world.say("and be quick")
        await world.keeper.use([1, 2])
        last = await world.keeper.goes_on(world.task.id)
        with pytest.raises(TaskOverError):
            await world.say("too late")
        world.keeper.begins(world.task.id)
        await world.say("in time")
        return goes_on, last

    assert play(scene) == (True, False)


def test_what_is_said_while_the_end_is_looked_at_is_kept_or_refused(play):
    async def scene(world):
        said, goes_on = await asyncio.gather(
            world.say("use v2"), world.keeper.goes_on(world.task.id), return_exceptions=True
        )
        world.keeper.begins(world.task.id)
        late, ends = await asyncio.gather(
            world.keeper.goes_on(TaskId("other")), world.say("again"), return_exceptions=True
        )
        return goes_on is True and not isinstance(said, Exception), late, ends.text

    assert play(scene) == (True, False, "again")


@pytest.mark.parametrize(
    ("records", "states"),
    [
        ([], ["given", "given", "waiting"]),
        ([queued("m-1")], ["used", "given", "waiting"]),
        # Of several that begin a turn together the last one's id is kept.
        ([{"type": "user", "uuid": "m-2"}], ["used", "used", "waiting"]),
        ([{"type": "queue-operation", "content": "m-1"}], ["given", "given", "waiting"]),
        ([{"type": "assistant", "parentUuid": "m-2"}], ["given", "given", "waiting"]),
    ],
)
def test_the_transcript_says_what_was_heard(play, tmp_path, records, states):
    transcript(tmp_path, {"type": "user", "uuid": "else"}, *records)

    async def scene(world):
        for n in (1, 2, 3):
            await world.say(f"word {n}")
        await world.give(1, "m-1")
        await world.give(2, "m-2")
        return await world.states()

    assert play(scene) == states


def test_a_word_that_was_heard_stays_so(play):
    async def scene(world):
        await world.say("use v2")
        await world.give(1, "m-1")
        await world.keeper.use([1])
        await world.give(1, "m-9")
        return await world.states(), await world.keeper.store.unheard(world.session)

    assert play(scene) == (["used"], [])


def task(name: str, state: TaskState, **more):
    return replace(TASK, id=TaskId(name), state=state, **more)


@pytest.mark.parametrize(
    ("status", "current", "tasks", "spoken_to"),
    [
        (SessionStatus.PROCESSING, "b", {"a": "queued", "b": "running"}, "b"),
        (SessionStatus.IDLE, None, {"a": "done", "b": "queued", "c": "queued"}, "b"),
        (SessionStatus.RATE_LIMITED, "a", {"a": "waiting", "b": "queued"}, "a"),
        (SessionStatus.ERROR, "a", {"a": "parked"}, "a"),
        (SessionStatus.IDLE, "a", {"a": "done", "b": "queued"}, "b"),
        (SessionStatus.COMPLETED, "a", {"a": "done"}, None),
        (SessionStatus.STOPPED, "a", {"a": "cancelled"}, None),
    ],
)
def test_who_is_spoken_to(status, current, tasks, spoken_to):
    session = replace(SESSION, id=SessionId("s"), status=status, current_task=current)
    made = [task(name, TaskState(state)) for name, state in tasks.items()]

    if spoken_to is None:
        with pytest.raises(PerpetualError, match="nobody is there") as refused:
            addressed(session, made)
        assert "pcc" in str(refused.value.hint)
    else:
        assert addressed(session, made).id == spoken_to


def test_a_goal_is_not_spoken_to_before_its_parts():
    parts = [task("p1", TaskState.QUEUED), task("p2", TaskState.QUEUED, after=(TaskId("p1"),))]
    goal = task("g", TaskState.QUEUED, after=(TaskId("p1"), TaskId("p2")))
    urgent = task("u", TaskState.QUEUED, priority=5)
    session = replace(SESSION, status=SessionStatus.IDLE, current_task=None)

    assert addressed(session, [goal, *parts]).id == "p1"
    assert addressed(session, [goal, *parts, urgent]).id == "u"
