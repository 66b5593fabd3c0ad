"""
What a file of code defines, imports and calls, read from its syntax tree.

The tree of broken code has holes, not errors: what can be recognised is.
"""

import importlib
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from perpetualcc.knowledge.parse.exports import QUERIES
from perpetualcc.knowledge.parse.languages import LANGUAGES
from perpetualcc.knowledge.values import CallSite, ChunkKind, Export

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
_DECLARED = re.compile(r"(~?\w+(?:::~?\w+)*)\s*\(")
_NAME = re.compile(r"[^\W\d][\w:.$?!=<>-]*|#\w+")
_SPACES = re.compile(r"\s+")
_MAX_QUALIFIED = 240
_MAX_SIGNATURE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A definition in the text, by lines counted from 0, both inclusive."""

    name: str
    kind: ChunkKind
    start: int
    end: int
    signature: str
    owner: str = ""
    """The type whose method it is, where it does not stand in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawImport:
    """An import as it stands in the text."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """What the tree of one file says."""

    spans: tuple[Span, ...]
    """In the order of the text, an outer definition before those inside it."""
    imports: tuple[RawImport, ...]
    calls: tuple[tuple[str, int], ...]
    """Names that are called, each with its line counted from 0."""
    exports: tuple[Export, ...] = ()
    """What the text says that other files may use."""


@cache
def _tools(language: str) -> "tuple[Parser, Query, Query]":
    from tree_sitter import Language, Parser, Query  # noqa: PLC0415  # only where files are parsed

    entry = LANGUAGES[language]
    grammar = Language(getattr(importlib.import_module(entry.grammar), entry.entry)())
    return Parser(grammar), Query(grammar, entry.query), Query(grammar, QUERIES.get(language, ""))


def read_syntax(text: str, language: str) -> Syntax:
    """Parse `text` as `language`, a key of `LANGUAGES`."""
    from tree_sitter import QueryCursor  # noqa: PLC0415

    parser, query, shown = _tools(language)
    source = text.encode("utf-8", errors="replace")
    tree = parser.parse(source)
    spans: dict[tuple[int, int, str], Span] = {}
    imports: list[RawImport] = []
    calls: dict[tuple[str, int], None] = {}
    for _pattern, captures in QueryCursor(query).matches(tree.root_node):
        for kind in (ChunkKind.FUNCTION, ChunkKind.CLASS):
            for node in captures.get(kind.value, ()):
                span = _span(node, _text(captures["name"][0]), kind)
                if owner := captures.get("owner"):
                    span = replace(span, owner=_text(owner[0]))
                spans.setdefault((span.start, span.end, span.name), span)
        imports += [
            RawImport(text=_text(node), line=node.start_point[0])
            for node in captures.get("import", ())
        ]
        for node in captures.get("call", ()):
            calls[_text(node)[:80], node.start_point[0]] = None
    ordered = sorted(spans.values(), key=lambda span: (span.start, -span.end, span.name))
    return Syntax(
        spans=tuple(ordered),
        imports=tuple(imports),
        calls=tuple(calls),
        exports=tuple(_exported(tree.root_node, shown)),
    )


def _exported(root: "Node", query: "Query") -> Iterator[Export]:
    from tree_sitter import QueryCursor  # noqa: PLC0415

    cursor = QueryCursor(query)
    cursor.set_max_start_depth(0)
    for _pattern, captures in cursor.matches(root):
        kind, (node, *_) = next(
            (
                (kind, nodes)
                for kind, nodes in captures.items()
                if kind != "name" and kind[0] != "_"
            ),
            ("value", captures["name"]),
        )
        yield Export(
            name=_SPACES.sub(" ", _text(captures["name"][0])).strip("\"'`")[:_MAX_QUALIFIED],
            kind=kind,
            start=node.start_point[0] + 1,
            end=_last_line(node) + 1,
        )


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", errors="replace")


def _span(node: "Node", declared: str, kind: ChunkKind) -> Span:
    body = node.child_by_field_name("body")
    if body is None and (value := node.child_by_field_name("value")) is not None:
        body = value.child_by_field_name("body")
    head_end = body.start_byte if body is not None else node.end_byte
    head = (node.text or b"")[: max(head_end - node.start_byte, 0)][: _MAX_SIGNATURE * 2]
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        outer = outer.parent
    return Span(
        name=_declared_name(declared),
        kind=kind,
        start=outer.start_point[0],
        end=_last_line(outer),
        signature=_one_line(head.decode("utf-8", errors="replace"))[:_MAX_SIGNATURE],
    )


def _last_line(node: "Node") -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _declared_name(declared: str) -> str:
    """The name in a C declarator (`*Session::open(int a)`), or the name as it is."""
    match = _DECLARED.search(declared) or _NAME.search(declared)
    name = match[1] if match and match.re is _DECLARED else match[0] if match else declared
    return name.replace("::", ".")[:120]


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip().rstrip("{").rstrip()


def qualified_names(spans: tuple[Span, ...]) -> tuple[str, ...]:
    """For each span its name after those of the definitions around it: `Session.resume`."""
    open_spans: list[tuple[int, str]] = []
    names = []
    for span in spans:
        while open_spans and open_spans[-1][0] < span.end:
            open_spans.pop()
        around = open_spans[-1][1] if open_spans else span.owner
        prefix = f"{around}." if around else ""
        names.append((prefix + span.name)[:_MAX_QUALIFIED])
        open_spans.append((span.end, names[-1]))
    return tuple(names)


def call_sites(syntax: Syntax, names: tuple[str, ...]) -> Iterator[CallSite]:
    """Each called name once for each definition that calls it, the innermost one."""
    starts = [span.start for span in syntax.spans]
    seen = set()
    for name, line in syntax.calls:
        caller = _enclosing(syntax.spans, starts, names, line)
        if (name, caller) not in seen:
            seen.add((name, caller))
            yield CallSite(name=name, caller=caller, line=line + 1)


def _enclosing(
    spans: tuple[Span, ...], starts: list[int], names: tuple[str, ...], line: int
) -> str:
    for index in range(bisect_right(starts, line) - 1, -1, -1):
        if spans[index].end >= line:
            return names[index]
    return ""
