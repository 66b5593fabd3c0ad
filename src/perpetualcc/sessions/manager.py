"""The session manager: creates sessions, and does to them what a person asks."""

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from perpetualcc.domain.errors import PerpetualError, ProjectGoneError
from perpetualcc.domain.events import (
    Event,
    Record,
    SessionCreated,
    SessionStatusChanged,
    TaskSettled,
)
from perpetualcc.domain.folders import is_folder, is_inside
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.session_status import ENDED, TAKEN_OVER, SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import Lane, NewTask, Task, TaskState, added
from perpetualcc.domain.texts import counted
from perpetualcc.sessions.beginnings import check_name, check_project, name_from
from perpetualcc.sessions.limit_waits import BY_ITSELF, is_of_limit
from perpetualcc.sessions.ports import SessionStore, Workers
from perpetualcc.sessions.status import Standing, check_transition, standing_after
from perpetualcc.sessions.summary import completion_summary
from perpetualcc.sessions.task_queue import (
    OPEN,
    PlannedTask,
    TaskQueue,
    Tasks,
    can_be_done,
    comes_after_broken,
    left_out,
    order_of,
    parts_of,
    standstill,
    tasks_of,
    the_one_named,
)

_AT_WORK = (
    SessionStatus.IDLE,
    SessionStatus.PROCESSING,
    SessionStatus.WAITING_INPUT,
    SessionStatus.RATE_LIMITED,
)
_AT_REST = frozenset(
    {
        SessionStatus.IDLE,
        SessionStatus.WAITING_INPUT,
        SessionStatus.RATE_LIMITED,
        SessionStatus.PAUSED,
    }
)
_OVER = frozenset({TaskState.DONE, TaskState.CANCELLED, TaskState.MISSED})
_AT_A_STANDSTILL = (SessionStatus.PAUSED, SessionStatus.ERROR)
_NOTHING_TO_RESUME = {
    SessionStatus.COMPLETED: ("is finished", 'Give it more to do with: pcc add {session} "…"'),
    SessionStatus.PROCESSING: (
        "is at work",
        "Watch it, and answer what it asks, with: pcc attach {session}",
    ),
    SessionStatus.WAITING_INPUT: (
        "waits for your answer",
        "See what it asks with: pcc pending --session {session}, and answer with: pcc respond",
    ),
}
"""What they are, and what to type instead, where nothing is to be tried again."""


class SessionManager:
    """
    All sessions of this machine. Every change of status goes through one checked table, and is
    made where nobody else makes one between the look and the change.
    """

    def __init__(self, store: SessionStore, tasks: Tasks, record: Record, workers: Workers) -> None:
        self._store = store
        self._tasks = tasks
        self._record = record
        self._workers = workers
        self._changing = asyncio.Lock()
        """Between what a session is and what it becomes: a stop meets a start, or an end."""

    async def create_session(
        self,
        project: Path,
        plan: Sequence[PlannedTask],
        *,
        name: str = "",
        options: SessionOptions | None = None,
        lane: Lane = Lane.INTERACTIVE,
        due: float = 0.0,
        payload: Mapping[str, Any] = MappingProxyType({}),
    ) -> Session:
        """
        Create a session with its first tasks, and start it, or let it start when it is `due`.

        Raises:
            PerpetualError: no such directory, unreadable, or inside a project at work; tasks that
                wait for each other. Then there is no session.
        """
        if not plan or not all(task.prompt.strip() for task in plan):
            raise PerpetualError("The task is empty", hint='Say what to do: --task "…"')
        check_name(name)
        order_of(plan)  # before anything is looked up
        project = check_project(project)
        await self._check_overlap(project)
        options = replace(options or SessionOptions(), is_named=bool(name))

        def begin(session: Session) -> tuple[Sequence[NewTask], Sequence[Event]]:
            tasks = tasks_of(plan, session.id, lane, due, payload)
            created = SessionCreated(
                session=session.id, name=session.name, project=str(project), brain=options.brain
            )
            return tasks, [created, *map(added, tasks)]

        session = await self._store.create(
            name=name or name_from(plan[0].prompt), project=project, options=options, begin=begin
        )
        self._workers.wake()
        return session

    def queue(self, session: SessionId) -> TaskQueue:
        return TaskQueue(session, self._tasks)

    async def get_session(self, name: str) -> Session:
        """By id, unique prefix of an id, or name. Raises PerpetualError."""
        return await self._store.find(name)

    async def id_of(self, name: str | None) -> SessionId | None:
        """Of `get_session`; None stands for all sessions."""
        return None if name is None else (await self.get_session(name)).id

    async def list_sessions(
        self,
        *,
        statuses: Sequence[SessionStatus] | None = None,
        project: Path | None = None,
        limit: int = 500,
    ) -> list[Session]:
        return await self._store.list(statuses=statuses, project=project, limit=limit)

    async def current_prompts(self, sessions: Sequence[Session]) -> Mapping[SessionId, str]:
        """What each session works on, worked on last, or will work on first."""
        return await self._store.prompts_of([session.id for session in sessions])

    async def add_task(
        self,
        name: str,
        prompt: str,
        *,
        priority: int = 0,
        after: Sequence[str] = (),
        lane: Lane = Lane.INTERACTIVE,
        due: float = 0.0,
        payload: Mapping[str, Any] = MappingProxyType({}),
    ) -> Task:
        """
        Queue a task. A session that is finished goes back to work in the same transaction, and one
        that stands still if this task need not wait for what stopped.
        """
        async with self._changing:
            session = await self.get_session(name)
            if session.status is SessionStatus.STOPPED:
                check_transition(session.name, session.status, SessionStatus.IDLE)
            if not is_folder(session.project):
                raise ProjectGoneError(session.project)
            is_over = session.status is SessionStatus.COMPLETED
            task = await self.queue(session.id).add(
                prompt,
                priority=priority,
                after=after,
                due=due,
                lane=lane,
                payload=payload,
                events=[_changed(session, SessionStatus.IDLE)] if is_over else [],
            )
            if session.status is SessionStatus.ERROR and not standstill(
                await self.queue(session.id).everything()
            ):
                await self._go_idle(session)
        self._workers.wake()
        return task

    async def begins(self, sessions: Sequence[Session]) -> Mapping[SessionId, float]:
        """When the next task of each idle session begins that has nothing to do before."""
        idle = [session.id for session in sessions if session.status is SessionStatus.IDLE]
        return await self._store.begins_of(idle) if idle else {}

    async def pause_session(self, name: str, reason: str = "by a person") -> Session:
        """Stop after the current operation; nothing more starts until it is resumed."""
        async with self._changing:
            session = await self.get_session(name)
            check_transition(session.name, session.status, SessionStatus.PAUSED)
            await self._become(session, SessionStatus.PAUSED, reason)
            await self._tasks.hold(session.id)
        self._workers.pause(session.id)
        return await self.get_session(session.id)

    async def resume_session(
        self, name: str, *, only: SessionStatus | None = None, by_itself: bool = False
    ) -> Session:
        """
        Go on: after a pause, and with all that failed. A wait for a limit, or for another try, is
        cut short, and what was for later begins now if there is nothing else to resume. One that
        waits for an answer still does.

        `only`: nothing happens to a session that is something else by now. `by_itself`: no person
        asked for it, so what holds for whatever goes on unasked holds for this.

        Raises PerpetualError: there is nothing to resume.
        """
        async with self._changing:
            session = await self.get_session(name)
            if only not in {None, session.status}:
                return session
            check_transition(session.name, session.status, SessionStatus.IDLE)
            tries_again = only in {None, SessionStatus.ERROR} and await self._try_again(session.id)
            if not tries_again and session.status in _NOTHING_TO_RESUME:
                raise _nothing_to_resume(session)
            if session.status is not SessionStatus.PROCESSING:
                await self._resume(session, BY_ITSELF if by_itself else {}, tries_again)
        self._workers.wake()
        return await self.get_session(session.id)

    async def _try_again(self, session: SessionId) -> bool:
        """All that stopped for a reason of its own. False: nothing did."""
        broken = await self.queue(session).broken()
        stopped = [task for task in broken if not comes_after_broken(task)]
        for task in stopped:
            await self._tasks.requeue(task.id)
        return bool(stopped)

    async def _resume(self, session: Session, why: Mapping[str, Any], tries_again: bool) -> None:
        is_ahead_left = session.status is SessionStatus.IDLE and not tries_again
        await self._tasks.hasten(session.id, in_hand=not is_ahead_left)
        for task in await self._waiting(session.id):
            if task.signal and is_of_limit(task.signal):
                await self._tasks.signal(task.signal, why)
        left = await self._waiting(session.id)
        asking = [task for task in left if task.signal]
        standing = _standing_of(asking, None) if asking else Standing(status=SessionStatus.IDLE)
        await self._stand(session, standing, left)

    async def _waiting(self, session: SessionId) -> Sequence[Task]:
        return await self._tasks.list(session, {TaskState.WAITING})

    async def stop_session(self, name: str) -> Session:
        """End it for good: its tasks are cancelled, its run stops now."""
        async with self._changing:
            session = await self.get_session(name)
            check_transition(session.name, session.status, SessionStatus.STOPPED)
            await self._tasks.hold(session.id)
            await self._become(session, SessionStatus.STOPPED, "by a person")
        await self._cancel_what_is_left([session.id])
        return await self.get_session(session.id)

    async def _cancel_what_is_left(self, sessions: Collection[SessionId]) -> None:
        left = [task for task in await self._tasks.list(states=OPEN) if task.group in sessions]
        await self._cancel(left)

    async def _cancel(self, tasks: Sequence[Task]) -> None:
        """What runs comes last: it has seconds to leave, and its dispatch tells of it."""
        running = [task for task in tasks if task.state is TaskState.RUNNING]
        others = [task for task in tasks if task.state is not TaskState.RUNNING]
        # Together: written one by one, ten thousand would keep what runs at work for a minute.
        await asyncio.gather(*(self._workers.cancel(task.id) for task in others))
        if others:
            await self._record(*map(_cancelled, others))
        for task in running:
            await self._workers.cancel(task.id)

    async def retry_task(self, session: SessionId, task: TaskId) -> None:
        """A person brings back a task that stopped, and with it the session."""
        await self._tasks.requeue(task)
        await self._go_on(session)

    async def stop_task(self, name: str, task: str) -> Sequence[Task]:
        """
        Give up one task: what comes after it is left out, and the session goes on with the rest.
        Returns it, and what was given up with it: of a goal, what is left of its plan.

        Raises PerpetualError: there is no such task, or it is over.
        """
        session = await self.get_session(name)
        tasks = await self.queue(session.id).everything()
        left = [one for one in tasks if one.state not in _OVER]
        found = the_one_named(task, tasks, sooner=left)
        if found.state in _OVER:
            raise PerpetualError(
                f"Task {found.id} is {found.state.value} already",
                hint=f"See what is left with: pcc status {session.id}",
            )
        given_up = [found, *parts_of(found, left)]
        await self._cancel(given_up)
        await self._go_on(session.id)
        return given_up

    async def give_up_task(self, session: SessionId, task: TaskId) -> None:
        """A person leaves a task that stopped; the session goes on with what else there is."""
        await self._workers.cancel(task)
        await self._go_on(session)

    async def _go_on(self, name: SessionId) -> None:
        async with self._changing:
            session = await self.get_session(name)
            tasks = await self.queue(session.id).everything()
            if session.status is SessionStatus.ERROR and (
                can_be_done(tasks) or standstill(tasks) is None
            ):
                await self._go_idle(session)
                if not await self.queue(session.id).pending():
                    idle = await self.get_session(session.id)
                    left = left_out(await self.queue(session.id).everything())
                    after = f", and {counted(len(left), 'task')} after it" if left else ""
                    detail = f"without what was given up{after}"
                    await self._become(idle, SessionStatus.COMPLETED, detail)
            elif session.status in _AT_REST:
                await self._rest(session, tasks)
        self._workers.wake()

    async def _rest(self, session: Session, tasks: Sequence[Task]) -> None:
        """A session that had no run at work has less to do than it had, or nothing."""
        left = await self.queue(session.id).pending()
        if left and session.status is SessionStatus.PAUSED:
            return
        stuck = None if left else standstill(tasks)
        await self._stand(session, _standing_of(left, stuck), tasks)

    async def _go_idle(self, session: Session) -> None:
        await self._tasks.release(session.id)
        await self._become(session, SessionStatus.IDLE)

    async def begin(self, session: SessionId) -> bool:
        """A run of the session is about to start. False: a person has paused it meanwhile."""
        async with self._changing:
            found = await self.get_session(session)
            if found.status is SessionStatus.PAUSED:
                return False
            await self._become(found, SessionStatus.PROCESSING)
            return True

    async def settled(
        self, task: Task, state: TaskState, *, due: float | None, result: str, limited: bool
    ) -> None:
        """A dispatch of a session's task is settled: bring the session's status up to date."""
        async with self._changing:
            session = await self.get_session(task.group)
            tasks = await self.queue(session.id).everything()
            if any(one.state is TaskState.RUNNING for one in tasks):
                return  # told late: what the session does now is newer
            left = sum(not one.state.is_final for one in tasks)
            if session.status is SessionStatus.STOPPED or (
                session.status is SessionStatus.PAUSED and left
            ):
                return
            stuck = standstill(tasks)
            standing = standing_after(
                state,
                due=due,
                result=result,
                limited=limited,
                left=left,
                stuck="" if stuck is None else _why(stuck, tasks),
            )
            await self._stand(session, standing, tasks)

    async def _stand(self, session: Session, standing: Standing, tasks: Sequence[Task]) -> None:
        await (self._tasks.hold if standing.held else self._tasks.release)(session.id)
        detail = standing.detail
        if standing.status is SessionStatus.COMPLETED:
            detail = completion_summary(tasks)
        await self._become(session, standing.status, detail, standing.resumes_at)

    async def recover(self) -> None:
        """
        After a crash, perhaps between two writes: what says it works, and does not, is idle until
        its task is claimed; one whose tasks need a person says so, and one says what its task waits
        for; a queue is held where its session stands still, and nowhere else. What was stopped has
        nothing left to do.
        """
        stopped = await self._store.list(statuses=[SessionStatus.STOPPED])
        await self._cancel_what_is_left({session.id for session in stopped})
        for session in await self._store.list(statuses=_AT_WORK):
            queue = self.queue(session.id)
            tasks = await queue.everything()
            stuck = standstill(tasks)
            if session.status is SessionStatus.PROCESSING or (
                # Unless a person has let it go on since.
                stuck and stuck.updated_at >= session.updated_at
            ):
                standing = _standing_of(await queue.pending(), stuck, TAKEN_OVER)
                await self._stand(session, standing, tasks)
            elif waiting := await self._waiting(session.id):
                await self._stand(session, _standing_of(waiting, None), tasks)
            else:
                await self._tasks.release(session.id)
        for session in await self._store.list(statuses=_AT_A_STANDSTILL):
            await self._tasks.hold(session.id)

    async def _become(
        self,
        session: Session,
        status: SessionStatus,
        detail: str = "",
        resumes_at: float | None = None,
    ) -> None:
        if (status, detail, resumes_at) == (session.status, session.detail, session.resumes_at):
            return
        check_transition(session.name, session.status, status)
        await self._record(_changed(session, status, detail, resumes_at))

    async def _check_overlap(self, project: Path) -> None:
        working = [s for s in SessionStatus if s not in ENDED]
        for other in await self._store.list(statuses=working):
            if is_inside(project, other.project) or is_inside(other.project, project):
                raise PerpetualError(
                    f"'{project}' and '{other.project}' are inside each other, and session "
                    f"{other.id} ({other.name}) works there",
                    hint=f"Wait for it, or stop it with: pcc stop {other.id}",
                )


def _nothing_to_resume(session: Session) -> PerpetualError:
    what, hint = _NOTHING_TO_RESUME[session.status]
    return PerpetualError(
        f"Session {session.name!r} {what}: there is nothing to resume",
        hint=hint.format(session=session.id),
    )


def _cancelled(task: Task) -> TaskSettled:
    return TaskSettled(session=SessionId(task.group), task=task.id, state=TaskState.CANCELLED.value)


def _changed(
    session: Session, status: SessionStatus, detail: str = "", resumes_at: float | None = None
) -> SessionStatusChanged:
    return SessionStatusChanged(
        session=session.id,
        before=session.status.value,
        after=status.value,
        detail=detail,
        resumes_at=resumes_at,
    )


def _standing_of(left: Sequence[Task], stuck: Task | None, detail: str = "") -> Standing:
    """
    What a session is of which no run is at work, or was about to become when the engine died.

    A task that was parked, perhaps because it is what kills the engine, needs a person first.
    """
    if stuck is not None:
        return Standing(status=SessionStatus.ERROR, detail=_why(stuck, [stuck]), held=True)
    first = left[0] if left else None
    if first is None or first.state is not TaskState.WAITING:
        after = SessionStatus.IDLE if left else SessionStatus.COMPLETED
        return Standing(status=after, detail=detail)
    return standing_after(
        first.state,
        due=None if first.due == math.inf else first.due,
        result=first.result,
        limited=is_of_limit(first.signal),
        left=len(left),
    )


def _why(stuck: Task, tasks: Sequence[Task]) -> str:
    """What stopped a session, and what of it was done when that was not the last of its work."""
    why = stuck.result or f"a task is {stuck.state.value}"
    last = max((one.updated_at for one in tasks if one.state is TaskState.DONE), default=0.0)
    so_far = completion_summary(tasks).splitlines()[0]
    return why if stuck.updated_at >= last else f"{why} ({so_far})"
