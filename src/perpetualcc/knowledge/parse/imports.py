"""
Which file an import means: both sides are written as keys, and a key that meets joins them.

Keys need no second pass over the project, so a new file answers old imports at once. Python and
JavaScript/TypeScript are resolved as their interpreters do; other languages by path.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath

from perpetualcc.knowledge.parse.layout import ProjectLayout
from perpetualcc.knowledge.parse.syntax import RawImport
from perpetualcc.knowledge.values import ImportLine

_FROM = re.compile(r"from\s+(\.*)\s*([\w.]*)\s+import\s+(.*)", re.DOTALL)
_QUOTED = re.compile(r"""^["'`<]|["'`>]$""")
_SCRIPT_SUFFIX = re.compile(r"(\.d)?\.(js|jsx|mjs|cjs|ts|tsx|mts|cts|json|vue|svelte)$")
_SOURCE_ROOTS = frozenset({"src", "lib", "python", "source", "app", "java", "main", "kotlin"})
_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


def module_keys(path: str, language: str, layout: ProjectLayout) -> tuple[str, ...]:
    """The names under which other files may import this one."""
    bare = PurePosixPath(path).with_suffix("").as_posix()
    if language == "python":
        return tuple(f"py:{name}" for name in _python_names(bare, layout))
    if language in _SCRIPTS:
        bare = _SCRIPT_SUFFIX.sub("", path)
        folder, _, name = bare.rpartition("/")
        return (f"js:{bare}", f"js:{folder or '.'}") if name == "index" else (f"js:{bare}",)
    if language == "go":
        return (f"go:{PurePosixPath(path).parent.as_posix()}",)
    if language in {"c", "cpp"}:
        parts = path.split("/")
        return tuple(dict.fromkeys("c:" + "/".join(parts[-n:]) for n in (1, 2, 3, len(parts))))
    return tuple(f"path:{name}" for name in _below_source_roots(bare.split("/"), "/"))


def read_imports(
    raw: tuple[RawImport, ...], path: str, language: str, layout: ProjectLayout
) -> tuple[ImportLine, ...]:
    """Each import with the keys of the modules it may mean."""
    found: dict[tuple[str, tuple[str, ...]], ImportLine] = {}
    for entry in raw:
        for text, targets in _targets(entry.text, path, language, layout):
            found.setdefault(
                (text, targets), ImportLine(text=text, line=entry.line + 1, targets=targets)
            )
    return tuple(found.values())


def _targets(
    text: str, path: str, language: str, layout: ProjectLayout
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if language == "python":
        yield from _python_targets(text, path)
        return
    module = _QUOTED.sub("", _QUOTED.sub("", text.strip()))[:200]
    folder = PurePosixPath(path).parent.as_posix()
    if language in _SCRIPTS:
        yield module, tuple(f"js:{key}" for key in _script_targets(module, folder, layout))
    elif language == "go":
        yield module, tuple(f"go:{key}" for key in layout.go_folders(module))
    elif language in {"c", "cpp"}:
        yield module, tuple(dict.fromkeys((f"c:{normpath(f'{folder}/{module}')}", f"c:{module}")))
    elif language == "rust":
        yield module, tuple(f"path:{key}" for key in _rust_targets(module, path))
    elif language in {"java", "csharp", "php"}:
        yield module, (f"path:{re.sub(r'[.]|::|' + re.escape(chr(92)), '/', module).strip('/')}",)
    else:
        bare = PurePosixPath(module).with_suffix("").as_posix()
        yield module, (f"path:{normpath(f'{folder}/{bare}')}", f"path:{bare}")


def _python_names(bare: str, layout: ProjectLayout) -> Iterator[str]:
    parts = bare.split("/")
    if parts[-1] == "__init__":
        parts = parts[:-1] or ["__init__"]
    root = layout.python_root(bare)
    names = [".".join(parts[root:]) if root < len(parts) else parts[-1]]
    yield from dict.fromkeys([*names, *_below_source_roots(parts, ".")])


def _below_source_roots(parts: list[str], separator: str) -> Iterator[str]:
    yield separator.join(parts)
    for depth, part in enumerate(parts[:-1], start=1):
        if part in _SOURCE_ROOTS:
            yield separator.join(parts[depth:])


def _python_targets(text: str, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    match = _FROM.match(text)
    if match is None:
        for name in text.removeprefix("import").split(","):
            module = name.split(" as ")[0].strip()
            if module:
                yield module, tuple(f"py:{key}" for key in _and_its_packages(module))
        return
    dots, module, names = match.groups()
    base = _relative_base(path, len(dots), module) if dots else module
    for name in re.sub(r"[()\\\s]|#.*", " ", names).split(","):
        imported = name.split(" as ")[0].strip()
        written = f"{dots}{module}"
        if not imported or imported == "*":
            yield written, (f"py:{base}",)
        else:
            full = f"{base}.{imported}" if base else imported
            yield f"{written}:{imported}", tuple(f"py:{key}" for key in (full, base) if key)


def _and_its_packages(module: str) -> Iterator[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]


def _relative_base(path: str, dots: int, module: str) -> str:
    folder = path.split("/")[:-1]
    kept = folder[: len(folder) - (dots - 1)] if dots > 1 else folder
    return ".".join([*kept, *([module] if module else [])])


def _script_targets(module: str, folder: str, layout: ProjectLayout) -> Iterator[str]:
    if module.startswith((".", "/")):
        yield _without_suffix(normpath(f"{folder}/{module}"))
        return
    for path in layout.script_aliases(module, folder):
        yield _without_suffix(path)


def _without_suffix(path: str) -> str:
    return _SCRIPT_SUFFIX.sub("", path)


def _rust_targets(module: str, path: str) -> Iterator[str]:
    parts = [part for part in re.split(r"::|[{},\s]+", module) if part]
    folder = PurePosixPath(path).parent
    if not parts:
        return
    if parts[0] == "crate":
        base, parts = next((p for p in folder.parents if p.name == "src"), folder), parts[1:]
        base = folder if folder.name == "src" else base
    elif parts[0] in {"self", "super"}:
        base, parts = (folder.parent if parts[0] == "super" else folder), parts[1:]
    else:
        base = folder
    for depth in range(len(parts), 0, -1):
        yield (base / "/".join(parts[:depth])).as_posix()
        yield (base / "/".join(parts[:depth]) / "mod").as_posix()
