"""Documents and configuration to chunks: by heading, by top-level key, by table, by statement."""

import re
from collections.abc import Callable, Iterator

from perpetualcc.knowledge.parse.pieces import MAX_CHARS, pieces
from perpetualcc.knowledge.values import Chunk, ChunkKind

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_YAML_KEY = re.compile(r"([\w.\"'/-]+)\s*:(\s|$)")
_TABLE = re.compile(r"\[+\s*([^\]]+?)\s*\]+\s*(#.*)?$")
_SQL = re.compile(
    r"\s*(create|alter|insert|select|update|delete|drop|with|grant|declare|begin)\b\s*"
    r"(?:or\s+replace\s+)?(?:unique\s+|temp(?:orary)?\s+|materialized\s+)*"
    r"(?:table|view|index|function|procedure|trigger|type|into|from)?\s*"
    r"(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]*)",
    re.IGNORECASE,
)


def prose_chunks(lines: list[str], language: str) -> Iterator[Chunk]:
    """The sections of a document; sections that fit together share a chunk only in data."""
    find = _SECTIONS.get(language)
    sections = list(find(lines)) if find is not None else []
    if language != "markdown":
        sections = _joined(sections, lines)
    if not sections:
        yield from _section(lines, 0, len(lines) - 1, "", ChunkKind.TEXT)
        return
    if sections[0][0] > 0:
        yield from _section(lines, 0, sections[0][0] - 1, "", ChunkKind.TEXT)
    ends = [start - 1 for start, _ in sections[1:]] + [len(lines) - 1]
    for (start, title), end in zip(sections, ends, strict=True):
        yield from _section(lines, start, end, title, ChunkKind.SECTION)


def _section(
    lines: list[str], start: int, end: int, title: str, kind: ChunkKind
) -> Iterator[Chunk]:
    for first, last, text in pieces(lines, start, end):
        yield Chunk(start=first + 1, end=last + 1, text=text, kind=kind, symbol=title)


def _joined(sections: list[tuple[int, str]], lines: list[str]) -> list[tuple[int, str]]:
    """Neighbours as one section while they fit in half a chunk."""
    joined: list[tuple[int, str]] = []
    bounds = [*(start for start, _ in sections), len(lines)]
    size = MAX_CHARS
    for number, (start, title) in enumerate(sections):
        own = sum(map(len, lines[start : bounds[number + 1]]))
        if size + own > MAX_CHARS // 2:
            joined.append((start, title))
            size = own
        else:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {title}"[:120])
            size += own
    return joined


def _headings(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Markdown's `#` and the underlines of Markdown and reStructuredText, outside of fences."""
    path: dict[int, str] = {}
    marks: list[str] = []
    is_fenced = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        if is_fenced:
            continue
        if match := _HEADING.match(line):
            level, title = len(match[1]), match[2]
        elif number and (match := _UNDERLINE.match(line)) and _is_title(lines[number - 1], line):
            if match[1] not in marks:
                marks.append(match[1])
            level, title, number = marks.index(match[1]) + 1, lines[number - 1].strip(), number - 1  # noqa: PLW2901
        else:
            continue
        path = {depth: text for depth, text in path.items() if depth < level} | {level: title}
        yield number, " > ".join(path.values())[:200]


def _is_title(above: str, underline: str) -> bool:
    return bool(above.strip()) and above[0].isalnum() and len(underline.strip()) + 2 >= len(above)


def _yaml_keys(lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines):
        if match := _YAML_KEY.match(line):
            yield number, match[1].strip("\"'")


def _tables(lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines):
        if match := _TABLE.match(line):
            yield number, match[1]


def _statements(lines: list[str]) -> Iterator[tuple[int, str]]:
    is_start = True
    for number, line in enumerate(lines):
        if is_start and (match := _SQL.match(line)):
            yield number, match[2].strip('"`[]')
        if line.strip() and not line.lstrip().startswith("--"):
            is_start = line.rstrip().endswith(";")


_SECTIONS: dict[str, Callable[[list[str]], Iterator[tuple[int, str]]]] = {
    "markdown": _headings,
    "yaml": _yaml_keys,
    "toml": _tables,
    "sql": _statements,
}
