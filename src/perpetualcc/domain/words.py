"""What a person says to a Claude at work, outside of any question."""

import re
from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import ClaudeSessionId, MessageId, SessionId, TaskId

LONGEST = 8_000
"""Characters of one word: some pages. What is longer belongs into a file that it names."""
MOST = 20
"""That wait for Claude at once: it is to be told something, and not to be given a backlog."""

_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_STEERS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor or turns the direction: what a person sees is what Claude reads."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
"""Whole: of a pasted `ESC [ 3 1 m` nothing is to be left."""


class WordState(StrEnum):
    """How far it has come."""

    WAITING = "waiting"
    """For a run that can take it."""
    GIVEN = "given"
    """Claude Code has it; whether it is in the conversation is not certain."""
    USED = "used"
    """It is in the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One thing that a person said to the Claude of a task."""

    number: int
    """In the order in which they were said."""
    session: SessionId
    task: TaskId
    text: str
    said_at: float
    by: str
    """What the client called itself."""
    state: WordState = WordState.WAITING
    message: MessageId | None = None
    """That it was given to Claude Code in, the last time."""
    conversation: ClaudeSessionId | None = None
    """That this message was for."""

    @property
    def is_used(self) -> bool:
        return self.state is WordState.USED


def said(text: str) -> str:
    """
    The text as Claude is given it: without escapes, and without blank ends.

    Raises:
        PerpetualError: nothing is left of it, or it is longer than `LONGEST`.
    """
    plain = _ESCAPES.sub("", _LINE_ENDS.sub("\n", text))
    plain = _STEERS.sub("", plain).encode("utf-8", "replace").decode("utf-8").strip()
    if not plain:
        raise PerpetualError(
            "There is nothing to say", hint='Say it like this: pcc say "use the v2 endpoint"'
        )
    if len(plain) > LONGEST:
        raise PerpetualError(
            f"{len(plain):,} characters are too much to say at once; {LONGEST:,} is the most",
            hint="Write it into a file of the project, and say which",
        )
    return plain
