"""
Tokens of a context that cannot be asked about: seed 001's estimate, from what passes through it.

Used where the model's replies claim no usage, as some gateways' do.
"""

from collections.abc import Mapping
from typing import Any

BYTES_PER_TOKEN = 3.5
"""UTF-8 bytes, so that scripts without an alphabet count as what they are. Seed 001 says four
characters; Claude's public tokenizer made a token of 2.8 bytes of source code with line numbers,
of 3.4 of what commands print and of 3.7 of Chinese."""
BYTES_OF_PROSE = 4.4
"""The same for what is said in Latin letters."""
TOKENS_PER_MINUTE = 2000
"""Seed 001: what is said between the files."""
INSTRUCTIONS = 14_000
"""Tokens of Claude Code's own instructions and tools: before any work a request held 13,400 to
14,600 (2.1.330, by model)."""
TOKENS_PER_CALL = 100
"""What stands around a tool call and its result: names, ids, kinds."""


class ContextEstimate:
    """Adds up what a run is told, says, reads and writes."""

    def __init__(self) -> None:
        self._tokens = 0.0

    def said(self, text: str) -> None:
        """Something that Claude or a person said."""
        self._tokens += size_of(text) / (BYTES_OF_PROSE if text.isascii() else BYTES_PER_TOKEN)

    def wants(self, tool_input: Mapping[str, Any]) -> None:
        """What Claude writes passes through its context, whatever the tool."""
        size = sum(size_of(str(value)) for value in tool_input.values())
        self._tokens += TOKENS_PER_CALL + size / BYTES_PER_TOKEN

    def got(self, size: int) -> None:
        """A tool's result of so many bytes: a file that was read, what a command printed."""
        self._tokens += size / BYTES_PER_TOKEN

    def tokens(self, minutes: float) -> int:
        """The estimate after so many minutes."""
        return INSTRUCTIONS + int(self._tokens) + int(minutes * TOKENS_PER_MINUTE)


def size_of(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
