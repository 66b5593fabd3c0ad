"""`docs/configuration.md`: every key of the configuration, with the string under its field."""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from perpetualcc.config import file as config
from tools.marked import cell

_START = """# Configuration

One TOML file, `~/.perpetualcc/config.toml`; another one with `pcc --config FILE` or the variable `PERPETUALCC_CONFIG`. The usual one need not exist: every key has a default; one that you name must. The daemon works with the file of the command that started it, and with what was in it then: `pcc start`, `resume`, `doctor` and `daemon status` say when yours is another, or was changed since. A mistake in it is named with its line and the nearest key, and nothing starts until it is mended.

```console
$ pcc config set max_concurrent 8
sessions.max_concurrent = 8
It counts from the next start of the engine: pcc daemon restart
$ pcc config show
```

`pcc config get KEY`, `set KEY VALUE` and `reset [KEY]` take the full name of a key, or its last part where that is unique. Comments in the file stay as they are.
"""


def page() -> str:
    """The whole page."""
    lines = [_START]
    found = list(config.settings())
    for section, keys in groupby(found, key=lambda one: one[0].rpartition(".")[0]):
        lines += _section(section, list(keys))
    return "\n".join(lines).rstrip() + "\n"


def _section(section: str, keys: list[tuple[str, Any, Any]]) -> Iterator[str]:
    kind = _kind_of(section)
    told = field_docs(kind)
    yield from [f"## `[{section}]`", ""]
    about = (inspect.getdoc(kind) or "").partition(": ")[2]
    yield from [f"{about[:1].upper()}{about[1:]}", ""] if about else []
    yield from ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, value_kind, default in keys:
        short = name.rpartition(".")[2]
        yield (
            f"| `{short}` | {config.kind_name(value_kind)} | `{cell(shown(default))}` "
            f"| {cell(told.get(short, ''))} |"
        )
    yield ""


def _kind_of(section: str) -> type:
    value: Any = config.Config()
    for part in section.split("."):
        value = getattr(value, part)
    return type(value)


def field_docs(kind: type) -> Mapping[str, str]:
    """The strings under the fields of a dataclass, its bases' too."""
    told: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        told |= _own_field_docs(one)
    return {field.name: told.get(field.name, "") for field in fields(kind)}


def _own_field_docs(kind: type) -> dict[str, str]:
    source = Path(inspect.getfile(kind)).read_text(encoding="utf-8")
    found = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ClassDef)]
    body = next((node.body for node in found if node.name == kind.__name__), [])
    told = {}
    for field, after in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    told[field.target.id] = text
    return told


def shown(value: Any) -> str:
    """A default as it would stand in the file."""
    plain = list(value) if isinstance(value, tuple) else value
    if isinstance(plain, timedelta):
        plain = plain.total_seconds()
    return json.dumps(str(plain) if isinstance(plain, Path) else plain, ensure_ascii=False)
