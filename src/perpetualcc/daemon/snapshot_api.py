"""The methods that tell which snapshots there are and what has changed since, and put one back."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from perpetualcc.daemon import snapshot_looks as looks
from perpetualcc.daemon.held import Held
from perpetualcc.daemon.putting_back import putting_back
from perpetualcc.daemon.snapshots import SnapshotKeeper
from perpetualcc.daemon.views import session_data
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import overlap
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.texts import first_line
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.sessions.task_queue import the_one_named
from perpetualcc.store.ledger import SqliteLedger

T = TypeVar("T")

_GOES_ON = frozenset(
    {SessionStatus.PROCESSING, SessionStatus.WAITING_INPUT, SessionStatus.RATE_LIMITED}
)
"""It works, or will when its answer or its hour comes."""
_STANDS = (SessionStatus.IDLE, SessionStatus.PAUSED, SessionStatus.ERROR)
"""Neither over nor going on by itself."""


LONGEST = 40.0
"""Seconds for git, in all: a page waits for an answer for a minute."""
_NAMED = 200
"""Snapshots that a page can choose from; the newest, and the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meant:
    """Which snapshot of a session, of those that hold files."""

    session: Session
    there: Sequence[Snapshot]
    tasks: Mapping[TaskId, Task]
    chosen: Snapshot
    until: Snapshot | None

    def told(self, one: Snapshot) -> dict[str, Any]:
        task = self.tasks.get(one.task) if one.task else None
        return {
            **asdict(one),
            "ref": one.ref,
            "prompt": first_line(task.prompt, 200) if task else "",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotApi:
    """
    Which there are and what they hold; putting one back, and giving up a working tree. Git runs
    when somebody asks.
    """

    keeper: SnapshotKeeper
    manager: SessionManager
    held: Held
    ledger: SqliteLedger
    locations: Locations

    def methods(self) -> Mapping[str, Method]:
        named = {"session": str, "task": str | None}
        one = {"session": str, "snapshot": str}
        return {
            "snapshot.list": Method(call=self.list, params=named),
            "snapshot.take": Method(
                call=self.take, params={"session": str, "beside": str}, is_decision=True
            ),
            "snapshot.changes": Method(call=self.changes, params=named),
            "snapshot.patch": Method(call=self.patch, params={**named, "file": str}),
            "snapshot.plan": Method(call=self.plan, params=one),
            "snapshot.restore": Method(
                call=self.restore, params={**one, "present": str}, is_decision=True
            ),
            "folder.at_work": Method(call=self.at_work, params={"folder": str}),
            "folder.give_up": Method(
                call=self.give_up, params={"session": str, "folder": str}, is_decision=True
            ),
        }

    async def list(self, params: Params, _: Connection) -> Any:
        """
        The snapshots of a session, oldest first. `chosen`: of the `task` (its id, the beginning of
        it or its text, or `undo-1` and so on), or the first; `until`: of the task after it;
        `at_work`: sessions that work, or go on by themselves, where it would be put back.
        """
        meant = await self._meant(params["session"], params["task"])
        return {
            "session": session_data(meant.session),
            "snapshots": [meant.told(one) for one in meant.there],
            "chosen": meant.chosen.name,
            "until": meant.until.name if meant.until else None,
            "at_work": await self._at_work(meant.chosen),
        }

    async def take(self, params: Params, connection: Connection) -> Any:
        """A snapshot of the present, with what there is of the files of the commit `beside`."""
        session = await self.manager.get_session(params["session"])
        found = await self.keeper.store.of_session(session.id)
        beside = next((one for one in found if one.commit and one.commit == params["beside"]), None)
        if beside is None:
            raise PerpetualError("That is no snapshot of this session")
        kept = await self.keeper.before_undo(session, beside, by=connection.client)
        return {**asdict(kept), "ref": kept.ref, "prompt": ""}

    async def changes(self, params: Params, _: Connection) -> Any:
        """
        What differs since a snapshot, chosen as by `snapshot.list`: the first 300 `files`, with an
        `id` and how many lines were `added` and `removed` (null: it is no text), and `total`; the
        newest `commits`; and what `snapshots` there are to choose from, oldest first.
        """
        meant = await self._meant(params["session"], params["task"])
        found = await self._look(looks.changes_of, meant.chosen, meant.until)
        there = [*meant.there[:1], *meant.there[1:][-_NAMED:]]
        return {
            **found,
            "since": meant.told(meant.chosen),
            "until": meant.until.name if meant.until else None,
            "snapshots": [_named(meant.told(one)) for one in there],
        }

    async def patch(self, params: Params, _: Connection) -> Any:
        """
        The patch of one file by its `id` in `snapshot.changes`, without what looks like a secret.
        `is_cut`: of 2,000 lines, or 200,000 bytes, the first, or lines to 1,000 characters.
        """
        meant = await self._meant(params["session"], params["task"])
        file = params["file"]
        return await self._look(lambda look: looks.patch_of(look, file), meant.chosen, meant.until)

    async def plan(self, params: Params, _: Connection) -> Any:
        """
        What putting back a `snapshot` would change: the first 300 `files`, and `total`; what it
        would leave alone, `spared`; the `commits` that stay. `present`: the files of now, for
        `snapshot.restore`. `at_work` as in `snapshot.list`: while there are any, it is refused.
        """
        meant = await self._meant(params["session"], params["snapshot"])
        found = await self._look(looks.plan_of, meant.chosen)
        at_work = await self._at_work(meant.chosen)
        return {**found, "to": meant.told(meant.chosen), "at_work": at_work}

    async def restore(self, params: Params, connection: Connection) -> Any:
        """
        Put the files back as they were in a `snapshot`, unless they are not those of the plan's
        `present` any more. They are kept before as the snapshot `kept`, to put back in turn.
        """
        meant = await self._meant(params["session"], params["snapshot"])
        await self._refuse_beside_work(meant.chosen)
        # A phone that falls asleep stops nothing in the middle.
        return await asyncio.shield(self._restored(meant, params["present"], connection.client))

    async def _restored(self, meant: _Meant, present: str, by: str) -> dict[str, Any]:
        chosen = meant.chosen
        with putting_back(self.locations, Path(chosen.top) / chosen.prefix) as lock:
            kept = await self.keeper.before_undo(meant.session, chosen, by=by)
            if not kept.is_kept:
                raise PerpetualError(f"Nothing was put back: {kept.trouble}")
            await self._refuse_beside_work(chosen)
            total = await self._look(
                lambda look: looks.put_back(look, kept.commit, present, lock), chosen
            )
        return {"kept": kept.name, "total": total}

    async def _meant(self, name: str, task: str | None) -> _Meant:
        """Raises PerpetualError: there is no such snapshot."""
        session = await self.manager.get_session(name)
        found = await self.keeper.store.of_session(session.id)
        tasks = {one.id: one for one in await self.manager.queue(session.id).everything()}
        there = [one for one in found if one.commit]
        chosen = _chosen(task, found, list(tasks.values()), session)
        later = there[there.index(chosen) + 1 :] if task else []
        until = next((one for one in later if one.task and one.top == chosen.top), None)
        return _Meant(session=session, there=there, tasks=tasks, chosen=chosen, until=until)

    async def _look(
        self, work: Callable[[looks.Look], T], since: Snapshot, until: Snapshot | None = None
    ) -> T:
        """Raises GitError, also where others look at so much that there is no room."""
        return await self.keeper.looked(work, since, until, LONGEST)

    async def _refuse_beside_work(self, chosen: Snapshot) -> None:
        for one in await self._at_work(chosen):
            raise PerpetualError(
                f"Session {one['name']} ({one['id']}) works on these files",
                hint="Wait for it, or pause it",
            )

    async def at_work(self, params: Params, _: Connection) -> Any:
        """Sessions that work in a folder, or go on there by themselves."""
        return await self.working_in(Path(params["folder"]))

    async def give_up(self, params: Params, connection: Connection) -> Any:
        """
        A snapshot of all of a session's working tree `folder`; then the sessions there that are
        not over are stopped. Refused while one is at work.
        """
        session, folder = await self.manager.get_session(params["session"]), Path(params["folder"])
        if not session.project.is_relative_to(folder):
            raise PerpetualError(f"Session {session.name!r} does not work in '{folder}'")
        kept, stopped = await self.given_up(session, folder, by=connection.client)
        return {"snapshot": {**asdict(kept), "ref": kept.ref}, "stopped": stopped}

    async def given_up(
        self, session: Session, folder: Path, *, by: str
    ) -> tuple[Snapshot, Sequence[SessionId]]:
        """What is kept, and the sessions that were stopped. Raises PerpetualError."""
        for one in await self.working_in(folder):
            raise PerpetualError(
                f"Session {one['name']} ({one['id']}) is at work in '{folder}'",
                hint=f"Wait for it, or: pcc stop {one['id']}",
            )
        kept = await self.keeper.before_discard(session, folder, by=by)
        there = await self.manager.list_sessions(statuses=_STANDS)
        stopped = [one.id for one in there if one.project.is_relative_to(folder)] * kept.is_kept
        for each in stopped:
            await self.manager.stop_session(each)
        return kept, stopped

    async def _at_work(self, chosen: Snapshot) -> Sequence[dict[str, Any]]:
        return await self.working_in(Path(chosen.top) / chosen.prefix)

    async def working_in(self, place: Path) -> Sequence[dict[str, Any]]:
        """A paused one is still at work until its current operation is over."""
        running = {one.group for one in await self.ledger.list(states={TaskState.RUNNING})}
        sessions = await self.held.shown(await self.manager.list_sessions())
        return [
            {"id": one.id, "name": one.name, "status": one.status.value}
            for one in sessions
            if (one.status in _GOES_ON or one.id in running) and overlap(one.project, place)
        ]


def _named(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("name", "task", "at", "prompt")}


def _chosen(
    name: str | None, found: Sequence[Snapshot], tasks: Sequence[Task], session: Session
) -> Snapshot:
    """Raises PerpetualError, which says why there is none."""
    by_name = {one.name: one for one in found}
    if name is None:
        chosen = next((one for one in found if one.commit), found[0] if found else None)
    else:
        chosen = by_name.get(name) or by_name.get(the_one_named(name, tasks).id)
    if chosen is not None and chosen.commit:
        return chosen
    if chosen is not None and chosen.trouble:
        raise PerpetualError(f"There is no snapshot: {chosen.trouble}", hint=_HINT)
    whose = f"Session {session.name!r} has" if name is None else "That task has"
    raise PerpetualError(
        f"{whose} no snapshot yet",
        hint="One is taken before a task begins, unless sessions.snapshots is false",
    )


_HINT = "Snapshots are of projects in git repositories: see docs/snapshots.md"
