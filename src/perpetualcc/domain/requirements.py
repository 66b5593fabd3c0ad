"""What a person wrote about a project before leaving it to run, with the line each word is on."""

from dataclasses import dataclass
from enum import StrEnum


class StatementKind(StrEnum):
    """Which part of the file a statement stands in (seed 000, requirements file format)."""

    OVERVIEW = "overview"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    TASK = "task"
    OTHER = "other"
    """A section that nobody told us about, kept as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One line, list item, table row or sentence."""

    kind: StatementKind
    text: str
    """What it says; for a key and value, the value."""
    line: int
    """Counted from 1."""
    key: str = ""
    """What it says it about, as the author wrote it, parents first: `Auth / Providers`."""
    heading: str = ""
    """The heading it stands under; empty at the top of the file."""
    quote: str = ""
    """The author's own words, for a person to find again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementTask:
    """One thing to do, before it becomes a task of the ledger."""

    id: str
    """Unique in its file: the author's own, or its number in the list."""
    description: str
    line: int
    priority: int = 0
    """Higher is sooner, as everywhere."""
    depends_on: tuple[str, ...] = ()
    """Ids in the same file; never a cycle."""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """A requirements file, read."""

    source: str
    """The path as it was given; what quotes begin with."""
    project: str = ""
    tasks: tuple[RequirementTask, ...] = ()
    statements: tuple[Statement, ...] = ()
    """Everything it says, in the order of the file."""
