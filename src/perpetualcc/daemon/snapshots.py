"""A snapshot of the project before each task, on record before the task's first run begins."""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from perpetualcc.daemon.snapshot_looks import Look
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.events import (
    DiscardBegan,
    Event,
    ProblemNoticed,
    Record,
    SnapshotMissed,
    SnapshotTaken,
    UndoBegan,
)
from perpetualcc.domain.folders import is_repository, main_tree
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.sessions.snapshots import taking
from perpetualcc.sessions.snapshots.record import UNDO, Snapshot, Snapshots
from perpetualcc.sessions.snapshots.repository import (
    GitError,
    Patience,
    repository_of,
    there,
)

T = TypeVar("T")
log = logging.getLogger(__name__)

NO_REPOSITORY = "the project is in no git repository"
LATE = "it had begun while none were taken"
"""Before an upgrade, or before they were turned on."""
_BREATH = 0.2
"""Seconds."""
_ROOM = 15.0
"""Seconds until another look is over."""
_LOOK, _DAY = "look-", 86_400.0
_GONE = "The task goes on; it cannot be taken back with pcc undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where git works for somebody who waits."""

    folder: Path
    """A private one, that goes afterwards."""
    patience: Patience

    async def run(self, work: Callable[[], T]) -> T:
        """In a thread; whoever does not wait any more ends it."""
        return await in_thread(work, self.patience)


class SnapshotKeeper:
    """Takes them, lets refs lead to them, and removes those that are old. Work never waits long."""

    def __init__(
        self,
        store: Snapshots,
        record: Record,
        clock: Clock,
        folder: Path,
        *,
        is_wanted: bool = True,
        keep: timedelta = timedelta(),
        is_put_back: Callable[[Path], bool] = lambda _project: False,
    ) -> None:
        """
        Args:
            folder: for private indexes.
            is_wanted: `sessions.snapshots`; without it none is taken before tasks.
            keep: how long after its task one stays; zero: for ever.
            is_put_back: whether somebody writes the files of a project from a snapshot now.
        """
        self.store = store
        self._record = record
        self._clock = clock
        self._folder = folder
        self._is_wanted = is_wanted
        self._keep = keep
        self._is_put_back = is_put_back
        self._one_at_a_time = asyncio.Lock()
        self._rooms = asyncio.Lock()

    async def put_back(self, session: Session) -> None:
        """Once nobody puts the project's files back: a task never begins with half of them."""
        while self._is_put_back(session.project):  # noqa: ASYNC110  # a lock of another process
            await asyncio.sleep(_BREATH)

    async def before(self, task: Task, session: Session) -> None:
        """
        Once for each task, whatever becomes of its runs, and none of what is in the middle of its
        work: that would be taken for what was before it. Raises no trouble of git's.
        """
        if not self._is_wanted:
            return
        known = await self.store.get(session.id, task.id)
        if known is None:
            earlier = await self.store.of_session(session.id)
            if session.current_task == task.id:
                known = replace(self._plain(session, task.id, task.id), trouble=LATE)
            else:
                known = await self._taken(session, task.id, task.id)
            await self.store.put(known)
            if told := _told(known, earlier[-1] if earlier else None):
                await self._record(told)
        if known.commit and not known.is_kept:
            await self._keep_it(known)

    async def before_undo(self, session: Session, to: Snapshot, *, by: str) -> Snapshot:
        """
        One of the present, with what is there of the files in `to`, which are to be put back.

        Raises:
            GitError: there can be none, and nothing may be put back.
        """
        kept = await self.of_the_present(session, to.commit)
        if kept.is_kept:
            told = UndoBegan(session=session.id, to=to.name, task=to.task, kept=kept.name, by=by)
            await self._record(told)
        return kept

    async def before_discard(self, session: Session, place: Path, *, by: str) -> Snapshot:
        """
        One of all of a working tree, which is to be removed.

        Raises:
            GitError: there can be none, and nothing may be removed.
        """
        known = [one for one in await self.store.of_session(session.id) if one.commit]
        kept = await self.of_the_present(session, known[-1].commit if known else "", place)
        if kept.is_kept:
            told = DiscardBegan(session=session.id, branch=kept.branch, kept=kept.name, by=by)
            await self._record(told)
        return kept

    async def of_the_present(
        self, session: Session, beside: str, place: Path | None = None
    ) -> Snapshot:
        """
        Before something is lost, with what is there of the files in the commit `beside`.

        Args:
            place: all of this working tree; else only the session's project in it.

        Raises:
            GitError: there can be none.
        """
        async with self._one_at_a_time:
            known = await self.store.of_session(session.id)
            numbers = [int(one.name.removeprefix(UNDO)) for one in known if one.task is None]
            name = f"{UNDO}{max(numbers, default=0) + 1}"
            taken = await self._taken(session, name, None, beside, place)
            if not taken.commit:
                raise GitError(f"No snapshot of the present can be made: {taken.trouble}")
            await self.store.put(taken)
        return await self._keep_it(taken)

    async def looked(
        self,
        work: Callable[[Look], T],
        since: Snapshot,
        until: Snapshot | None,
        seconds: float,
    ) -> T:
        """In a thread. Raises GitError. Whoever does not wait any more ends it."""
        async with self.room(seconds) as room:
            look = Look(since=since, until=until, folder=room.folder, patience=room.patience)
            return await room.run(lambda: work(look))

    @asynccontextmanager
    async def room(self, seconds: float) -> AsyncIterator[Room]:
        """
        Git reads whole projects: in one room at once.

        Raises:
            GitError: others look at so much that there is none.
        """
        try:
            async with asyncio.timeout(_ROOM):
                await self._rooms.acquire()
        except TimeoutError:
            raise GitError("Git still reads for another look", hint="Try it again") from None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=_LOOK, dir=self._folder) as name:
                yield Room(folder=Path(name), patience=Patience(seconds=seconds))
        finally:
            self._rooms.release()

    async def forget_old(self) -> int:
        """How many went. Only what the refs led to then is removed, and only below `refs/pcc/`."""
        await asyncio.to_thread(self._clear_looks)
        if not self._keep:
            return 0
        gone = 0
        for one in await self.store.old(self._clock.now() - self._keep.total_seconds()):
            try:
                await asyncio.to_thread(_forget, one)
            except GitError as error:
                log.warning("%s stays in '%s': %s", one.ref, one.top, error.message)
                continue
            await self.store.drop(one)
            gone += 1
        return gone

    def _clear_looks(self) -> None:
        """What an engine that died in the middle of one has left; none takes a day."""
        for left in self._folder.glob(f"{_LOOK}*"):
            with suppress(OSError):
                if left.stat().st_mtime < self._clock.now() - _DAY:
                    shutil.rmtree(left)

    async def _taken(
        self,
        session: Session,
        name: str,
        task: TaskId | None,
        beside: str = "",
        place: Path | None = None,
    ) -> Snapshot:
        plain = self._plain(session, name, task)
        folder = self._folder / f"{session.id}-{name}"
        patience = Patience()
        try:
            return await in_thread(
                lambda: _take(plain, place or session.project, folder, beside, patience), patience
            )
        except (GitError, OSError, ValueError) as error:  # of what git prints, the last
            return replace(plain, trouble=str(error))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _plain(self, session: Session, name: str, task: TaskId | None) -> Snapshot:
        return Snapshot(session=session.id, name=name, task=task, at=self._clock.now(), top="")

    async def _keep_it(self, known: Snapshot) -> Snapshot:
        """
        Let the ref lead to it.

        One that git does not take is none: its files would be gone after some weeks.
        """
        patience = Patience()
        try:
            place = there(known.top, known.prefix, patience)
            await in_thread(lambda: taking.keep(place, known.ref, known.commit), patience)
            known = replace(known, is_kept=True)
        except (GitError, OSError) as error:
            known = replace(known, commit="", trouble=str(error))
            await self._record(_problem(known))
        await self.store.put(known)
        return known


def _told(snapshot: Snapshot, before: Snapshot | None) -> Event | None:
    ids: dict[str, Any] = {"session": snapshot.session, "task": snapshot.task}
    if snapshot.commit:
        known = before.left_out if before else ()
        left_out = [one for one in snapshot.left_out if one not in known]
        return SnapshotTaken(**ids, ref=snapshot.ref, commit=snapshot.commit, left_out=left_out)
    if before is not None and before.trouble == snapshot.trouble:
        return None
    if snapshot.trouble == NO_REPOSITORY:
        return SnapshotMissed(**ids, reason=snapshot.trouble)
    return _problem(snapshot)


def _problem(snapshot: Snapshot) -> ProblemNoticed:
    return ProblemNoticed(
        session=snapshot.session,
        task=snapshot.task,
        text=f"No snapshot was taken before this: {snapshot.trouble}",
        hint=_GONE,
    )


def _take(
    plain: Snapshot, project: Path, folder: Path, beside: str, patience: Patience
) -> Snapshot:
    found = repository_of(project, patience)
    if found is None:
        return replace(plain, trouble=NO_REPOSITORY)
    shutil.rmtree(folder, ignore_errors=True)  # an engine that died may have left it
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)
    taken = taking.take(found, folder / "index", beside=beside)
    head = found.head()
    message = f"PerpetualCC: {project.name} before {plain.name} of session {plain.session}"
    return replace(
        plain,
        top=str(found.top),
        prefix=found.prefix,
        commit=taking.commit(found, taken, head, message),
        head=head,
        branch=found.branch(),
        left_out=taken.untold,
    )


def _forget(snapshot: Snapshot) -> None:
    """
    What is not there any more needs no removing. A worktree that is gone leaves its refs in the
    repository that it was of.
    """
    top = Path(snapshot.top)
    home = top if is_repository(top) else main_tree(top)
    if snapshot.commit and is_repository(home):
        taking.forget(there(str(home), ""), snapshot.ref, snapshot.commit)


async def in_thread(work: Callable[[], T], patience: Patience) -> T:
    """Whoever does not wait any more ends the git that is at work for it."""
    try:
        return await asyncio.to_thread(work)
    except asyncio.CancelledError:
        patience.given_up.set()
        raise
