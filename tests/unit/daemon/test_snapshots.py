"""On record before anything rests on it, once for each task; and gone when its task is history."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from perpetualcc.daemon.snapshots import LATE, NO_REPOSITORY, SnapshotKeeper
from perpetualcc.domain.events import (
    DiscardBegan,
    ProblemNoticed,
    SnapshotMissed,
    SnapshotTaken,
    UndoBegan,
)
from perpetualcc.domain.sessions import SessionOptions
from perpetualcc.domain.tasks import Done, Lane, NewTask
from perpetualcc.sessions.snapshots import taking
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.sessions.snapshots.repository import GitError
from perpetualcc.store.database import Database
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore
from perpetualcc.store.snapshots import SqliteSnapshots
from tests.fakes.clock import FakeClock
from tests.repositories import git
from tests.unit.daemon.test_limits import task

DAY = 86_400
NOTHING = Snapshot(session="s", name="t-0", task=None, at=0.0, top="")
"""What is put back holds no files beside those of now."""


class World:
    """A session with a project, a keeper, and what was told."""

    def __init__(self, database, session, folder: Path) -> None:
        self.clock, self.told, self.session = FakeClock(), [], session
        self.store = SqliteSnapshots(database)
        self.ledger = SqliteLedger(database, self.clock, owner="test")
        self.folder = folder

    def keeper(self, **more) -> SnapshotKeeper:
        async def record(*events):
            self.told += events

        given = {"keep": timedelta(days=90), **more}
        return SnapshotKeeper(self.store, record, self.clock, self.folder, **given)

    async def add(self, name: str):
        new = NewTask(id=name, group=self.session.id, prompt="Go")
        return await self.ledger.add(new)

    @property
    def refs(self) -> list[str]:
        return git(self.session.project, "for-each-ref", "--format=%(refname)", "refs/pcc").split()


@asynccontextmanager
async def world(tmp_path, *, is_repository: bool = True):
    project = (tmp_path / "project").resolve()
    project.mkdir()
    (project / "app.py").write_text("mine\n")
    if is_repository:
        git(project, "init", "-q")
    async with await Database.open(tmp_path / "pcc.db") as database:
        sessions = SessionStore(database, FakeClock())
        session = await sessions.create(name="s", project=project, options=SessionOptions())
        yield World(database, session, tmp_path / "private")


def play(tmp_path, scene, **more) -> None:
    async def played():
        async with world(tmp_path, **more) as here:
            await scene(here)

    asyncio.run(played())


def test_one_for_each_task_and_the_first_stands(tmp_path):
    async def scene(here):
        mine = replace(task("t-1"), group=here.session.id)
        await here.keeper().before(mine, here.session)
        [first] = await here.store.of_session(here.session.id)
        (here.session.project / "app.py").write_text("changed by the first run\n")

        await here.keeper().before(mine, here.session)
        await here.keeper().before(replace(mine, id="t-2"), here.session)

        known = await here.store.of_session(here.session.id)
        assert [one.name for one in known] == ["t-1", "t-2"]
        assert known[0] == first
        assert first.is_kept
        assert here.refs == [f"refs/pcc/{here.session.id}/t-1", f"refs/pcc/{here.session.id}/t-2"]
        assert [type(one) for one in here.told] == [SnapshotTaken, SnapshotTaken]
        assert not list(here.folder.iterdir()), "no private index stays"

    play(tmp_path, scene)


def test_what_had_begun_before_has_none_and_that_is_said_once(tmp_path):
    async def scene(here):
        begun = replace(here.session, current_task="t-1")
        for name in ("t-1", "t-1", "t-2"):
            await here.keeper().before(task(name), begun)

        assert [type(one) for one in here.told] == [ProblemNoticed, SnapshotTaken]
        assert LATE in here.told[0].text
        assert here.refs == [f"refs/pcc/{here.session.id}/t-2"]

    play(tmp_path, scene)


def test_the_row_is_there_before_the_ref_and_a_crash_between_is_made_good(tmp_path, monkeypatch):
    async def scene(here):
        keep = taking.keep

        def crash(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(taking, "keep", crash)
        mine = task("t-1")
        with pytest.raises(KeyboardInterrupt):
            await here.keeper().before(mine, here.session)
        [row] = await here.store.of_session(here.session.id)
        assert row.commit
        assert not row.is_kept
        assert here.refs == []
        (here.session.project / "app.py").write_text("changed since\n")

        monkeypatch.setattr(taking, "keep", keep)
        await here.keeper().before(mine, here.session)

        [now] = await here.store.of_session(here.session.id)
        assert now == replace(row, is_kept=True)
        assert git(here.session.project, "show", f"{row.ref}:app.py") == "mine\n"

    # A thread that is interrupted hands it to whoever waits for it.
    play(tmp_path, scene)


def test_without_a_repository_it_is_said_once(tmp_path):
    async def scene(here):
        for name in ("t-1", "t-2"):
            await here.keeper().before(task(name), here.session)

        assert [type(one) for one in here.told] == [SnapshotMissed]
        assert here.told[0].reason == NO_REPOSITORY

    play(tmp_path, scene, is_repository=False)


@pytest.mark.parametrize("error", [GitError("git takes longer than 2m"), OSError(28, "No space")])
def test_what_fails_is_written_down_and_told_and_stops_no_work(tmp_path, monkeypatch, error):
    async def scene(here):
        def fails(*_, **__):
            raise error

        monkeypatch.setattr(taking, "take", fails)
        await here.keeper().before(task("t-1"), here.session)

        [row] = await here.store.of_session(here.session.id)
        assert (row.commit, row.trouble) == ("", str(error))
        [told] = here.told
        assert isinstance(told, ProblemNoticed)
        assert str(error) in told.text

    play(tmp_path, scene)


def test_a_ref_that_git_does_not_take_is_no_snapshot(tmp_path, monkeypatch):
    async def scene(here):
        def fails(*_):
            raise GitError("git update-ref: Read-only file system")

        monkeypatch.setattr(taking, "keep", fails)
        await here.keeper().before(task("t-1"), here.session)

        [row] = await here.store.of_session(here.session.id)
        assert row.commit == ""
        assert "Read-only" in row.trouble
        assert [type(one) for one in here.told] == [SnapshotTaken, ProblemNoticed]

    play(tmp_path, scene)


def test_switched_off_nothing_is_taken_and_putting_back_is_still_safe(tmp_path):
    async def scene(here):
        await here.keeper(is_wanted=False).before(task("t-1"), here.session)
        assert await here.store.of_session(here.session.id) == []

        names = [
            (await here.keeper(is_wanted=False).before_undo(here.session, NOTHING, by="ana")).name
            for _ in range(2)
        ]
        assert names == ["undo-1", "undo-2"]
        assert len(here.refs) == 2

    play(tmp_path, scene)


def test_two_that_put_back_at_once_have_a_snapshot_each(tmp_path):
    async def scene(here):
        keeper = here.keeper()
        undone = (keeper.before_undo(here.session, NOTHING, by="ana's phone") for _ in range(3))
        made = await asyncio.gather(*undone)
        assert sorted(one.name for one in made) == ["undo-1", "undo-2", "undo-3"]
        assert [type(one) for one in here.told] == [UndoBegan] * 3
        assert {(one.to, one.by) for one in here.told} == {("t-0", "ana's phone")}

    play(tmp_path, scene)


def test_that_a_worktree_is_thrown_away_is_told_once_all_of_it_is_kept(tmp_path, monkeypatch):
    async def scene(here):
        place = here.session.project
        kept = await here.keeper().before_discard(here.session, place, by="ana@box")
        assert (kept.name, kept.is_kept) == ("undo-1", True)
        [told] = here.told
        assert (type(told), told.kept, told.by) == (DiscardBegan, "undo-1", "ana@box")

        def fails(*_):
            raise GitError("git update-ref: Read-only file system")

        monkeypatch.setattr(taking, "keep", fails)
        assert not (await here.keeper().before_discard(here.session, place, by="ana")).is_kept
        assert [type(one) for one in here.told] == [DiscardBegan, ProblemNoticed]

    play(tmp_path, scene)


def test_it_goes_when_its_task_is_history_and_only_what_is_ours_goes(tmp_path):
    async def scene(here):
        await here.add("t-old")
        [claimed] = await here.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await here.keeper().before(claimed, here.session)
        await here.ledger.settle(claimed.id, claimed.fence, Done(result="done"))
        open_one = await here.add("t-open")
        await here.keeper().before(open_one, here.session)
        await here.keeper().before(task("t-unknown"), here.session)
        git(here.session.project, "update-ref", "refs/pcc/other/t-9", here.refs[0])

        here.clock.move(89 * DAY)
        assert await here.keeper(keep=timedelta()).forget_old() == 0
        assert await here.keeper().forget_old() == 1, "of no task that there is"
        here.clock.move(2 * DAY)
        assert await here.keeper().forget_old() == 1
        assert await here.keeper().forget_old() == 0

        [left] = await here.store.of_session(here.session.id)
        assert left.name == "t-open"
        assert here.refs == [f"refs/pcc/{here.session.id}/t-open", "refs/pcc/other/t-9"]

    play(tmp_path, scene)


def test_of_a_worktree_that_is_gone_the_ref_goes_too(tmp_path):
    async def scene(here):
        home = here.session.project
        git(home, "commit", "-qm", "first", "--allow-empty")
        tree = home / ".claude" / "worktrees" / "side"
        git(home, "worktree", "add", "-q", str(tree))
        await here.keeper().before(task("t-unknown"), replace(here.session, project=tree))
        assert here.refs
        git(home, "worktree", "remove", "--force", str(tree))

        assert await here.keeper().forget_old() == 1
        assert here.refs == []

    play(tmp_path, scene)


def test_of_a_repository_that_is_gone_only_the_row_goes(tmp_path):
    async def scene(here):
        await here.keeper().before(task("t-unknown"), here.session)
        (here.session.project / ".git").rename(tmp_path / "away")

        assert await here.keeper().forget_old() == 1
        assert await here.store.of_session(here.session.id) == []

    play(tmp_path, scene)
