"""
Tokens of a context that cannot be asked about: seed 001's estimate from files.

Used where the model's replies claim no usage, as some gateways' do. It errs on the high side.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHARACTERS_PER_TOKEN = 4
"""Seed 001."""
TOKENS_PER_MINUTE = 2000
"""Seed 001: what is said between the files."""
INSTRUCTIONS = 14_000
"""Tokens of Claude Code's own instructions and tools, at four characters each: before any work a
request held 13,400 to 14,600 (2.1.330, by model)."""
LINE_NUMBER = 5
"""Characters that Read puts before each line, such as `1234` and a tab."""
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
        """A file that was read, as it is now, with its line numbers."""
        try:
            # Not blocking, should it be a pipe by now.
            file = os.open(self._project / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(file, "rb") as opened:
                data = opened.read(_LARGEST_READ) or b""
        except (OSError, ValueError):
            return
        self._characters += min(len(data) + data.count(b"\n") * LINE_NUMBER, _LARGEST_READ)

    def tokens(self, minutes: float) -> int:
        """The estimate after so many minutes."""
        counted = self._characters // CHARACTERS_PER_TOKEN
        return INSTRUCTIONS + counted + int(minutes * TOKENS_PER_MINUTE)
