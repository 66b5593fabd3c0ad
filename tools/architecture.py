"""The rings of ARCHITECTURE.md: the import-linter contract, with what each package says it is."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.marked import cell, replace_between


def with_rings(root: Path) -> str:
    """ARCHITECTURE.md with its table of rings as the code has it now."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return replace_between(text, "rings", "\n".join(_table(root)))


def rings(root: Path) -> list[list[str]]:
    """The layers of the contract, outermost first, each as its packages."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["id"] == "rings")
    return [re.findall(r"\w+", layer) for layer in layers]


def purpose(package: Path) -> str:
    """The first paragraph of a package's or module's docstring."""
    source = package / "__init__.py" if package.is_dir() else package
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n\n", maxsplit=1)[0]


def _table(root: Path) -> Iterator[str]:
    yield "| ring | package | what it is for |"
    yield "|---|---|---|"
    for number, names in enumerate(rings(root), start=1):
        for name in names:
            found = _find(root / "src" / "perpetualcc", name)
            if found is not None:
                shown = f"{name}/" if found.is_dir() else found.name
                yield f"| {number} | `{shown}` | {cell(purpose(found))} |"


def _find(source: Path, name: str) -> Path | None:
    """The package or module of a ring; None: the contract names it before it exists."""
    places = (source / name, source / f"{name}.py")
    return next((place for place in places if place.exists()), None)
