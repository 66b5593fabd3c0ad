"""The methods about what sessions make in worktrees: looked at, taken over, thrown away."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from perpetualcc.daemon import result_looks as looks
from perpetualcc.daemon.putting_back import putting_back
from perpetualcc.daemon.report_api import ReportApi
from perpetualcc.daemon.snapshot_api import LONGEST, SnapshotApi
from perpetualcc.daemon.snapshots import Room
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import (
    DiscardDone,
    Event,
    MergeBegan,
    MergeDone,
    PushBegan,
    PushDone,
    Record,
)
from perpetualcc.domain.sessions import Session
from perpetualcc.gateway.methods import Connection, Method, Params, checked_params
from perpetualcc.sessions.worktrees.accepting import prepared, written
from perpetualcc.sessions.worktrees.discarding import check_kept, removed
from perpetualcc.sessions.worktrees.meant import Meant, meant

_MERGE = {"branch": str, "into": str, "before": str, "after": str, "files": int}
_PUSH = {"branch": str, "remote": str, "address": str, "commit": str}
_FACTS: Mapping[type[Event], Mapping[str, type]] = {
    MergeBegan: _MERGE,
    MergeDone: _MERGE,
    PushBegan: _PUSH,
    PushDone: _PUSH,
    DiscardDone: {"branch": str, "kept": str},
}
"""What a client tells that does it itself: a terminal, where git may take its time."""
_EVER = 1e10
"""Seconds: since before there was any session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultApi:
    """A part of the engine's methods."""

    reports: ReportApi
    snapshots: SnapshotApi
    record: Record

    def methods(self) -> Mapping[str, Method]:
        one = {"session": str}
        shown = {**one, "present": str}
        return {
            "result.review": Method(call=self.review, params=one),
            "result.plan": Method(call=self.plan, params={**one, "discard": bool | None}),
            "result.accept": Method(call=self.accept, params=shown, is_decision=True),
            "result.discard": Method(call=self.discard, params=shown, is_decision=True),
            "result.tell": Method(
                call=self.tell, params={**one, "kind": str, "facts": dict}, is_decision=True
            ),
        }

    async def review(self, params: Params, connection: Connection) -> Any:
        """
        What a session made in its worktree, as `pcc review` shows it: the newest `commits` that the
        main working tree has not, what is `not_committed`, the first 300 `files` with the lines
        that were `added` and `removed`; whether it would `merge` (nothing, forward, clean,
        conflicts, unknown), with its `conflicts`, and what is changed there and in the way,
        `blocked`. `told`: its tasks, checks and refusals, as in `report.show`, of all its time.
        """
        session = await self._session(params)
        asked = {"seconds": _EVER, "session": session.id}
        [*reports] = (await self.reports.show(asked, connection))["sessions"]
        async with self.snapshots.keeper.room(LONGEST) as room:
            found = await self._meant(session, room)
            seen = await room.run(lambda: looks.review_of(found, room.folder))
        return {**seen, "told": reports[0] if reports else None}

    async def plan(self, params: Params, _: Connection) -> Any:
        """
        What `result.accept` would do, or with `discard` `result.discard`: the branch, the `commits`
        that are merged or go, and what else goes, `not_committed`. `present`: what is there now,
        for either. Whatever they would refuse is refused.
        """
        session = await self._session(params)
        async with self.snapshots.keeper.room(LONGEST) as room:
            found = await self._meant(session, room)
            await self._refuse_beside_work(found, with_main=not params["discard"])
            if params["discard"]:
                return (await room.run(lambda: looks.loss_of(found, room.folder)))[1]
            return (await room.run(lambda: looks.offer_of(found, room.folder)))[1]

    async def accept(self, params: Params, connection: Connection) -> Any:
        """
        Merge a session's worktree as `pcc accept` does, unless it is not what the plan's `present`
        was any more. `back`: the command that takes it back.
        """
        session = await self._session(params)
        # A phone that falls asleep stops nothing in the middle.
        return await asyncio.shield(self._accepted(session, params["present"], connection.client))

    async def _accepted(self, session: Session, present: str, by: str) -> dict[str, Any]:
        async with self.snapshots.keeper.room(LONGEST) as room:
            found = await self._meant(session, room)
            main = found.tree.main
            with putting_back(self.snapshots.locations, main.top) as lock:
                await self._refuse_beside_work(found, with_main=True)
                held = replace(found, tree=replace(found.tree, main=replace(main, held=(lock,))))
                offer, told = await room.run(lambda: looks.offer_of(held, room.folder))
                looks.check_present(told, present)
                if offer.is_nothing:
                    return {"now": found.tree.onto, "files": 0, "back": ""}
                merge = await room.run(lambda: prepared(offer, room.folder))
                await self.record(merge.told(MergeBegan, by))
                await room.run(lambda: written(merge, room.folder))
                await self.record(merge.told(MergeDone, by))
        return {"now": merge.now, "files": merge.files, "back": merge.back}

    async def discard(self, params: Params, connection: Connection) -> Any:
        """
        Throw a session's worktree away as `pcc discard` does, unless it is not what the plan's
        `present` was any more. All of it is `kept` as a snapshot; `stays` says why its branch does.
        """
        session = await self._session(params)
        return await asyncio.shield(self._discarded(session, params["present"], connection.client))

    async def _discarded(self, session: Session, present: str, by: str) -> dict[str, Any]:
        async with self.snapshots.keeper.room(LONGEST) as room:
            found = await self._meant(session, room)
            main, place = found.tree.main.top, found.tree.place
            _, told = await room.run(lambda: looks.loss_of(found, room.folder))
            looks.check_present(told, present)
            kept, _ = await self.snapshots.given_up(session, place, by=by)
            facts = asdict(kept)
            await room.run(lambda: check_kept(found, room.folder, facts))
            stays = await room.run(lambda: removed(main, place, facts))
            done = DiscardDone(session=session.id, branch=kept.branch, kept=kept.name, by=by)
            await self.record(done)
        return {"kept": kept.name, "stays": stays}

    async def tell(self, params: Params, connection: Connection) -> Any:
        """
        Write into the log what a person does with a session's worktree: the event `MergeBegan`,
        `MergeDone`, `PushBegan`, `PushDone` or `DiscardDone`, with its `facts`. Who they are is
        known.
        """
        kinds = {one.__name__: one for one in _FACTS}
        kind = kinds.get(params["kind"])
        if kind is None:
            raise PerpetualError(f"That is told by nobody; known: {', '.join(kinds)}")
        session = await self._session(params)
        facts = checked_params(_FACTS[kind], params["facts"])
        await self.record(kind.from_data({**facts, "by": connection.client}, session=session.id))
        return {}

    async def _session(self, params: Params) -> Session:
        return await self.snapshots.manager.get_session(params["session"])

    async def _meant(self, session: Session, room: Room) -> Meant:
        tasks = await self.snapshots.manager.queue(session.id).everything()
        task, place = tasks[0].prompt if tasks else "", str(session.project)
        return await room.run(lambda: meant(session.id, session.name, place, task, room.patience))

    async def _refuse_beside_work(self, found: Meant, *, with_main: bool) -> None:
        tree = found.tree
        for place in (tree.place, tree.main.top) if with_main else (tree.place,):
            for one in await self.snapshots.working_in(place):
                raise PerpetualError(
                    f"Session {one['name']} ({one['id']}) works on these files",
                    hint="Wait for it, or pause it",
                )
