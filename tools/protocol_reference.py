"""`docs/protocol.md`: methods from the engine's table, events and error codes from their types."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints
from unittest import mock

from perpetualcc.daemon.offered import methods_of
from perpetualcc.domain.events import EVENT_TYPES, Event
from perpetualcc.gateway.protocol import FRAME_LIMIT, PROTOCOL, ErrorCode
from tools.configuration_reference import field_docs
from tools.marked import cell

_START = f"""# The protocol

Newline-delimited JSON on the Unix socket `~/.perpetualcc/data/run/pcc.sock`; version {PROTOCOL}. Only processes of your own user are answered, and what is only for a person is refused to a process that an agent's run started (code -32002): the kernel says which process asks, and its environment or that of a parent carries the run's mark. One that takes a clean environment and leaves its parents behind is not recognized. A frame has at most {FRAME_LIMIT // 1024 // 1024} MiB.

```
→ {{"type":"req","id":1,"method":"connect","params":{{"protocol":{PROTOCOL},"client":"mine"}}}}
← {{"type":"res","id":1,"result":{{"protocol":{PROTOCOL},"serverVersion":"0.1.0+18b2…","capabilities":["events.follow",…]}}}}
→ {{"type":"req","id":2,"method":"events.follow","params":{{"since":0}}}}
← {{"type":"res","id":2,"result":{{"subscription":"s1"}}}}
← {{"type":"event","event":"SessionCreated","data":{{"seq":1,"at":1800000000.0,…}},"subscription":"s1"}}
← {{"type":"res","id":3,"error":{{"code":-32010,"message":"…","data":{{"message":"…","hint":"…"}}}}}}
```

`connect` comes first. `ping` answers `pong`; `events.unfollow` takes a `subscription` and ends it; a connection has at most 16. A subscription that fails ends with the event `subscription.failed`. Times are UTC epoch seconds; whoever follows events across a restart of the engine asks again with the last `seq` it has seen.
"""


def page() -> str:
    """The whole page."""
    parts = [_START, *_methods(), "", *_events(), "", *_codes()]
    return "\n".join(parts).rstrip() + "\n"


def _methods() -> Iterator[str]:
    table = methods_of(mock.MagicMock())
    yield from ["## Methods", "", "A parameter in brackets may be left out.", ""]
    yield from ["| method | parameters | |", "|---|---|---|"]
    for name, method in sorted(table.items()):
        params = ", ".join(_param(key, kind) for key, kind in method.params.items())
        about = " ".join((inspect.getdoc(method.call) or "").split())
        about += " Only for a person." if method.is_decision else ""
        about += "".join(f" `{name}` is only for a person." for name in sorted(method.only_people))
        yield f"| `{name}` | {params or '—'} | {cell(about)} |"


def _param(name: str, kind: type | UnionType) -> str:
    optional = type(None) in get_args(kind)
    return f"[`{name}`: {_json_kind(kind)}]" if optional else f"`{name}`: {_json_kind(kind)}"


_JSON = {
    str: "text", int: "whole number", float: "number", bool: "true or false",
    list: "list", dict: "object",
}  # fmt: skip


def _json_kind(kind: Any) -> str:
    kinds = [one for one in get_args(kind) or (kind,) if one is not type(None)]
    return " or ".join(_JSON.get(one, getattr(one, "__name__", str(one))) for one in kinds)


def _events() -> Iterator[str]:
    yield from ["## Events", ""]
    yield "Every event has `seq` (its place in the log), `at`, `kind` and `level`,"
    yield from ["and `session`, `run` and `task` where it belongs to one.", ""]
    yield from ["| event | level | what happened | fields |", "|---|---|---|---|"]
    for name, kind in EVENT_TYPES.items():
        about = " ".join((inspect.getdoc(kind) or "").split())
        yield f"| `{name}` | {kind.level} | {cell(about)} | {_fields(kind)} |"


def _fields(kind: type[Event]) -> str:
    hints, told = get_type_hints(kind), field_docs(kind)
    shown = [
        _field(one.name, hints[one.name], told[one.name])
        for one in fields(kind)
        if one.name not in {"session", "run", "task"}
    ]
    return "; ".join(shown) or "—"


def _field(name: str, kind: Any, about: str) -> str:
    explained = f" ({cell(about).rstrip('.')})" if about else ""
    nullable = " or null" if type(None) in get_args(kind) else ""
    return f"`{name}`: {_field_kind(kind)}{nullable}{explained}"


def _field_kind(kind: Any) -> str:
    kinds = [one for one in get_args(kind) if one is not type(None)]
    plain = kinds[0] if isinstance(kind, UnionType) else kind
    plain = getattr(plain, "__supertype__", plain)
    return _JSON.get(getattr(plain, "__origin__", plain), str(plain))


def _codes() -> Iterator[str]:
    told = _member_docs(ErrorCode)
    yield from ["## Error codes", "", "| code | name | meaning |", "|---|---|---|"]
    for code in ErrorCode:
        yield f"| {int(code)} | {code.name} | {cell(told.get(code.name, ''))} |"


def _member_docs(kind: type) -> dict[str, str]:
    """The strings under the members of an enum."""
    tree = ast.parse(Path(inspect.getfile(kind)).read_text(encoding="utf-8"))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    body = next(node.body for node in classes if node.name == kind.__name__)
    told = {}
    for member, after in pairwise(body):
        match member, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                told[name] = text
    return told
