"""Sessions in memory, for what manages them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event, SessionStatusChanged
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.sessions.ports import Begin
from tests.fakes.ledger import MemoryLedger


@dataclass(slots=True)
class MemorySessions:
    """`sessions.ports.SessionStore`, and the log that changes a session's status."""

    ledger: MemoryLedger
    kept: dict[SessionId, Session] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)
    _seen: int = 0
    """Of what was written with tasks."""

    async def create(
        self, *, name: str, project: Path, options: SessionOptions, begin: Begin
    ) -> Session:
        session = Session(
            id=SessionId(f"{len(self.kept) + 1:06x}"),
            name=name,
            project=project,
            status=SessionStatus.IDLE,
            options=options,
            created_at=0.0,
            updated_at=0.0,
        )
        tasks, events = begin(session)
        self.kept[session.id] = session
        for task in tasks:
            await self.ledger.add(task)
        await self.record(*events)
        return session

    async def find(self, name: str) -> Session:
        written = self.ledger.memory.events
        self._seen, new = len(written), written[self._seen :]
        await self.record(*new)
        for session in self.kept.values():
            if name in {session.id, session.name}:
                return session
        raise PerpetualError(f"No session matches {name!r}")

    async def list(
        self,
        *,
        statuses: Sequence[SessionStatus] | None = None,
        project: Path | None = None,
        limit: int | None = None,
    ) -> list[Session]:
        found = [
            session
            for session in reversed(self.kept.values())
            if (statuses is None or session.status in statuses)
            and (project is None or session.project == project)
        ]
        return found[:limit]

    async def prompts_of(self, sessions: Collection[SessionId]) -> Mapping[SessionId, str]:
        return dict.fromkeys(sessions, "")

    async def record(self, *events: Event) -> None:
        for event in events:
            if isinstance(event, SessionStatusChanged) and event.session is not None:
                changed = replace(
                    self.kept[event.session],
                    status=SessionStatus(event.after),
                    detail=event.detail,
                    resumes_at=event.resumes_at,
                )
                self.kept[changed.id] = changed
        self.log += events


@dataclass(slots=True)
class RecordingWorkers:
    """`sessions.ports.Workers`: remembers what it was told."""

    ledger: MemoryLedger
    told: list[str] = field(default_factory=list)

    def pause(self, session: SessionId) -> None:
        self.told.append(f"pause {session}")

    async def cancel(self, task: TaskId) -> None:
        self.told.append("cancel")
        await self.ledger.cancel(task)

    def wake(self) -> None:
        self.told.append("wake")
