"""
Reads the event log on behalf of people: who must be told, what needs them, what no longer does.

It has its place in the log written down, and everything it does can be done twice, so nothing
is lost or doubled when the engine dies.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.escalations import Escalation, EscalationRequest, EscalationType
from perpetualcc.domain.events import (
    ChecksBegan,
    EscalationRaised,
    EscalationReminded,
    EscalationSettled,
    Event,
    RecordedEvent,
    SessionStatusChanged,
    TaskSettled,
    TaskStarted,
)
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.texts import counted, first_few, first_line
from perpetualcc.human.all_work import AllWork, left_of, told_of_all
from perpetualcc.human.answers import GIVE_UP, RETRY
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.human.notifications.channels import Channel
from perpetualcc.human.notifications.message import Message, compose, wanted
from perpetualcc.human.notifications.outbox import NewNotice, Outbox
from perpetualcc.human.notifications.settings import Content, NotificationSettings

log = logging.getLogger(__name__)

KINDS = frozenset(
    kind.__name__
    for kind in (
        ChecksBegan,
        EscalationRaised,
        EscalationReminded,
        EscalationSettled,
        SessionStatusChanged,
        TaskSettled,
        TaskStarted,
    )
)
_AT_REST = frozenset({"WAITING_INPUT", "RATE_LIMITED", "ERROR"})
"""What a session comes to by itself, as `COMPLETED`; who pauses or stops one knows of it."""
_ASKING = (EscalationType.QUESTION, EscalationType.PERMISSION)
_PAUSES = (1.0, 5.0)
"""Seconds between the tries."""
_LOOKS, _BETWEEN = 50, 0.02
"""How often who asks what waits looks whether we are done, and the seconds between."""


class News(Protocol):
    """The event log, as the attendant reads it."""

    def follow(self, kinds: Collection[str]) -> AsyncIterator[RecordedEvent]:
        """Events of these kinds from where it was written down, past and then present."""
        ...

    async def is_ahead(self, kinds: Collection[str]) -> bool:
        """Whether something of these kinds happened that is not dealt with yet."""
        ...


class Work(Protocol):
    """What the attendant asks about, and has done."""

    async def session(self, session: SessionId) -> Session | None: ...

    async def task(self, task: TaskId) -> Task: ...

    async def history(self, task: Task) -> Sequence[str]:
        """What its latest attempts came to, a line each, oldest first."""
        ...

    async def retry(self, session: SessionId, task: TaskId) -> None:
        """Bring a task back that stopped. Nothing when it is back already."""
        ...

    async def give_up(self, session: SessionId, task: TaskId) -> None:
        """Leave it, and go on with what else the session has to do."""
        ...

    async def all_work(self, session: SessionId, told: int | None) -> AllWork | None:
        """
        What goes on and what stands, seen from the session that has just come to rest. None:
        something runs, or nothing has since the turn that people were `told` of.
        """
        ...

    async def budget_answered(self, settled: Escalation) -> None:
        """Do what a person said about a budget that is used up."""
        ...


class Attendant:
    """One reader of the log; `run` ends when it is cancelled or the database closes."""

    def __init__(
        self,
        *,
        news: News,
        queue: EscalationQueue,
        work: Work,
        outbox: Outbox,
        channels: Sequence[Channel],
        settings: NotificationSettings,
        wake: Callable[[], None],
        page: str = "",
    ) -> None:
        """`page`: where the dashboard is for a phone."""
        self._news = news
        self._queue = queue
        self._work = work
        self._outbox = outbox
        self._channels = channels
        self._settings = settings
        self._wake = wake
        self._page = page
        self._told: int | None = None
        """The turn of the standstill that was told last."""
        self.is_attending = False
        """Something that happened is not dealt with yet."""

    async def run(self) -> None:
        async for recorded in self._news.follow(KINDS):
            self.is_attending = True
            await self._attend_to(recorded)
            self.is_attending = False

    async def caught_up(self) -> None:
        """
        Until what has happened is dealt with, a moment at most: who is told that a session stopped
        finds in the queue what it asks.
        """
        for _ in range(_LOOKS):
            if not await self._news.is_ahead(KINDS):
                return
            await asyncio.sleep(_BETWEEN)

    async def _attend_to(self, recorded: RecordedEvent) -> None:
        """
        Once it is done it is written down. A locked database or a full disk is waited for; what
        cannot be done for another reason is left after a few tries.
        """
        pauses = list(_PAUSES)
        while True:
            try:
                await self._act(recorded)
                notices = await self._notices(recorded)
                await self._outbox.put(
                    notices,
                    seen=recorded.seq,
                    goes_on=_goes_on(recorded),
                    works=isinstance(recorded.event, TaskStarted),
                )
            except PassingError:
                log.exception("nobody can be told of event %s yet", recorded.seq)
                await asyncio.sleep(_PAUSES[-1])
            except Exception:  # one event must not silence all that follow
                log.exception("nobody could be told of event %s", recorded.seq)
                if not pauses:
                    return
                await asyncio.sleep(pauses.pop(0))
            else:
                if notices:
                    self._wake()
                return

    async def _act(self, recorded: RecordedEvent) -> None:
        match recorded.event:
            case TaskSettled(state="failed" | "parked", session=session, task=task) if (
                session and task
            ):
                await self._moot(session, task, "the task has stopped", *_ASKING)
                broken = await self._work.task(task)
                if (broken.packet or {}).get("declined"):
                    return  # a person has just said so
                history = await self._work.history(broken)
                await self._queue.escalate(stopped(broken, recorded.seq, history))
            case TaskSettled(state="done" | "cancelled", session=session, task=task) if (
                session and task
            ):
                await self._moot(session, task, "the task is over", *_ASKING, EscalationType.ERROR)
            case (
                TaskStarted(session=session, task=task) | ChecksBegan(session=session, task=task)
            ) if session and task:
                await self._moot(session, task, "it is being tried again", EscalationType.ERROR)
            case SessionStatusChanged(after="STOPPED", session=session) if session:
                everything = (*_ASKING, EscalationType.ERROR)
                await self._moot(session, None, "the session was stopped", *everything)
            case EscalationSettled(number=number):
                await self._carry_out(await self._queue.get(number))
            case _:
                pass

    async def _moot(
        self, session: SessionId, task: TaskId | None, reason: str, *types: EscalationType
    ) -> None:
        await self._queue.store.withdraw(reason, session=session, task=task, types=types)

    async def _carry_out(self, settled: Escalation) -> None:
        """What a person said about a task that stopped, or a budget that is used up."""
        request = settled.request
        if request.raw.get("budget"):
            await self._work.budget_answered(settled)
            return
        if request.type is not EscalationType.ERROR or not (settled.answer or {}).get("text"):
            return
        unused = await self._queue.store.unused(request.task)
        if settled.number not in {one.number for one in unused}:
            return
        do: Callable[[SessionId, TaskId], Awaitable[None]]
        do = self._work.retry if (settled.answer or {}).get("approve") else self._work.give_up
        await do(request.session, request.task)
        await self._queue.store.use(settled.number)

    async def _notices(self, recorded: RecordedEvent) -> list[NewNotice]:
        if not self._channels:
            return []  # thousands of events may have waited for an engine: nothing to look up
        event = recorded.event
        session = None if event.session is None else await self._work.session(event.session)
        reviews = 0
        if isinstance(event, SessionStatusChanged) and event.session is not None:
            waiting = await self._queue.get_pending(event.session)
            reviews = sum(one.request.type is EscalationType.REVIEW for one in waiting)
        work = await self._rest(event)
        left = left_of(work) if work else ""
        message = compose(event, session, reviews=reviews, page=self._page, left=left)
        notices = []
        if message and wanted(message.kind, self._settings) and not await self._is_settled(message):
            notices += self._for_channels(message, f"event:{recorded.seq}", event.session)
        standing = told_of_all(work, self._settings) if work else None
        if work and standing:
            self._told = work.turn
            notices += self._for_channels(standing, f"standstill:{work.turn}", None)
        return notices

    async def _rest(self, event: Event) -> AllWork | None:
        """Of all work, when a session has come to rest by itself; else None."""
        match event:
            case SessionStatusChanged(after="COMPLETED", session=session) if session:
                # It is told whether it was the last, too.
                return await self._work.all_work(session, None)
            case SessionStatusChanged(after=after, session=session) if (
                session and after in _AT_REST
            ):
                return await self._work.all_work(session, self._told)
            case SessionStatusChanged(after="IDLE", session=session) if session:
                # Between two tasks, mostly; it rests where the next one is far away.
                work = await self._work.all_work(session, self._told)
                return work if work and work.begins_later else None
        return None

    async def _is_settled(self, message: Message) -> bool:
        if message.escalation is None:
            return False
        return (await self._queue.get(message.escalation)).settled_at is not None

    def _for_channels(
        self, message: Message, cause: str, session: SessionId | None
    ) -> list[NewNotice]:
        return notices_for(message, cause, self._channels, self._settings, session)


def _goes_on(recorded: RecordedEvent) -> SessionId | None:
    """The session that no longer waits for the limit it waited for."""
    match recorded.event:
        case SessionStatusChanged(before="RATE_LIMITED", after=after, session=session):
            return None if after == "RATE_LIMITED" else session
    return None


def notices_for(
    message: Message,
    cause: str,
    channels: Sequence[Channel],
    settings: NotificationSettings,
    session: SessionId | None,
) -> list[NewNotice]:
    """One for each channel; of what leaves this machine the settings say how much it tells."""
    notices = []
    for channel in channels:
        title, body = message.text(settings.content if channel.is_remote else Content.FULL)
        notices.append(
            NewNotice(
                cause=cause,
                channel=channel.name,
                kind=message.kind,
                title=title,
                body=body,
                session=session,
                escalation=message.escalation,
            )
        )
    return notices


def _with(packet: Mapping[str, Any]) -> str:
    """What is left with a task: it comes after it."""
    names = packet.get("behind") or []
    told = f", with {counted(len(names), 'task')} after it: {first_few(names)}"
    return told if names else ""


def stopped(task: Task, seq: int, history: Sequence[str] = ()) -> EscalationRequest:
    """The packet of seed 002 for a task that a person must look at."""
    packet = dict(task.packet or {})
    return EscalationRequest(
        session=SessionId(task.group),
        run=RunId(""),
        task=task.id,
        request=RequestId(f"settled:{seq}"),
        type=EscalationType.ERROR,
        title=f"{task.state.value.capitalize()}: {first_line(task.prompt) or task.id}",
        context=task.result,
        options=(
            {"label": RETRY, "description": "Try again, with all its attempts"},
            {"label": GIVE_UP, "description": f"Leave it for good{_with(packet)}"},
        ),
        packet={
            **packet,
            "attempts": packet.get("attempts", task.attempts),
            "history": list(history),
        },
    )
