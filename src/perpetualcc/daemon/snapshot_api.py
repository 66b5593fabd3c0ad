"""The methods that tell which snapshots there are, and take one before something is put back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from perpetualcc.daemon.held import Held
from perpetualcc.daemon.snapshots import SnapshotKeeper
from perpetualcc.daemon.views import session_data
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import is_inside
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.texts import first_line
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.snapshots.record import Snapshot
from perpetualcc.sessions.task_queue import the_one_named
from perpetualcc.store.ledger import SqliteLedger

_GOES_ON = frozenset(
    {SessionStatus.PROCESSING, SessionStatus.WAITING_INPUT, SessionStatus.RATE_LIMITED}
)
"""It works, or will when its answer or its hour comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotApi:
    """`snapshot.list`, `snapshot.take`."""

    keeper: SnapshotKeeper
    manager: SessionManager
    held: Held
    ledger: SqliteLedger

    def methods(self) -> Mapping[str, Method]:
        return {
            "snapshot.list": Method(call=self.list, params={"session": str, "task": str | None}),
            "snapshot.take": Method(
                call=self.take, params={"session": str, "beside": str}, is_decision=True
            ),
        }

    async def list(self, params: Params, _: Connection) -> Any:
        """
        The snapshots of a session, oldest first. `chosen`: of the `task` (its id, the beginning of
        it or its text, or `undo-1` and so on), or the first; `until`: of the task after it;
        `at_work`: sessions that work, or go on by themselves, where it would be put back.
        """
        session = await self.manager.get_session(params["session"])
        found = await self.keeper.store.of_session(session.id)
        tasks = {one.id: one for one in await self.manager.queue(session.id).everything()}
        there = [one for one in found if one.commit]
        chosen = _chosen(params["task"], found, list(tasks.values()), session)
        later = there[there.index(chosen) + 1 :] if params["task"] else []
        until = next((one.name for one in later if one.task and one.top == chosen.top), None)
        return {
            "session": session_data(session),
            "snapshots": [_data(one, tasks.get(one.task) if one.task else None) for one in there],
            "chosen": chosen.name,
            "until": until,
            "at_work": await self._at_work(Path(chosen.top) / chosen.prefix),
        }

    async def take(self, params: Params, _: Connection) -> Any:
        """A snapshot of the present, with what there is of the files of the commit `beside`."""
        session = await self.manager.get_session(params["session"])
        known = {one.commit for one in await self.keeper.store.of_session(session.id)}
        if not params["beside"] or params["beside"] not in known:
            raise PerpetualError("That is no snapshot of this session")
        return _data(await self.keeper.before_undo(session, params["beside"]), None)

    async def _at_work(self, place: Path) -> Sequence[dict[str, Any]]:
        """A paused one is still at work until its current operation is over."""
        running = {one.group for one in await self.ledger.list(states={TaskState.RUNNING})}
        sessions = await self.held.shown(await self.manager.list_sessions())
        return [
            {"id": one.id, "name": one.name, "status": one.status.value}
            for one in sessions
            if (one.status in _GOES_ON or one.id in running)
            and (
                one.project == place
                or is_inside(one.project, place)
                or is_inside(place, one.project)
            )
        ]


def _data(snapshot: Snapshot, task: Task | None) -> dict[str, Any]:
    told = asdict(snapshot)
    return {**told, "ref": snapshot.ref, "prompt": first_line(task.prompt, 200) if task else ""}


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
