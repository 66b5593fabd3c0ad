"""The words of this capability: files, chunks, definitions, imports, calls, results."""

from dataclasses import dataclass, field
from enum import StrEnum


class ChunkKind(StrEnum):
    """What a chunk is a piece of."""

    FUNCTION = "function"
    """A function or method, or a part of a long one."""
    CLASS = "class"
    """A class, struct, trait or interface without the bodies of its methods."""
    MODULE = "module"
    """Code between the definitions of a file."""
    SECTION = "section"
    """A heading of a document, a table of a configuration file, a statement of SQL."""
    TEXT = "text"
    """A run of lines of anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a file, small enough to be read by a model: at most about 500 tokens."""

    start: int
    """First line, counted from 1."""
    end: int
    """Last line, inclusive."""
    text: str
    kind: ChunkKind
    symbol: str = ""
    """Qualified within its file, as in `Session.resume`; headings for documents."""
    signature: str = ""
    words: str = ""
    """What the word index gets: `code_words` of signature and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A function or class that a file defines."""

    name: str
    qualified: str
    """Within its file, as in `Session.resume`."""
    kind: ChunkKind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What other files can reach in this one."""

    name: str
    kind: str
    """As the language calls it: function, class, interface, constant, use (of another file)."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLine:
    """One import, with every module it may mean."""

    text: str
    """The module as it is written: `..models`, `./util`, `net/http`."""
    line: int
    targets: tuple[str, ...]
    """Module keys, most likely first; the first that a file of the project answers to wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A name that is called, and the definition that calls it."""

    name: str
    caller: str
    """Qualified name of the enclosing definition; empty at module level."""
    line: int
    """Of the first such call in that definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """What tells an unchanged file from a changed one."""

    mtime_ns: int
    size: int
    digest: str = ""
    """SHA-256 of the bytes, hexadecimal; empty while only the metadata is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A file as the index saw it last."""

    stamp: FileStamp
    read_ns: int
    """When it was read, nanoseconds since the epoch."""
    language: str

    @property
    def is_settled(self) -> bool:
        """
        Whether an equal time and size prove equal content.

        A file written in the same tick of its clock as it was read may have changed unseen; file
        systems with whole-second times need two seconds (FAT), the others 20 ms.
        """
        tick = 20_000_000 if self.stamp.mtime_ns % 1_000_000 else 2_000_000_000
        return self.stamp.mtime_ns + tick < self.read_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file as the index knows it (seed 000, Phase 7)."""

    path: str
    """Relative to the project, with forward slashes."""
    language: str
    stamp: FileStamp
    lines: int
    chunks: tuple[Chunk, ...] = ()
    definitions: tuple[Definition, ...] = ()
    exports: tuple[Export, ...] = ()
    imports: tuple[ImportLine, ...] = ()
    calls: tuple[CallSite, ...] = ()
    module_keys: tuple[str, ...] = ()
    """The names under which other files import this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """One answer to a query. Data, never instructions."""

    score: float
    """0 to 1; results of one query compare, and a low first score means nothing fits well."""
    file_path: str
    chunk_text: str
    start: int
    end: int
    symbol: str = ""
    kind: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    """`language`, and `found_by`: words, vectors, both, or graph."""
