"""Everything about people, put together: the queue, its reminders, and the notifications."""

import asyncio
import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from perpetualcc.daemon.budget_questions import BudgetQuestions
from perpetualcc.daemon.digest import Digest
from perpetualcc.daemon.disk import DiskSpace
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import Escalation
from perpetualcc.domain.events import RecordedEvent
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.times import dated, day
from perpetualcc.domain.waiting import sleep_until, wait_at_most
from perpetualcc.human.all_work import AllWork
from perpetualcc.human.attendant import Attendant, notices_for
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.human.notifications.courier import Courier, Equipment
from perpetualcc.human.notifications.message import Message
from perpetualcc.human.notifications.outbox import Kind, NewNotice, Notice
from perpetualcc.human.reminders import take_steps
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.store.all_work import SqliteAllWork
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.outbox import SqliteOutbox

log = logging.getLogger(__name__)

_HISTORY = 10
"""Attempts that a packet tells of."""
_ENDED_AS = {"queued": "to be tried again", "waiting": "waited"}
"""What people call an attempt's end that was not the task's; other states are words of theirs."""
_SHORTEST_SLEEP = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDesk:
    """`human.attendant.Work` on sessions and their tasks."""

    manager: SessionManager
    ledger: SqliteLedger
    events: EventLog
    budget: BudgetQuestions
    work: SqliteAllWork

    async def session(self, session: SessionId) -> Session | None:
        with suppress(PerpetualError):  # a task that belongs to no session
            return await self.manager.get_session(session)
        return None

    async def task(self, task: TaskId) -> Task:
        return await self.ledger.get(task)

    async def history(self, task: Task) -> Sequence[str]:
        found = await self.events.tail(SessionId(task.group), 50, kinds=["TaskSettled"])
        lines = [_attempt_line(recorded) for recorded in found if recorded.event.task == task.id]
        return [line for line in lines if line][-_HISTORY:]

    async def retry(self, session: SessionId, task: TaskId) -> None:
        await self.manager.retry_task(session, task)

    async def give_up(self, session: SessionId, task: TaskId) -> None:
        await self.manager.give_up_task(session, task)

    async def all_work(self, session: SessionId, told: int | None) -> AllWork | None:
        return await self.work.seen_from(session, told=told)

    async def budget_answered(self, settled: Escalation) -> None:
        await self.budget.carry_out(settled)


class PeopleDesk:
    """What the engine runs for people, beside its dispatcher."""

    def __init__(
        self,
        *,
        queue: EscalationQueue,
        escalations: SqliteEscalations,
        attendant: Attendant,
        outbox: SqliteOutbox,
        courier: Courier,
        equipment: Equipment,
        digest: Digest,
        ladder: Sequence[timedelta],
        clock: Clock,
        data: Path,
    ) -> None:
        """`data`: the directory whose disk is told about."""
        self._queue = queue
        self._escalations = escalations
        self._attendant = attendant
        self._outbox = outbox
        self._courier = courier
        self._with = equipment
        self._digest = digest
        self._ladder = ladder
        self._clock = clock
        self._data = data
        self._woken = asyncio.Event()
        self._said_unrecorded = ""

    @property
    def busy(self) -> bool:
        return self._courier.is_sending or self._attendant.is_attending

    async def next_due(self) -> float | None:
        """When the engine must be awake for people: to remind, a deadline, to send, a digest."""
        parts = (self._escalations, self._outbox, self._digest)
        found = [await part.next_due() for part in parts]
        return min((due for due in found if due is not None), default=None)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self._attendant.run(), name="people's attendant"),
                group.create_task(self._remind(), name="reminders"),
                group.create_task(self._digest.run(), name="digest"),
            ]
            await self._courier.run()
            for helper in helpers:
                helper.cancel()

    async def stop(self) -> None:
        self._courier.stop()

    async def set_back(self) -> None:
        """The clock may have been set back: nobody hears of anything later for it."""
        now = self._clock.now()
        longest = max((step.total_seconds() for step in self._ladder), default=math.inf)
        await self._escalations.set_back(now, longest)
        await self._outbox.set_back(now)

    def wake(self) -> None:
        """The clock leapt: look at what is due now."""
        self._woken.set()
        self._digest.wake()
        self._courier.wake()

    async def _remind(self) -> None:
        while True:
            try:
                await take_steps(self._escalations, self._queue.expire, self._ladder, self._clock)
                due = await self._escalations.next_due()
            except Exception:  # the database's trouble must not end the reminders
                log.exception("nobody can be reminded")
                due = None
            pause = sleep_until(due, self._clock.now(), at_least=_SHORTEST_SLEEP)
            # A request that comes while this sleeps is reminded of in time.
            await wait_at_most(min([pause, *(step / 2 for step in self._ladder)]), self._woken)
            self._woken.clear()

    async def warn_of_disk(self, space: DiskSpace) -> None:
        """
        Through every channel, once a day for each stage, however often the engine starts.

        Raises PerpetualError: there is no room for the message either. It was sent all the same.
        """
        if not self._with.settings.on_error:
            return
        today = day(self._clock.now())
        title, body = f"PerpetualCC: the disk is {space.room}", "Look at it with: pcc daemon status"
        message = Message(
            kind=Kind.ERROR,
            brief=(title, body),
            named=(title, body),
            full=(title, f"The disk of '{self._data}' is {space.described()}. {body}"),
        )
        cause = f"disk {space.room}:{today}"
        notices = notices_for(message, cause, self._with.channels, self._with.settings, None)
        try:
            await self._outbox.put(notices)
        except PerpetualError:
            if self._said_unrecorded != cause:
                self._said_unrecorded = cause
                await self._courier.send_unrecorded(notices)
            raise
        self._courier.wake()

    # -- for clients

    async def caught_up(self) -> None:
        await self._attendant.caught_up()

    async def receipts(self, limit: int) -> list[Notice]:
        return await self._outbox.list(limit)

    async def test(self) -> list[str]:
        """Send a test through every channel. Returns the channels' names."""
        stamp = f"test:{self._clock.now():.6f}"
        body = "If you can read this, PerpetualCC can reach you here."
        await self._outbox.put(
            [
                NewNotice(
                    cause=stamp,
                    channel=channel.name,
                    kind=Kind.TEST,
                    title="PerpetualCC: a test",
                    body=body,
                )
                for channel in self._with.channels
            ]
        )
        self._courier.wake()
        return [channel.name for channel in self._with.channels]

    async def test_digest(self) -> list[str]:
        """
        Send what a digest would say of the last day. Returns the channels' names.

        Raises PerpetualError: nothing happened in it.
        """
        await self.caught_up()
        message = await self._digest.now()
        if message is None:
            raise PerpetualError(
                "Nothing happened in the last 24 hours: there is nothing to tell",
                hint="Of such a day no digest is sent either; see: pcc report --since 7d",
            )
        cause = f"test:{self._clock.now():.6f}"
        found = notices_for(message, cause, self._with.channels, self._with.settings, None)
        await self._outbox.put(found)
        self._courier.wake()
        return [one.channel for one in found]


def _attempt_line(recorded: RecordedEvent) -> str:
    """When an attempt ended, and how; empty where it only went on, as after a handover."""
    at = dated(recorded.at)
    data = recorded.event.data()
    state, result = str(data.get("state", "")), data.get("result", "")
    return f"{at}  {_ENDED_AS.get(state, state)}: {result}"[:300] if result else ""
