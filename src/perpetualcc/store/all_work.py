"""What of all sessions goes on and what stands, in one look at their rows."""

import sqlite3
from collections.abc import Iterator

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.human.all_work import AllWork, Standing, Stands
from perpetualcc.human.notifications.message import Who, is_passing
from perpetualcc.sessions.budget import BUDGET
from perpetualcc.store.database import Database
from perpetualcc.store.sessions import sessions_in

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
_LEFT = """
SELECT EXISTS(SELECT 1 FROM tasks WHERE group_name = ?
    AND state IN ('queued', 'running', 'waiting')
    AND NOT (state = 'queued' AND NOT started AND json_extract(payload, '$.every') IS NOT NULL
        AND (due IS NULL OR due > ?)))
"""
"""Whether an idle session has something to do that does not only come again."""
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
    standing = [found for one in alive if (found := _standing(one))]
    is_alone = [one.who.id for one in standing] == [session]
    beside = is_alone and connection.execute(_BESIDE, {"session": session}).fetchone()[0]
    return AllWork(
        goes_on=any(_going(connection, alive, now)),
        standing=standing,
        alone=is_alone and not beside,
        turn=turn,
    )


def _going(connection: sqlite3.Connection, alive: list[Session], now: float) -> Iterator[bool]:
    for one in alive:
        match one.status:
            case SessionStatus.RATE_LIMITED:
                yield is_passing(one.detail)
            case SessionStatus.IDLE:
                yield bool(connection.execute(_LEFT, (one.id, now)).fetchone()[0])


def _standing(session: Session) -> Standing | None:
    if session.status not in _RESTING:
        return None
    why = Stands.PERSON
    if session.status is SessionStatus.PAUSED:
        why = Stands.PAUSED
    elif session.status is SessionStatus.RATE_LIMITED:
        why = Stands.BUDGET if session.detail.startswith(BUDGET) else Stands.LIMIT
    is_limited = session.status is SessionStatus.RATE_LIMITED
    return Standing(
        who=Who.of(session),
        why=why,
        until=session.resumes_at if is_limited else None,
        failed=session.status is SessionStatus.ERROR,
    )
