"""
The digest: once a day, at a local time, what `pcc report` knows as one message.

A day is written down together with its message, so there are never two; a machine that slept at
that time sends it when it wakes, on the same day.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

from perpetualcc.daemon.held import Held
from perpetualcc.daemon.views import session_data
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.hours import day_at, on_day, parse_time
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.waiting import sleep_until, wait_at_most
from perpetualcc.human.attendant import notices_for
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.human.notifications.courier import Equipment
from perpetualcc.human.notifications.digest import Day, Next, Worked, digest_of
from perpetualcc.human.notifications.message import Message, Who
from perpetualcc.human.notifications.outbox import Kind
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.report import Reports
from perpetualcc.sessions.report_words import happened, in_brief, sums, task_lines
from perpetualcc.store.digests import SqliteDigests

log = logging.getLogger(__name__)

_FIRST = timedelta(days=1)
"""What the first one tells of."""
_LONGEST = timedelta(days=7)
"""What one tells of that comes after a longer silence."""
_MOST_WAITING = 1_000
_SHORTEST_SLEEP = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReader:
    """Puts together what a digest tells."""

    reports: Reports
    manager: SessionManager
    held: Held
    queue: EscalationQueue
    digests: SqliteDigests
    page: str = ""
    """The address of the dashboard, where there is one for a phone."""

    async def read(self, since: float, until: float, kind: Kind) -> Message | None:
        """None: nothing happened between these times (UTC epoch seconds)."""
        reports = await self.reports.since(since, until)
        sessions = [await self.manager.get_session(one.session) for one in reports]
        told = [
            {**asdict(report), "session": session_data(session)}
            for report, session in zip(reports, await self.held.shown(sessions), strict=True)
        ]
        if not any(map(happened, told)):
            return None
        waiting = await self.queue.get_pending(None, _MOST_WAITING)
        alive = await self._alive()
        known = {one.id: one for one in [*sessions, *alive]}
        for session in {one.request.session for one in waiting} - set(known):
            known[session] = await self.manager.get_session(session)
        who = {name: Who.of(one) for name, one in known.items()}
        day = Day(
            since=since,
            until=until,
            sums=sums(told),
            worked=_worked(told, who),
            waiting=waiting,
            who=who,
            homes={name: str(one.project) for name, one in known.items()},
            following=[_next(one, who[one.id]) for one in alive if one.resumes_at],
            still_since=await self.digests.still_since(),
        )
        return digest_of(day, page=self.page, kind=kind)

    async def _alive(self) -> Sequence[Session]:
        alive = [status for status in SessionStatus if status not in ENDED]
        return await self.held.shown(await self.manager.list_sessions(statuses=alive))


def _worked(told: Sequence[Mapping[str, Any]], who: Mapping[Any, Who]) -> list[Worked]:
    return [
        Worked(who=who[one["session"]["id"]], standing=in_brief(one), tasks=task_lines(one))
        for one in told
        if happened(one)
    ]


def _next(session: Session, who: Who) -> Next:
    how = "begins" if session.status is SessionStatus.IDLE else "resumes"
    return Next(who=who, how=how, at=session.resumes_at or 0.0)


class Digest:
    """Sends one a day; `run` ends when it is cancelled."""

    def __init__(
        self,
        *,
        reader: DayReader,
        digests: SqliteDigests,
        equipment: Equipment,
        clock: Clock,
        sent: Callable[[], None],
    ) -> None:
        """`sent`: something new is in the outbox."""
        self._reader = reader
        self._digests = digests
        self._with = equipment
        self._clock = clock
        self._sent = sent
        self._woken = asyncio.Event()
        self._at = parse_time(equipment.settings.digest) if equipment.channels else None

    def wake(self) -> None:
        """The clock leapt."""
        self._woken.set()

    async def next_due(self) -> float | None:
        """UTC epoch seconds; None: there is no digest, or nobody to send it to."""
        if self._at is None:
            return None
        today = self._today()
        day = today + timedelta(days=1) if await self._digests.is_done(today) else today
        return on_day(day, self._at)

    def _today(self) -> date:
        return day_at(self._clock.now())

    async def run(self) -> None:
        while self._at is not None:
            due = None
            try:
                await self.send_if_due()
                due = await self.next_due()
            except Exception:  # the database's trouble must not end the digests
                log.exception("the digest cannot be sent")
            pause = sleep_until(due, self._clock.now(), at_least=_SHORTEST_SLEEP)
            await wait_at_most(pause, self._woken)
            self._woken.clear()

    async def send_if_due(self) -> None:
        """Nothing is sent of a time in which nothing happened; the day is over with that, too."""
        due, now, day = await self.next_due(), self._clock.now(), self._today()
        if due is None or due > now:
            return
        message = await self._reader.read(await self._since(now), now, Kind.DIGEST)
        notices = []
        if message is not None:
            notices = notices_for(
                message, f"digest:{day}", self._with.channels, self._with.settings, None
            )
        if await self._digests.finish(day, now, notices) and notices:
            self._sent()

    async def _since(self, now: float) -> float:
        last = await self._digests.last(now)
        if last is None:
            return now - _FIRST.total_seconds()
        return max(last, now - _LONGEST.total_seconds())

    async def now(self) -> Message | None:
        """As it would be sent now, as a test; None: nothing happened in the last day."""
        now = self._clock.now()
        return await self._reader.read(now - _FIRST.total_seconds(), now, Kind.TEST)
