"""
What the imports say of a project as a whole: cycles, layers, what all depends on, what is alone.

Pure, and in one pass over the files and their imports: a project of 28,000 files and 90,000
imports is a second of work, so no graph library is needed for it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

Imports = Mapping[str, Collection[str]]
"""Each file, and the files that it imports."""


_RANKED = 100
"""Files whose reach is counted: each costs a walk."""
_STARTS = 50
"""Files of a cycle from which a circle is looked for: any circle explains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """How much of a project leans on one file."""

    path: str
    importers: int
    """Files that import it themselves."""
    reach: int
    """Files that would feel it break: those importers, their importers, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Files of which each needs, over some way, each other."""

    files: tuple[str, ...]
    shortest: tuple[str, ...]
    """A smallest circle among them: each imports the next, and the last the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The report on one project."""

    files: int
    imports: int
    cycles: tuple[Cycle, ...]
    """The largest first."""
    dependencies: tuple[Dependency, ...]
    """Files that others import, those that most lean on first."""
    layers: tuple[tuple[str, ...], ...]
    """
    From the ground up: files that import none, then those that import only such, and so on. The
    files of a cycle stand in one layer.
    """
    orphans: tuple[str, ...]
    """Files that import none and that none imports."""


def structure_of(imports: Imports) -> Structure:
    """The report; the same imports give the same report."""
    known = {
        path: sorted({other for other in imported if other in imports and other != path})
        for path, imported in sorted(imports.items())
    }
    importers = _turned(known)
    groups = _groups(known, importers)
    return Structure(
        files=len(known),
        imports=sum(map(len, known.values())),
        cycles=_cycles(groups, known),
        dependencies=_dependencies(importers),
        layers=_layers(groups, known),
        orphans=tuple(path for path in known if not known[path] and not importers[path]),
    )


def _turned(known: Mapping[str, list[str]]) -> dict[str, list[str]]:
    importers: dict[str, list[str]] = {path: [] for path in known}
    for path, imported in known.items():
        for other in imported:
            importers[other].append(path)
    return importers


def _groups(known: Mapping[str, list[str]], importers: Mapping[str, list[str]]) -> list[list[str]]:
    """
    Files that reach each other, each group behind those that it imports (Kosaraju 1978).

    Without recursion, because chains of imports may be longer than Python's stack.
    """
    seen: set[str] = set()
    groups = []
    for root in reversed(_finished(known)):
        if root in seen:
            continue
        seen.add(root)
        group = [root]
        for file in group:  # it grows meanwhile
            new = [other for other in importers[file] if other not in seen]
            seen.update(new)
            group += new
        groups.append(sorted(group))
    return groups[::-1]


def _finished(known: Mapping[str, list[str]]) -> list[str]:
    """Each file behind all that it reaches, as far as circles allow."""
    finished: list[str] = []
    seen: set[str] = set()
    for root in known:
        way = [] if root in seen else [(root, iter(known[root]))]
        seen.add(root)
        while way:
            _file, imported = way[-1]
            other = next((other for other in imported if other not in seen), None)
            if other is None:
                finished.append(way.pop()[0])
            else:
                seen.add(other)
                way.append((other, iter(known[other])))
    return finished


def _cycles(groups: Iterable[list[str]], known: Mapping[str, list[str]]) -> tuple[Cycle, ...]:
    found = [
        Cycle(files=tuple(group), shortest=_smallest_circle(group, known))
        for group in groups
        if len(group) > 1
    ]
    return tuple(sorted(found, key=lambda cycle: (-len(cycle.files), cycle.files)))


def _smallest_circle(group: list[str], known: Mapping[str, list[str]]) -> tuple[str, ...]:
    inside = set(group)
    circles = (_circle_through(start, inside, known) for start in group[:_STARTS])
    return min(circles, key=lambda circle: (len(circle), circle))


def _circle_through(
    start: str, inside: Collection[str], known: Mapping[str, list[str]]
) -> tuple[str, ...]:
    """The shortest way from a file back to itself, breadth first."""
    came_from: dict[str, str] = {}
    frontier = [start]
    while start not in came_from:
        following = []
        for file in frontier:
            for other in known[file]:
                if other in inside and other not in came_from:
                    came_from[other] = file
                    following.append(other)
        frontier = following
    way = [came_from[start]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def _layers(
    groups: Iterable[list[str]], known: Mapping[str, list[str]]
) -> tuple[tuple[str, ...], ...]:
    height: dict[str, int] = {}
    for group in groups:
        below = [height[other] for file in group for other in known[file] if other in height]
        height.update(dict.fromkeys(group, 1 + max(below, default=-1)))
    layers: list[list[str]] = [[] for _ in range(1 + max(height.values(), default=-1))]
    for file in sorted(height):
        layers[height[file]].append(file)
    return tuple(map(tuple, layers))


def _dependencies(importers: Mapping[str, list[str]]) -> tuple[Dependency, ...]:
    most = sorted(importers, key=lambda path: (-len(importers[path]), path))[:_RANKED]
    found = [
        Dependency(path=path, importers=len(importers[path]), reach=_reach(path, importers))
        for path in most
        if importers[path]
    ]
    return tuple(sorted(found, key=lambda entry: (-entry.importers, -entry.reach, entry.path)))


def _reach(path: str, importers: Mapping[str, list[str]]) -> int:
    seen = {path}
    waiting = [path]
    while waiting:
        for importer in importers[waiting.pop()]:
            if importer not in seen:
                seen.add(importer)
                waiting.append(importer)
    return len(seen) - 1
