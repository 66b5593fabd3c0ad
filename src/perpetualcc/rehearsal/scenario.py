"""What a scenario says, as values: scenes of replies, and the failures that come before them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text to look for: `/…/` is a regular expression, anything else a part of the text."""

    source: str

    def matches(self, text: str) -> bool:
        expression = self.expression
        return self.source in text if expression is None else bool(expression.search(text))

    @property
    def expression(self) -> re.Pattern[str] | None:
        """The compiled expression, or nothing when this is a plain text (`re` caches it)."""
        slashed = len(self.source) > 2 and self.source[0] == self.source[-1] == "/"
        return re.compile(self.source[1:-1], re.DOTALL) if slashed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that a reply claims. Claude Code believes them: they drive its window and cost."""

    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool that the model wants to use."""

    name: str
    input: Mapping[str, Any]


class FailureKind(StrEnum):
    """What can go wrong on the way to a reply."""

    USAGE_LIMIT = "usage_limit"
    """429 as a subscription sees it: `anthropic-ratelimit-unified-*` headers and a reset time."""
    RATE_LIMIT = "rate_limit"
    """429 as an API key sees it: `retry-after`, and `x-should-retry: false`."""
    OVERLOADED = "overloaded"
    """529."""
    SERVER_ERROR = "server_error"
    """500."""
    HTTP = "http"
    """Any other status: give `status`, `type` and `message`."""
    BROKEN_STREAM = "broken_stream"
    """The reply stops in the middle of its text and the connection closes."""
    CONNECTION_RESET = "connection_reset"
    """The connection is reset before a byte of the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What a subscription's reply headers say about the window it counts."""

    status: str = "allowed_warning"
    window: str = "five_hour"
    used: float = 0.9
    """Share of the window used, 0 to 1."""
    resets_in: timedelta = timedelta(hours=1)
    also: Sequence["OtherWindow"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherWindow:
    """A window beside the one that counts, with room left."""

    window: str = "seven_day"
    used: float = 0.5
    resets_in: timedelta = timedelta(days=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Something that goes wrong instead of the reply that follows it."""

    kind: FailureKind
    times: int = 1
    """How many requests meet it. A usage limit ignores this: it holds until its reset."""
    resets_in: timedelta = timedelta(seconds=5)
    window: str = "five_hour"
    everyone: bool = False
    """A usage limit of the whole account: every conversation meets it until its reset."""
    retry_after: timedelta = timedelta(seconds=1)
    status: int = 400
    type: str = "invalid_request_error"
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    say: str = "I will start with"
    """What a broken stream still manages to say."""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply of the model, which is one step of a scene."""

    say: str = ""
    tools: Sequence[ToolCall] = ()
    usage: Usage = field(default_factory=Usage)
    delay: timedelta = NOTHING
    """Wait before the first byte."""
    takes: timedelta = NOTHING
    """Spread the text over this long; zero sends the reply at once."""
    stop: str = ""
    """Stop reason; empty means `tool_use` with tools, else `end_turn`."""
    expect: Sequence[Pattern] = ()
    on_prompt: Pattern | None = None
    quota: Quota | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    once: bool = False
    """Not played again when a kill cut its tools off."""
    failures: Sequence[Failure] = ()
    line: int = 0

    @property
    def stop_reason(self) -> str:
        return self.stop or ("tool_use" if self.tools else "end_turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What one conversation hears, reply by reply."""

    name: str
    replies: Sequence[Reply]
    when: Pattern | None = None
    """First prompt of the conversations that play it; nothing means: in order of arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole script: scenes, the files the project starts with, and where it was written."""

    name: str
    scenes: Sequence[Scene]
    source: str
    description: str = ""
    prompt: str = ""
    """What to ask Claude Code for, so that the story makes sense."""
    files: Mapping[str, str] = field(default_factory=dict)
    count_tokens: int | None = None

    @property
    def needs_subscription(self) -> bool:
        """It speaks of a subscription's windows, which an API key does not have."""
        return any(
            reply.quota or any(one.kind is FailureKind.USAGE_LIMIT for one in reply.failures)
            for scene in self.scenes
            for reply in scene.replies
        )

    @property
    def summary(self) -> str:
        """One line: the name, and how much there is to play."""
        replies = sum(len(scene.replies) for scene in self.scenes)
        scenes = f"{len(self.scenes)} scenes, " if len(self.scenes) > 1 else ""
        return f"{self.name}: {scenes}{replies} {'reply' if replies == 1 else 'replies'}"
