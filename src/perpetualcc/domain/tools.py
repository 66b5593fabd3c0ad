"""A tool call as Claude Code makes it, before anybody judged it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

WRITERS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Claude Code's tools that change a file by its path."""


class Risk(StrEnum):
    """How much harm a tool call could do (seed 000, Component 2)."""

    LOW = "LOW"
    """Goes on without anyone."""
    MEDIUM = "MEDIUM"
    """A brain has an opinion; without one a person decides."""
    HIGH = "HIGH"
    """Never happens without a person."""

    @property
    def rank(self) -> int:
        """0 for LOW to 2 for HIGH: the worst part of a command is its `max` by rank."""
        return ("LOW", "MEDIUM", "HIGH").index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    One call of one tool, exactly as Claude Code sent it.

    The input is untrusted and may have any shape: whoever reads it must survive wrong types.
    """

    tool: str
    """`Bash`, `Write`, `mcp__server__tool`, …"""
    input: Mapping[str, Any]
    project: Path
    """The project's directory. It need not exist."""
    cwd: Path | None = None
    """Where the call runs, when that is not the project's directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What a tool call would do, and which rules say so."""

    risk: Risk
    reasons: tuple["Reason", ...]
    kind: str = ""
    """A stable name for 'the same kind of thing' (`git push`, `write config`): three approvals
    of one kind offer a rule, five denials of one kind park the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Which part of a call weighed how much, by which rule."""

    risk: Risk
    rule: str
    """The rule's stable name, such as `rm-recursive`."""
    part: str
    """The words of the call that the rule is about."""
    explanation: str
    """One sentence for a person and for Claude."""
