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
class Section:
    """A section of another name, kept as the author wrote it."""

    title: str
    text: str
    line: int
    """Of its heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """A requirements file, read."""

    source: str
    """The path as it was given; what quotes begin with."""
    project: str = ""
    overview: str = ""
    tasks: tuple[RequirementTask, ...] = ()
    statements: tuple[Statement, ...] = ()
    """Everything it says, in the order of the file."""
    sections: tuple[Section, ...] = ()

    @property
    def preferences(self) -> tuple[Statement, ...]:
        """What the preferences say; a sentence that is no key and value has an empty key."""
        return tuple(one for one in self.statements if one.kind is StatementKind.PREFERENCE)

    @property
    def constraints(self) -> tuple[Statement, ...]:
        """Requirements and limitations, one each."""
        return tuple(one for one in self.statements if one.kind is StatementKind.CONSTRAINT)
