"""
How the code hangs together: files, definitions, imports and calls (seed 000, Component 7).

An entity is written as a person would: a path, a path's end, a name, or `path::Class.method`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.values import CallSite, Export

MAX_RELATED = 200
"""Beyond so many entities an answer is no answer."""
_MAX_EDGES = 60
"""Of one entity that are followed: a logger that everybody calls relates nobody."""


class EdgeKind(StrEnum):
    """How one entity holds to another."""

    IMPORTS = "imports"
    """A file to a file."""
    DEFINES = "defines"
    """A file to a definition, a class to a method."""
    CALLS = "calls"
    """A definition (or a file, at module level) to a definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A file, or a definition in it."""

    path: str
    qualified: str = ""

    def __str__(self) -> str:
        return f"{self.path}::{self.qualified}" if self.qualified else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One relation, from who imports, defines or calls to what is."""

    source: Node
    target: Node
    kind: EdgeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An entity near another."""

    node: Node
    distance: int
    edge: Edge
    """The edge over which it was first reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """An import of a file; `path` is empty for what is not in the project."""

    module: str
    line: int
    path: str


class GraphIndex(Protocol):
    """The rows of the graph. Paths it does not know have no edges."""

    def find(self, entity: str) -> list[Node]:
        """What a person may mean, best first: exact before partial, code before tests."""
        ...

    def edges(self, node: Node) -> list[Edge]:
        """Every edge at a node, in either direction, in a stable order."""
        ...

    def imports(self, path: str) -> list[FileImport]: ...

    def importers(self, path: str) -> list[str]: ...

    def exports(self, path: str) -> list[Export]: ...

    def callers(self, path: str, qualified: str = "") -> list[tuple[str, CallSite]]:
        """Calls of a definition, or from other files into any definition of the file."""
        ...


class UnknownEntity(PerpetualError):  # noqa: N818  # errors are named by what happened
    """Nothing in the index goes by that name."""

    def __init__(self, entity: str) -> None:
        super().__init__(
            f"Nothing in the index is called {entity!r}",
            hint="Give a path, a name, or `path::Class.method`; `pcc search` finds by meaning",
        )


class CodeGraph:
    """The graph of one project, read from its index; building it is indexing the project."""

    def __init__(self, index: GraphIndex) -> None:
        self._index = index

    def related(self, entity: str, depth: int = 2) -> list[Related]:
        """
        Entities within `depth` steps, nearest first, at most `MAX_RELATED`.

        Raises:
            UnknownEntity: nothing goes by that name.
        """
        start = self._index.find(entity)
        if not start:
            raise UnknownEntity(entity)
        start = start[:1] if not start[0].qualified else start[:3]
        found: dict[Node, Related] = {}
        frontier = start
        for distance in range(1, depth + 1):
            frontier = self._step(frontier, distance, set(start), found)
        return list(found.values())[:MAX_RELATED]

    def _step(
        self, frontier: Iterable[Node], distance: int, start: set[Node], found: dict[Node, Related]
    ) -> list[Node]:
        reached = []
        for node in frontier:
            for edge in self._index.edges(node)[:_MAX_EDGES]:
                other = edge.target if edge.source == node else edge.source
                if other in start or other in found or len(found) >= MAX_RELATED:
                    continue
                found[other] = Related(node=other, distance=distance, edge=edge)
                reached.append(other)
        return reached

    def neighbours(self, path: str) -> list[str]:
        """The files that a file imports, then those that import it."""
        imported = [entry.path for entry in self._index.imports(path) if entry.path]
        return [p for p in dict.fromkeys([*imported, *self._index.importers(path)]) if p != path]

    def get_file_context(self, path: str) -> dict[str, Any]:
        """
        What a file imports and exports, who imports it, and who calls into it.

        Raises:
            UnknownEntity: the file is not in the index.
        """
        found = self._index.find(path)
        if not found or found[0].qualified:
            raise UnknownEntity(path)
        path = found[0].path
        return {
            "path": path,
            "imports": [
                {"module": entry.module, "file": entry.path or None, "line": entry.line}
                for entry in self._index.imports(path)
            ],
            "imported_by": self._index.importers(path),
            "exports": [
                {
                    "name": entry.name,
                    "kind": entry.kind,
                    "start": entry.start,
                    "end": entry.end,
                }
                for entry in self._index.exports(path)
            ],
            "callers": [
                {"file": caller, "in": call.caller or None, "calls": call.name, "line": call.line}
                for caller, call in self._index.callers(path)
            ],
        }
