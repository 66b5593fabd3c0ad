"""What of all sessions goes on and what stands, in one look at their rows."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.limits import REVIEW
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.human.all_work import AllWork, Standing, Stands
from perpetualcc.human.notifications.message import Next, Who, is_passing
from perpetualcc.sessions.budget import BUDGET
from perpetualcc.store.database import Database
from perpetualcc.store.sessions import sessions_in

_LIMITED = {BUDGET: Stands.BUDGET, REVIEW: Stands.REVIEW}
"""By how the reason begins."""
_ALIVE = frozenset(SessionStatus) - {SessionStatus.COMPLETED, SessionStatus.STOPPED}
_RESTING = frozenset(
    {
        SessionStatus.WAITING_INPUT,
        SessionStatus.RATE_LIMITED,
        SessionStatus.PAUSED,
        SessionStatus.ERROR,
    }
)
_GLANCE = """
SELECT (SELECT coalesce(max(position), 0) FROM runs),
    EXISTS(SELECT 1 FROM sessions WHERE status = ?)
"""
_AHEAD = """
SELECT coalesce(max(kind = 'now'), 0) AS goes_on, max(kind = 'later') AS is_later, min(due) AS next
FROM (SELECT due, CASE
        WHEN state <> 'queued' OR started THEN 'now'
        WHEN json_extract(payload, '$.every') IS NOT NULL AND (due IS NULL OR due > :now)
            THEN 'again'
        WHEN due > :soon THEN 'later'
        ELSE 'now' END AS kind
    FROM tasks t WHERE group_name = :session AND state IN ('queued', 'running', 'waiting')
    AND NOT (state = 'queued' AND EXISTS (SELECT 1 FROM task_after d
        JOIN tasks f ON f.id = d.after WHERE d.task = t.id AND f.state <> 'done')))
"""
"""What an idle session has to do: now or soon, later, or again and again; what comes after other
work comes with it."""
_SOON = timedelta(days=1)
"""Within which what begins by itself counts as going on."""
_BESIDE = """
SELECT EXISTS(SELECT 1 FROM runs WHERE session <> :session AND coalesce(ended_at, 1e99) >=
    coalesce((SELECT started_at FROM runs WHERE session = :session ORDER BY position DESC LIMIT 1),
        1e99))
"""


class SqliteAllWork:
    """Looks at the database; changes nothing."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def seen_from(self, session: SessionId, *, told: int | None = None) -> AllWork | None:
        """None: something runs, or no run began since that turn, of which people were told."""
        return await self._database.read(lambda c: _all_work(c, session, told, self._clock.now()))


def _all_work(
    connection: sqlite3.Connection, session: SessionId, told: int | None, now: float
) -> AllWork | None:
    # A limit stops hundreds at once: only the last of them has the others looked at.
    (turn, runs) = connection.execute(_GLANCE, (SessionStatus.PROCESSING,)).fetchone()
    if runs or turn == told:
        return None
    alive = sessions_in(connection, _ALIVE)
    ahead = {one.id: _ahead(connection, one, now) for one in alive if _is_idle(one)}
    later = [one for one in alive if one.id in ahead and ahead[one.id].is_later]
    standing = [found for one in alive if (found := _standing(one))]
    standing += [Standing(who=Who.of(one), why=Stands.LATER) for one in later]
    is_alone = [one.who.id for one in standing] == [session]
    beside = is_alone and connection.execute(_BESIDE, {"session": session}).fetchone()[0]
    return AllWork(
        goes_on=any(one.goes_on for one in ahead.values()) or any(map(_is_passing, alive)),
        standing=standing,
        alone=is_alone and not beside,
        turn=turn,
        begins_later=any(one.id == session for one in later),
        next=_next([one for one in alive if one.id in ahead], ahead),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ahead:
    """What an idle session has to do."""

    goes_on: bool
    is_later: bool
    """And nothing sooner."""
    next: float | None


def _ahead(connection: sqlite3.Connection, session: Session, now: float) -> _Ahead:
    values = {"session": session.id, "now": now, "soon": now + _SOON.total_seconds()}
    row = connection.execute(_AHEAD, values).fetchone()
    goes_on = bool(row["goes_on"])
    return _Ahead(goes_on=goes_on, is_later=bool(row["is_later"]) and not goes_on, next=row["next"])


def _next(idle: Sequence[Session], ahead: Mapping[SessionId, _Ahead]) -> Next | None:
    found = [
        Next(who=Who.of(one), how="begins", at=at)
        for one in idle
        if (at := ahead[one.id].next) is not None
    ]
    return min(found, key=lambda one: one.at, default=None)


def _is_idle(session: Session) -> bool:
    return session.status is SessionStatus.IDLE


def _is_passing(session: Session) -> bool:
    return session.status is SessionStatus.RATE_LIMITED and is_passing(session.detail)


def _standing(session: Session) -> Standing | None:
    if session.status not in _RESTING:
        return None
    why = Stands.PERSON
    if session.status is SessionStatus.PAUSED:
        why = Stands.PAUSED
    elif session.status is SessionStatus.RATE_LIMITED:
        known = (why for word, why in _LIMITED.items() if session.detail.startswith(word))
        why = next(known, Stands.LIMIT)
    is_limited = session.status is SessionStatus.RATE_LIMITED
    return Standing(
        who=Who.of(session),
        why=why,
        until=session.resumes_at if is_limited else None,
        failed=session.status is SessionStatus.ERROR,
    )
