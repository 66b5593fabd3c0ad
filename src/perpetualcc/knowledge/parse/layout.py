"""
What the imports of one file need to know of the project around it.

Package roots, `tsconfig.json` paths, workspace packages, the module name of `go.mod`. It is read
once for a scan; what changed in it tells whose imports must be read again.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from perpetualcc.domain.foreign_files import read_regular

_LONGEST = 1_000_000
"""Bytes."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathAlias:
    """One entry of `compilerOptions.paths`, or a `baseUrl`."""

    folder: str
    """Where it holds: the folder of the tsconfig."""
    pattern: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLayout:
    """The project as import statements see it. Plain data, so that it travels to workers."""

    python_packages: frozenset[str] = frozenset()
    """Folders with an `__init__.py`."""
    aliases: tuple[PathAlias, ...] = ()
    workspaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Package name to the paths its bare import may mean; its folder comes last."""
    go_modules: tuple[tuple[str, str], ...] = ()
    """Module name and folder of each `go.mod`."""

    @property
    def settings_fingerprint(self) -> str:
        """Of what the settings files say; folders of Python packages are compared by name."""
        content = (self.aliases, self.workspaces, self.go_modules)
        return hashlib.sha256(repr(content).encode()).hexdigest()

    def python_root(self, bare: str) -> int:
        """How many leading folders of `a/b/module` stand above its outermost package."""
        parts = bare.split("/")[:-1]
        root = len(parts)
        while root and "/".join(parts[:root]) in self.python_packages:
            root -= 1
        return root

    def script_aliases(self, module: str, folder: str) -> Iterator[str]:
        """The paths that a bare import may mean, likely ones first."""
        for alias in self.aliases:
            if alias.folder in {".", folder} or folder.startswith(alias.folder + "/"):
                yield from _matched(alias, module)
        name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
        paths = self.workspaces.get(name)
        if paths:
            rest = module[len(name) + 1 :]
            yield from (
                (normpath(f"{paths[-1]}/{rest}"), normpath(f"{paths[-1]}/src/{rest}"))
                if rest
                else paths
            )

    def go_folders(self, module: str) -> Iterator[str]:
        for name, folder in self.go_modules:
            if module == name or module.startswith(name + "/"):
                yield normpath(f"{folder}/{module[len(name) + 1 :]}")


def _matched(alias: PathAlias, module: str) -> Iterator[str]:
    head, star, tail = alias.pattern.partition("*")
    if not star:
        if module == alias.pattern:
            yield from alias.targets
    elif module.startswith(head) and module.endswith(tail):
        middle = module[len(head) : len(module) - len(tail)]
        yield from (target.replace("*", middle) for target in alias.targets)


def read_layout(project: Path, paths: Iterable[str]) -> ProjectLayout:
    """Read the few files that say how the project's modules are named."""
    packages = set()
    aliases: list[PathAlias] = []
    workspaces: dict[str, tuple[str, ...]] = {}
    modules: list[tuple[str, str]] = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name in {"__init__.py", "__init__.pyi"}:
            packages.add(folder)
        elif name == "package.json":
            workspaces |= _workspace(_json(project / path), folder or ".")
        elif name in {"tsconfig.json", "jsconfig.json"}:
            aliases += _aliases(_json(project / path), folder or ".")
        elif name == "go.mod":
            modules += _go_module(project / path, folder or ".")
    return ProjectLayout(
        python_packages=frozenset(packages),
        aliases=tuple(aliases),
        workspaces=workspaces,
        go_modules=tuple(modules),
    )


def _json(path: Path) -> dict[str, Any]:
    """JSON with comments and trailing commas; an unreadable file says nothing."""
    try:
        text = read_regular(path, _LONGEST).decode("utf-8", errors="replace")
        bare = _COMMENT.sub(lambda match: match[1] or "", text)
        value = json.loads(_TRAILING_COMMA.sub(r"\1", bare))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _workspace(package: dict[str, Any], folder: str) -> dict[str, tuple[str, ...]]:
    name = package.get("name")
    if not isinstance(name, str) or not name:
        return {}
    entries = [package.get(key) for key in ("source", "module", "main")]
    named = [normpath(f"{folder}/{entry}") for entry in entries if isinstance(entry, str)]
    return {name: tuple(dict.fromkeys([*named, normpath(f"{folder}/src"), normpath(folder)]))}


def _aliases(config: dict[str, Any], folder: str) -> Iterator[PathAlias]:
    options = config.get("compilerOptions")
    if not isinstance(options, dict):
        return
    base_url = options.get("baseUrl")
    base = normpath(f"{folder}/{base_url}") if isinstance(base_url, str) else folder
    paths = options.get("paths")
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        if isinstance(targets, list):
            resolved = tuple(normpath(f"{base}/{target}") for target in targets)
            yield PathAlias(folder=folder, pattern=str(pattern), targets=resolved)
    if isinstance(base_url, str):
        yield PathAlias(folder=folder, pattern="*", targets=(normpath(f"{base}/*"),))


def _go_module(path: Path, folder: str) -> Iterator[tuple[str, str]]:
    try:
        text = read_regular(path, _LONGEST).decode(errors="replace")
    except OSError:
        return
    if match := re.search(r"^module\s+(\S+)", text, re.MULTILINE):
        yield PurePosixPath(match[1]).as_posix(), folder
