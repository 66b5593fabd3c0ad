"""
The digest: once a day, at a local time, what `pcc report` knows as one message.

A day is written down together with its message, so there are never two; a machine that slept at
that time sends it when it wakes, on the same day. What has not left when the next one is due is
told by that.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

from perpetualcc.daemon.held import Held
from perpetualcc.daemon.views import session_data
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.hours import day_at, on_day, parse_time
from perpetualcc.domain.limits import REVIEW
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.times import sent_moment
from perpetualcc.domain.waiting import sleep_until, wait_at_most
from perpetualcc.human.attendant import notices_for
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.human.notifications.channels import Channel
from perpetualcc.human.notifications.courier import Equipment
from perpetualcc.human.notifications.digest import Day, Worked, digest_of
from perpetualcc.human.notifications.message import Message, Next, Who
from perpetualcc.human.notifications.outbox import Kind, NewNotice
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.outage_words import outage_words
from perpetualcc.sessions.outages import OutageCause, Outages
from perpetualcc.sessions.report import Reports
from perpetualcc.sessions.report_words import happened, in_brief, sums, text_lines
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
    outages: Outages
    manager: SessionManager
    held: Held
    queue: EscalationQueue
    digests: SqliteDigests
    page: str = ""
    """The address of the dashboard, where there is one for a phone."""

    async def read(self, since: float, until: float, kind: Kind) -> Message | None:
        """None: nothing happened between these times (UTC epoch seconds)."""
        reports = await self.reports.since(since, until)
        outages = [asdict(one) for one in await self.outages.since(since, until)]
        sessions = [await self.manager.get_session(one.session) for one in reports]
        told = [
            {**asdict(report), "session": session_data(session)}
            for report, session in zip(reports, await self.held.shown(sessions), strict=True)
        ]
        if not (any(map(happened, told)) or any(map(_is_news, outages))):
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
            following=[_next(one, who[one.id]) for one in alive if _goes_on_later(one, told)],
            unreviewed=sum(one.detail.startswith(REVIEW) for one in alive),
            outages=[_outage(one, until) for one in outages],
            still_since=await self.digests.still_since(),
        )
        return digest_of(day, page=self.page, kind=kind)

    async def _alive(self) -> Sequence[Session]:
        alive = [status for status in SessionStatus if status not in ENDED]
        return await self.held.shown(await self.manager.list_sessions(statuses=alive))


def _is_news(outage: Mapping[str, Any]) -> bool:
    """People were told of the limit, and until when it lasts, when it was met."""
    return bool(outage["cause"] != OutageCause.LIMIT)


def _outage(outage: Mapping[str, Any], until: float) -> str:
    """What a crash said stays here; the name of a limit is no content."""
    detail = "" if _is_news(outage) else outage["detail"]
    return outage_words({**outage, "detail": detail}, until=until, moment=sent_moment)


def _goes_on_later(session: Session, told: Sequence[Mapping[str, Any]]) -> bool:
    """And its own line does not say so."""
    is_told = any(one["session"]["id"] == session.id for one in told if happened(one))
    is_limited = session.status is SessionStatus.RATE_LIMITED
    return session.resumes_at is not None and not (is_limited and is_told)


def _worked(told: Sequence[Mapping[str, Any]], who: Mapping[Any, Who]) -> list[Worked]:
    return [
        Worked(
            who=who[one["session"]["id"]],
            standing=in_brief(one, sent_moment),
            tasks=text_lines(one),
        )
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
        notices: list[NewNotice] = []
        for since, channels in (await self._since(now)).items():
            message = await self._reader.read(since, now, Kind.DIGEST)
            if message is not None:
                cause = f"digest:{day}"
                notices += notices_for(message, cause, channels, self._with.settings, None)
        if await self._digests.finish(day, now, notices) and notices:
            self._sent()

    async def _since(self, now: float) -> Mapping[float, Sequence[Channel]]:
        """From when on the channels are to be told: what has not left through one is told now."""
        found: dict[float, list[Channel]] = defaultdict(list)
        for channel in self._with.channels:
            until = await self._digests.told_until(now, channel.name, _FIRST)
            longest = _FIRST if until is None else _LONGEST
            found[max(until or 0.0, now - longest.total_seconds())].append(channel)
        return found

    async def now(self) -> Message | None:
        """As it would be sent now, as a test; None: nothing happened in the last day."""
        now = self._clock.now()
        return await self._reader.read(now - _FIRST.total_seconds(), now, Kind.TEST)
