"""
Tokens of a context that cannot be asked about: seed 001's estimate from files.

Used where the model's replies claim no usage, as some gateways' do. It errs on the high side.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHARACTERS_PER_TOKEN = 4
"""Seed 001."""
TOKENS_PER_MINUTE = 2000
"""Seed 001: what is said between the files."""
INSTRUCTIONS = 12_000
"""Tokens of Claude Code's own instructions and tools, at four characters each: its first request
was 42 to 59 KB (2.1.330, by model)."""
_LARGEST_READ = 25_000 * CHARACTERS_PER_TOKEN
"""Claude Code's Read returns at most 25,000 tokens of a file."""


class FileEstimate:
    """Adds up what a run reads and writes."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._characters = 0

    def said(self, text: str) -> None:
        """Something that Claude, a person or a tool said."""
        self._characters += len(text)

    def wants(self, tool_input: Mapping[str, Any]) -> None:
        """What Claude writes passes through its context, whatever the tool."""
        self._characters += sum(len(str(value)) for value in tool_input.values())

    def opened(self, path: str) -> None:
        """A file that was read, as large as it is now."""
        try:
            size = (self._project / path).stat().st_size
        except (OSError, ValueError):
            return
        self._characters += min(size, _LARGEST_READ)

    def tokens(self, minutes: float) -> int:
        """The estimate after so many minutes."""
        counted = self._characters // CHARACTERS_PER_TOKEN
        return INSTRUCTIONS + counted + int(minutes * TOKENS_PER_MINUTE)
