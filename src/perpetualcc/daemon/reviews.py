"""
Work in a new worktree waits while as many results of its repository as a person wants to have
wait for their review (`sessions.unreviewed`).

What is at work counts as well: it is a result tomorrow. Who waits is a row, as at a limit.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.daemon.snapshots import in_thread
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.limits import REVIEW
from perpetualcc.domain.session_status import ENDED
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Outcome, Task, TaskState, Wait, continued_by
from perpetualcc.domain.texts import counted
from perpetualcc.sessions.limit_waits import (
    BY_ITSELF,
    is_cut_short_by_a_person,
    is_of_review,
    review_signal_of,
)
from perpetualcc.sessions.snapshots.repository import GitError, Patience
from perpetualcc.sessions.task_queue import Tasks
from perpetualcc.sessions.worktrees.unreviewed import Beside, beside, is_unreviewed
from perpetualcc.store.results import Results
from perpetualcc.store.sessions import SessionStore

log = logging.getLogger(__name__)

_LOOK_EVERY = 30.0
"""Seconds: a branch that is merged by hand tells nobody."""


@dataclass(slots=True, kw_only=True)
class Reviews:
    """Says whether a session may begin in its worktree, and lets go on what waited for that."""

    most: int
    """0: any number."""
    sessions: SessionStore
    results: Results
    tasks: Tasks
    clock: Clock
    _let_in: set[SessionId] = field(default_factory=set)
    """They are about to begin."""
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two that look at the same time would both take the last place."""
    _next: float | None = 0.0

    async def admit(self, task: Task, session: Session) -> Outcome | None:
        """None: it begins, or goes on with what it has begun."""
        if not self.most or self._has_begun(session):
            return None
        async with self._looking:
            is_free = is_cut_short_by_a_person(task) or continued_by(task) is not None
            why = "" if is_free else await self._why(session, _Look())
            if not why:
                self._let_in.add(session.id)
                return None
        self._next = self._soon()
        return Wait(signal=review_signal_of(task.id, task.fence), reason=why)

    def next_look(self) -> float | None:
        """UTC epoch seconds; None: nothing waits."""
        return self._next

    async def run(self, wake: Callable[[], None]) -> None:
        """For ever. `wake`: something may begin."""
        while True:
            try:
                if await self.look():
                    wake()
            except Exception:  # one repository's trouble must not end the engine
                log.exception("nobody can be let go on after a review yet")
            await asyncio.sleep(_LOOK_EVERY)

    async def look(self) -> bool:
        """Who may begin, or would wait for something else by now, is claimed once more."""
        found = await self.tasks.list(states={TaskState.WAITING})
        waiting = [task for task in found if is_of_review(task.signal)]
        look, woken = _Look(), False
        for task in waiting:
            session = await self.sessions.get(SessionId(task.group))
            if await self._why(session, look) != task.result:
                woken |= await self.tasks.signal(task.signal or "", BY_ITSELF)
        self._next = self._soon() if waiting else None
        return woken

    def _soon(self) -> float:
        return self.clock.now() + _LOOK_EVERY

    async def _why(self, session: Session, look: "_Look") -> str:
        """What it waits for; empty: nothing."""
        if not self.most or self._has_begun(session):
            return ""
        try:
            found = await look.beside(session.project)
        except (GitError, OSError, ValueError) as error:
            log.warning("results beside '%s' are not counted: %s", session.project, error)
            return ""
        if found is None or await self._begun_in(found.own):
            return ""
        results: list[Session] = []
        at_work = 0
        for place in found.others:
            if not (begun := await self._begun_in(place)):
                continue
            if any(one.status not in ENDED for one in begun):
                at_work += 1
            elif not await self._is_taken(begun) and await look.is_unreviewed(place):
                results.append(begun[0])
        return "" if len(results) + at_work < self.most else _told(results, at_work, self.most)

    async def _is_taken(self, begun: Sequence[Session]) -> bool:
        """Also what was pushed: somebody looks at it elsewhere."""
        return bool(await self.results.taken([one.id for one in begun]))

    async def _begun_in(self, place: Path) -> list[Session]:
        """The newest first."""
        found = await self.sessions.list(project=place)
        return [one for one in found if self._has_begun(one)]

    def _has_begun(self, session: Session) -> bool:
        return session.current_task is not None or session.id in self._let_in


class _Look:
    """One look at repositories, which looks at nothing twice."""

    def __init__(self) -> None:
        self._patience = Patience()
        self._known: dict[Path, bool] = {}

    async def beside(self, project: Path) -> Beside | None:
        return await in_thread(lambda: beside(project, self._patience), self._patience)

    async def is_unreviewed(self, place: Path) -> bool:
        if place not in self._known:
            self._known[place] = await in_thread(
                lambda: is_unreviewed(place, self._patience), self._patience
            )
        return self._known[place]


def _told(results: Sequence[Session], at_work: int, most: int) -> str:
    parts = [counted(len(results), "result")] if results else []
    parts += [f"{at_work} still at work"] if at_work else []
    oldest = min(results, key=lambda one: one.updated_at, default=None)
    see = f": pcc review {oldest.id}" if oldest else ""
    return f"{REVIEW}: {', '.join(parts)} (sessions.unreviewed is {most}){see}"
