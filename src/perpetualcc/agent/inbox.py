"""
What may arrive in the inbox of a run: from Claude, from a person, from the clock.

Each run has an inbox of its own. A message for a run that is over reaches nobody, which is how
stale messages are dropped.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import Question
from perpetualcc.domain.tools import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Claude Code reported its init event."""

    model: str
    permission_mode: str
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Claude said something."""

    text: str
    context_tokens: int | None = None
    """How full the context was for this reply: what went in and what came out."""
    message: str = ""
    """The reply that this is a part of."""
    tokens_fresh: int = 0
    """Input of the whole reply that did not come from the cache."""
    tokens_out: int = 0
    """Output of this part, estimated: Claude Code tells it only at the end of the turn."""
    is_beside: bool = False
    """A subagent said it."""
    calls: tuple["ToolWanted", ...] = ()
    """Tool calls that this part announces; a subagent's are its caller's affair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWanted:
    """Claude Code holds a tool call until it is answered with `respond_permission`."""

    request: RequestId
    tool: str
    input: Mapping[str, Any]
    cwd: Path | None = None
    """Where Claude Code's shell stands: after `cd src` it is not the project."""
    again: RequestId | None = None
    """The call's own id, when it comes once more although we let it through: Claude Code's rules
    want a person's word on it."""
    is_changed: bool = False
    """A hook that is not ours gave it this input."""
    agent: str = ""
    """The subagent that makes it; empty: Claude itself."""

    def call(self, project: Path) -> ToolCall:
        place = None if self.cwd == project else self.cwd
        return ToolCall(tool=self.tool, input=self.input, project=project, cwd=place)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A tool call has its result."""

    request: RequestId
    is_error: bool
    text: str = ""
    """The beginning of the result."""
    size: int = 0
    """Bytes of the whole result; 0: as long as `text`."""
    digest: str = ""
    """Tells results apart that say something else; how long it took and when is nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Claude Code holds its questions until they are answered with `respond_answer`."""

    request: RequestId
    questions: tuple[Question, ...]

    def call(self, project: Path) -> ToolCall:
        texts = [question.text for question in self.questions]
        return ToolCall(tool="AskUserQuestion", input={"questions": texts}, project=project)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReported:
    """Claude Code's own, typed word on a usage limit."""

    status: str
    """allowed, allowed_warning or rejected."""
    window: str
    """five_hour, seven_day, …; empty when it does not say."""
    resets_at: float | None
    utilization: float | None = None
    """Of this window; Claude Code says it with a warning."""
    is_overage: bool = False
    """The account goes on, on paid credits."""
    windows: tuple[WindowUse, ...] = ()
    """What it knows of each window, whichever the word is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleReported:
    """A synthetic message: Claude Code, not Claude, says that something is wrong."""

    kind: str
    """The SDK's word: rate_limit, authentication_failed, billing_error, server_error, …"""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTriedAgain:
    """Claude Code got no use out of a request to the API, and will send it again."""

    attempt: int
    most: int
    """After so many it gives the turn up."""
    pause: float
    """Seconds until then."""
    http_status: int | None
    """None: nobody answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundChanged:
    """What works on beside the conversation, all of it, after something began or ended."""

    works: Mapping[str, str]
    """Claude Code's name of each, and its kind: local_agent, local_bash, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundBegan:
    """Which call it is that works on beside the conversation."""

    work: str
    request: RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """Claude has finished its turn, well or badly."""

    is_error: bool
    subtype: str
    """success, error_max_turns, error_during_execution, …"""
    result: str
    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`: what was read from the cache."""
    cost_usd: float = 0.0
    """Of the process, subagents and compaction included; not of the conversation before it."""
    context_window: int | None = None
    is_empty: bool = False
    """Claude had no part in it: Claude Code told of work in the background that has ended, or that
    ended with a process before this one. What it was told comes with the next prompt."""

    heard: tuple[str, ...] = ()
    """The messages to Claude Code that this turn took in."""

    def after(self, before: "TurnEnded | None") -> "TurnEnded":
        """This turn, with the figures of those before it in the same process."""
        if before is None:
            return self
        return replace(
            self,
            turns=before.turns + self.turns,
            tokens_in=before.tokens_in + self.tokens_in,
            tokens_out=before.tokens_out + self.tokens_out,
            tokens_cached=before.tokens_cached + self.tokens_cached,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The process has ended. Always the last thing Claude sends."""

    error: str = ""
    """Empty when it ended because we asked."""


class Order(StrEnum):
    """What a run may be told by a person, or by the engine it is in."""

    PAUSE = "pause"
    """Finish the current operation, then stop; the work stays."""
    HAND_OVER = "hand over"
    """Finish the current operation; a fresh run goes on."""
    LEAVE = "leave"
    """The engine stops: begin no further operation; the next engine goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The run was told something."""

    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A person, or the clock, answered an escalation."""

    number: int
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A person has said something to Claude: it is among the words that wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnded:
    """Claude Code is through with a message to it: a turn took it in, or a hook stopped it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldExpired:
    """Nobody answered an escalation while Claude Code was held for it."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeUp:
    """The task has worked as long as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTicked:
    """A second has passed: look at the time and at files."""


Arrival = (
    Started
    | Said
    | ToolWanted
    | ToolEnded
    | Asked
    | LimitReported
    | TroubleReported
    | ApiTriedAgain
    | BackgroundChanged
    | BackgroundBegan
    | TurnEnded
    | Gone
    | Told
    | Settled
    | Spoken
    | MessageEnded
    | HoldExpired
    | TimeUp
    | ClockTicked
)


class Inbox:
    """First in, first out; putting never waits."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Arrival] = asyncio.Queue()

    def put(self, arrival: Arrival) -> None:
        self._queue.put_nowait(arrival)

    async def __aiter__(self) -> AsyncIterator[Arrival]:
        """Yield what arrives, up to and including `Gone`."""
        while True:
            arrival = await self._queue.get()
            yield arrival
            if isinstance(arrival, Gone):
                return
