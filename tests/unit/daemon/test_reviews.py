"""Who may begin in a new worktree, beside what waits for a person's review."""

import asyncio
import shutil
from dataclasses import replace

import pytest

from perpetualcc.daemon import reviews
from perpetualcc.daemon.reviews import Reviews
from perpetualcc.domain.events import PushDone, SessionStatusChanged
from perpetualcc.domain.ids import new_task_id
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import CONTINUES, Lane, NewTask, TaskState, Wait
from perpetualcc.sessions.limit_waits import is_of_limit, is_of_review
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.results import Results
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock
from tests.repositories import git


class Sessions(SessionStore):
    """What they tell may be old by the time it is heard."""

    async def list(self, **wanted):
        found = await super().list(**wanted)
        await asyncio.sleep(0.02)
        return found


class World:
    """A repository with worktrees, and sessions in them, on the real stores."""

    def __init__(self, database, place, most) -> None:
        clock = FakeClock()
        self.place, self.database = place, database
        self.sessions = Sessions(database, clock)
        self.events = EventLog(database, clock)
        self.ledger = SqliteLedger(database, clock, owner="test")
        self.gate = self.engine(most)

    def engine(self, most) -> Reviews:
        return Reviews(
            most=most,
            sessions=self.sessions,
            results=Results(self.database),
            tasks=self.ledger,
            clock=FakeClock(),
        )

    async def session(self, name, *, became="", project=None):
        """`became`: the status of one that has begun."""
        project = project or self.place / ".claude/worktrees" / name
        if not project.exists():
            git(self.place, "worktree", "add", "-q", "-b", f"worktree-{name}", str(project))
        made = await self.sessions.create(name=name, project=project, options=SessionOptions())
        if became:
            await self.sessions.set_current_task(made.id, new_task_id())
            await self.events.append(
                [SessionStatusChanged(session=made.id, before="IDLE", after=became)]
            )
        return await self.sessions.get(made.id)

    async def result(self, name):
        made = await self.session(name, became="COMPLETED")
        (made.project / f"{name}.py").write_text(name)
        git(made.project, "add", "-A")
        git(made.project, "commit", "-qm", name)
        return made

    async def claimed(self, session):
        """Its task, queued on the first call."""
        if not await self.ledger.list(session.id):
            await self.ledger.add(NewTask(id=new_task_id(), group=session.id, prompt="Go"))
        found = await self.ledger.claim(dict.fromkeys(Lane, 9), 9)
        return next((one for one in found if one.group == session.id), None)

    async def turned_away(self, session):
        task = await self.claimed(session)
        wait = await self.gate.admit(task, session)
        assert isinstance(wait, Wait)
        await self.ledger.settle(task.id, task.fence, wait)
        return wait


def play(tmp_path, scene, *, most=2) -> None:
    async def played():
        place = (tmp_path / "project").resolve()
        place.mkdir()
        git(place, "init", "-q", "-b", "main")
        (place / ".gitignore").write_text(".claude\n")
        git(place, "add", ".")
        git(place, "commit", "-qm", "first")
        async with await Database.open(tmp_path / "pcc.db") as database:
            await scene(World(database, place, most))

    asyncio.run(played())


def test_what_was_pushed_is_looked_at_elsewhere(tmp_path):
    async def scene(here):
        one, _ = await here.result("one"), await here.result("two")
        new = await here.session("new")
        waits = await here.turned_away(new)

        await here.events.append(
            [PushDone(session=one.id, branch="b", remote="r", address="a", commit="c")]
        )

        assert "2 results" in waits.reason
        assert await here.gate.look()
        assert await here.gate.admit(await here.claimed(new), new) is None

    play(tmp_path, scene)


def test_the_wait_is_a_row_that_names_what_to_look_at_first(tmp_path):
    async def scene(here):
        first, _ = await here.result("one"), await here.result("two")
        new = await here.session("new")

        wait = await here.turned_away(new)

        [row] = await here.ledger.list(new.id, {TaskState.WAITING})
        told = "waits for your review: 2 results (sessions.unreviewed is 2): pcc review "
        assert (row.result, wait.due) == (f"{told}{first.id}", None)
        assert is_of_review(row.signal)
        assert is_of_limit(row.signal)

    play(tmp_path, scene)


@pytest.mark.parametrize("became", ["PROCESSING", "PAUSED", "WAITING_INPUT", "IDLE"])
def test_what_has_begun_and_has_not_ended_counts_and_is_not_held_itself(tmp_path, became):
    async def scene(here):
        begun = await here.session("begun", became=became)
        new = await here.session("new")
        task = await here.claimed(new)

        assert await here.gate.admit(task, begun) is None
        assert "1 still at work" in (await here.gate.admit(task, new)).reason

    play(tmp_path, scene, most=1)


def test_what_has_not_begun_or_made_nothing_or_is_of_another_repository_does_not_count(tmp_path):
    async def scene(here):
        await here.session("later")
        await here.session("empty", became="COMPLETED")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        git(elsewhere, "init", "-q")
        await here.session("elsewhere", became="COMPLETED", project=elsewhere)
        new = await here.session("new")
        task = await here.claimed(new)

        assert await here.gate.admit(task, new) is None

    play(tmp_path, scene, most=1)


def test_in_the_main_working_tree_in_a_worktree_with_work_and_without_the_setting_none_waits(
    tmp_path,
):
    async def scene(here):
        one, _ = await here.result("one"), await here.result("two")
        plain = await here.session("plain", project=here.place)
        again = await here.session("again", project=one.project)
        new = await here.session("new")
        task = await here.claimed(new)

        assert await here.gate.admit(task, plain) is None
        assert await here.gate.admit(task, again) is None, "more work on one result"
        assert await here.engine(0).admit(task, new) is None
        taken_over = replace(task, payload={CONTINUES: {"conversation": "c", "folder": "/"}})
        assert await here.engine(1).admit(taken_over, new) is None, "a person began it"
        assert await here.gate.admit(task, new)

    play(tmp_path, scene, most=1)


def test_two_that_would_begin_at_once_do_not_both_take_the_last_place(tmp_path):
    async def scene(here):
        new = [await here.session(name) for name in ("a", "b", "c")]
        tasks = [await here.claimed(one) for one in new]
        claimed = [task or await here.claimed(one) for task, one in zip(tasks, new, strict=True)]

        found = await asyncio.gather(*map(here.gate.admit, claimed, new))

        assert [one is None for one in found].count(True) == 2

    play(tmp_path, scene)


def test_it_is_claimed_once_more_when_it_may_begin_or_waits_for_something_else(tmp_path):
    async def scene(here):
        one, two = await here.result("one"), await here.result("two")
        new = await here.session("new")
        await here.turned_away(new)

        assert not await here.gate.look(), "looks leave no trace"
        git(here.place, "merge", "-q", "worktree-one")
        await here.sessions.set_current_task(one.id, new_task_id())
        await here.events.append(
            [SessionStatusChanged(session=one.id, before="COMPLETED", after="IDLE")]
        )
        assert await here.engine(2).look(), "one is at work again, after a restart of the engine"
        wait = await here.turned_away(new)
        assert "1 result, 1 still at work" in wait.reason
        assert wait.reason.endswith(two.id)

        assert await here.engine(0).look()
        task = await here.claimed(new)
        assert task.answer == {"by_itself": True}

    play(tmp_path, scene)


def test_a_person_lets_it_begin_before_its_time(tmp_path):
    async def scene(here):
        await here.result("one")
        new = await here.session("new")
        wait = await here.turned_away(new)
        await here.ledger.signal(wait.signal, {})

        assert await here.gate.admit(await here.claimed(new), new) is None
        later = await here.session("later")
        assert await here.gate.admit(await here.claimed(later), later)

    play(tmp_path, scene, most=1)


def test_where_git_refuses_nobody_waits(tmp_path):
    async def scene(here):
        await here.result("one")
        new = await here.session("new")
        git(here.place, "config", "filter.x.clean", "cat")

        assert await here.gate.admit(await here.claimed(new), new) is None

    play(tmp_path, scene, most=1)


def test_when_it_is_looked_again_is_known_as_long_as_somebody_waits(tmp_path):
    async def scene(here):
        await here.gate.look()
        assert here.gate.next_look() is None
        one, new = await here.result("one"), await here.session("new")

        await here.turned_away(new)
        assert here.gate.next_look() == FakeClock().now() + 30

        here.gate = replace(here.gate)
        git(here.place, "worktree", "remove", "--force", str(one.project))
        assert await here.gate.look()
        assert await here.gate.admit(await here.claimed(new), new) is None
        await here.gate.look()
        assert here.gate.next_look() is None

    play(tmp_path, scene, most=1)


def test_a_worktree_that_is_gone_holds_nobody_and_is_not_held(tmp_path):
    async def scene(here):
        one, new = await here.result("one"), await here.session("new")
        shutil.rmtree(one.project)
        assert await here.gate.admit(await here.claimed(new), new) is None

        await here.result("two")
        gone = await here.session("gone")
        shutil.rmtree(gone.project)
        assert await here.gate.admit(await here.claimed(gone), gone) is None

    play(tmp_path, scene, most=1)


def test_trouble_ends_no_watch(monkeypatch):
    troubles = [RuntimeError("odd"), OSError("odder")]
    looked = asyncio.Event()

    class Tasks:
        async def list(self, **_):
            if troubles:
                raise troubles.pop()
            looked.set()
            return []

    async def played():
        gate = Reviews(most=1, sessions=None, results=None, tasks=Tasks(), clock=FakeClock())
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            watching = group.create_task(gate.run(lambda: None))
            await looked.wait()
            watching.cancel()
        assert gate.next_look() is None

    monkeypatch.setattr(reviews, "_LOOK_EVERY", 0.01)
    asyncio.run(played())
