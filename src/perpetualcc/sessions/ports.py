"""What the session manager needs of others: where sessions are kept, and the runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import NewTask

Begin = Callable[[Session], tuple[Sequence[NewTask], Sequence[Event]]]
"""The tasks that a new session begins with, and the events that tell of it and of them."""


class SessionStore(Protocol):
    """Where sessions are kept."""

    async def create(
        self, *, name: str, project: Path, options: SessionOptions, begin: Begin
    ) -> Session:
        """In one transaction with what it begins with: all of it, or there is no session."""
        ...

    async def find(self, name: str) -> Session: ...

    async def list(
        self,
        *,
        statuses: Sequence[SessionStatus] | None = None,
        project: Path | None = None,
        limit: int | None = None,
    ) -> list[Session]: ...

    async def prompts_of(self, sessions: Collection[SessionId]) -> Mapping[SessionId, str]: ...

    async def begins_of(self, sessions: Collection[SessionId]) -> Mapping[SessionId, float]: ...


class Workers(Protocol):
    """The runs at work."""

    def pause(self, session: SessionId) -> None:
        """Ask the session's run, if it has one, to stop after its current operation."""
        ...

    async def cancel(self, task: TaskId) -> None:
        """Cancel a task wherever it is; one that runs has a few seconds to leave."""
        ...

    def wake(self) -> None:
        """Look at the queue: something may start."""
        ...
