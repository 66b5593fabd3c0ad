"""
Sessions as people see them: one whose Claude is held for an answer waits, whatever else it does,
and one that has nothing to do yet says when it begins.

The status in the database says what the engine does, and a held run is at work; nothing in the
database changes because somebody is asked. After a restart the session is idle there until its
task is claimed, and what it asked is open all the while.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.store.escalations import SqliteEscalations

_ASKING = (SessionStatus.WAITING_INPUT, SessionStatus.PROCESSING, SessionStatus.IDLE)
"""What the database says of a session that waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Tells which sessions wait for a person while a run of theirs is at work."""

    escalations: SqliteEscalations
    manager: SessionManager

    def asked_for(self, status: SessionStatus | None) -> Sequence[SessionStatus] | None:
        """The statuses in the database behind one that is shown."""
        if status is SessionStatus.WAITING_INPUT:
            return _ASKING
        return None if status is None else [status]

    async def shown(
        self, sessions: Sequence[Session], status: SessionStatus | None = None
    ) -> list[Session]:
        """The sessions with the status that people see; only those of `status`, if one is given."""
        working = [one.id for one in sessions if one.status in _ASKING]
        waiting = await self.escalations.holding(working) if working else {}
        begins = await self.manager.begins(sessions)
        seen = [_seen(one, waiting, begins.get(one.id, one.resumes_at)) for one in sessions]
        return [one for one in seen if status is None or one.status is status]


def _seen(
    session: Session, waiting: Mapping[SessionId, Sequence[int]], resumes_at: float | None
) -> Session:
    numbers = waiting.get(session.id, ())
    if not numbers:
        return replace(session, resumes_at=resumes_at)
    asked = ", ".join(f"#{number}" for number in numbers)
    detail = f"Claude waits for your answer to {asked}: pcc respond {numbers[0]} --interactive"
    return replace(session, status=SessionStatus.WAITING_INPUT, detail=detail)
