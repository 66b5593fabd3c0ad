"""What is to be sent, and what came of it: one row for each cause and channel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from perpetualcc.domain.ids import SessionId


class Kind(StrEnum):
    """Why people are told (seed 000, Component 9)."""

    QUESTION = "question"
    COMPLETION = "completion"
    LIMIT = "limit"
    ERROR = "error"
    STANDSTILL = "standstill"
    """Nothing runs any more, and a person, a limit or a budget is what it waits for."""
    DIGEST = "digest"
    """What happened, once a day."""
    TEST = "test"
    """A person wants to see whether it arrives."""


GATHERED: Mapping[Kind, timedelta] = {Kind.LIMIT: timedelta(seconds=30)}
"""How long a message waits for others of its kind, which then leave as one: an account's limit
stops all sessions, each at its next request."""
NEWEST_ONLY = frozenset({Kind.STANDSTILL, Kind.DIGEST})
"""Of what waits to be sent of these, the newest says it all."""


class NoticeState(StrEnum):
    """How far it has come."""

    QUEUED = "queued"
    SENDING = "sending"
    """A sender is at work; its receipt says how it went, even when the engine died meanwhile."""
    SENT = "sent"
    FAILED = "failed"
    """Given up: the reason is with it."""
    MOOT = "moot"
    """What it was about was settled before it left, or a later message says it better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotice:
    """One message for one channel."""

    cause: str
    """`event:<number>`: the same cause is sent once through a channel."""
    channel: str
    kind: Kind
    title: str
    body: str
    session: SessionId | None = None
    escalation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message as the outbox keeps it. Times are UTC epoch seconds."""

    id: int
    what: NewNotice
    state: NoticeState
    created_at: float
    due: float | None
    """Of the next attempt, or of the next look for the receipt; None when it has ended."""
    attempts: int
    started_at: float | None
    ended_at: float | None
    problem: str
    """What the last attempt failed with, or why it is moot."""


class Outbox(Protocol):
    """Where messages wait. Each method is one durable transaction."""

    async def put(
        self,
        notices: Sequence[NewNotice],
        *,
        seen: int | None = None,
        goes_on: SessionId | None = None,
        works: bool = False,
    ) -> None:
        """
        Queue them, once for each cause and channel; the event log is done up to `seen`.

        What still waits to be sent about the same request is replaced: nobody gets a night's
        reminders in one go; so is what is older of a kind of which only the newest counts.
        `goes_on`: the session's limit, if that was to be told, is over. `works`: something runs, so
        that a standstill, if that was to be told, is over.
        """
        ...

    async def due(self) -> list[Notice]:
        """What is to be sent, or looked after, now; oldest first."""
        ...

    async def next_due(self) -> float | None: ...

    async def begin(self, notice: int, *, look_again: float) -> Notice | None:
        """
        From queued to sending, together with all of a `GATHERED` kind that wait for its channel.

        None: somebody settled it meanwhile.
        """
        ...

    async def postpone(self, notice: int, due: float, problem: str = "") -> None:
        """Queued again, for another attempt at `due`; moot, where that came while it was sent."""
        ...

    async def end(self, notice: int, state: NoticeState, problem: str = "") -> None: ...
