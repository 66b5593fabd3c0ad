"""`handover.md`, in the template of seed 001: read what Claude wrote, write what the next needs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

LARGEST = 256 * 1024
"""Bytes. A document beyond it is no document."""


class DamagedDocumentError(ValueError):
    """The text is not a handover document: empty, cut off, or something else altogether."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverDocument:
    """What an iteration leaves to the next one, apart from the mission: that is not Claude's."""

    summary: str = ""
    files: tuple[str, ...] = ()
    """`path - description`, as the seed writes it."""
    active: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    decisions: str = ""
    dependencies: str = ""
    code: str = ""
    next_steps: tuple[str, ...] = ()
    extra: str = ""
    """Sections that Claude added, with their headings."""

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, one.name) for one in fields(self))

    @property
    def has_more_to_do(self) -> bool:
        return bool(self.active or self.next_steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The first lines of the document, which are ours."""

    generated: str
    """Local date and time."""
    iteration: int
    duration: str
    """`hh:mm:ss`."""
    reason: str


# Heading (lower case, its beginning is enough) → field of the document.
_SECTIONS = {
    "previous session summary": "summary",
    "files modified": "files",
    "active tasks": "active",
    "completed": "completed",
    "blockers": "blockers",
    "architecture decisions": "decisions",
    "dependencies added": "dependencies",
    "code context": "code",
    "next steps": "next_steps",
}
_OURS = ("mission objective", "handover protocol", "current state", "technical context")
_REQUIRED = ("summary", "next_steps")
_LISTS = frozenset({"files", "active", "completed", "blockers", "next_steps"})
_HEADING = re.compile(r"(#{2,3})[ \t]+(.+?)[ \t]*#*$")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]*)?(?P<text>.*)$")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]*\](?!\()")


def parse_document(text: str) -> HandoverDocument:
    """
    Read a document that Claude wrote. Boxes that are ticked under active tasks count as completed.

    Raises:
        DamagedDocumentError: a section that must be there is missing, or a fence never ends.
    """
    if "\0" in text or len(text) > LARGEST:
        raise DamagedDocumentError("it is not text of a reasonable size")
    found: dict[str, list[str]] = {}
    extra: list[str] = []
    for name, heading, lines in _sections(text):
        if name is not None:
            found.setdefault(name, []).extend(lines)
        elif heading and not heading.lower().startswith(_OURS) and _meant(lines):
            extra += [f"### {heading}", *lines]
    if missing := [name for name in _REQUIRED if name not in found]:
        raise DamagedDocumentError(f"its section {missing[0].replace('_', ' ')!r} is missing")
    return _document(found, "\n".join(extra).strip())


def _document(found: dict[str, list[str]], extra: str) -> HandoverDocument:
    lists = {name: list(_items(found.get(name, ()))) for name in _LISTS}
    ticked = [item for item, is_ticked in lists["active"] + lists["next_steps"] if is_ticked]
    texts = {
        name: _meant(found.get(name, ()))
        for name in ("summary", "decisions", "dependencies", "code")
    }
    return HandoverDocument(
        **texts,
        extra=extra,
        files=tuple(item for item, _ in lists["files"]),
        active=tuple(item for item, is_ticked in lists["active"] if not is_ticked),
        completed=tuple(dict.fromkeys([*(item for item, _ in lists["completed"]), *ticked])),
        blockers=tuple(
            item
            for item, _ in lists["blockers"]
            if item.lower().strip(" .") not in {"none", "n/a", "nothing", "-"}
        ),
        next_steps=tuple(item for item, is_ticked in lists["next_steps"] if not is_ticked),
    )


def _sections(text: str) -> Iterator[tuple[str | None, str, list[str]]]:
    """Field, heading and lines of each section; headings inside code fences are code."""
    name: str | None = None
    heading, fence = "", ""
    lines: list[str] = []
    for line in text.splitlines():
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif not fence and (title := _HEADING.match(line)):
            yield name, heading, lines
            name, heading, lines = _field(title[2]), title[2], []
            continue
        lines.append(line)
    if fence:
        raise DamagedDocumentError("it ends in the middle of a code block")
    yield name, heading, lines


def _field(heading: str) -> str | None:
    title = heading.lower()
    return next((name for start, name in _SECTIONS.items() if title.startswith(start)), None)


def _meant(lines: Iterable[str]) -> str:
    """The text, unless it is only what the template says: `[Key decisions made]`."""
    text = "\n".join(lines).strip()
    bare = re.sub(r"`{3,}\w*|// Relevant code snippets.*", "", _PLACEHOLDER.sub("", text))
    return text if bare.strip() else ""


def _items(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """List items with whether their box is ticked; lines below an item belong to it."""
    text, is_ticked = "", False
    for line in [*lines, "- "]:
        item = _ITEM.match(line)
        if item is None:
            text = f"{text} {line.strip()}".strip()
            continue
        if text and not _PLACEHOLDER.fullmatch(text):
            yield text, is_ticked
        text, is_ticked = item["text"].strip(), item["box"] in {"x", "X"}


def render_document(document: HandoverDocument, mission: str, heading: Heading) -> str:
    """The whole document; empty sections keep the template's hint of what belongs there."""
    top = (
        "# Claude Code Handover Document\n"
        f"**Generated**: {heading.generated}\n**Iteration**: {heading.iteration}\n"
        f"**Session Duration**: {heading.duration}\n**Trigger Reason**: {heading.reason}\n"
    )
    sections = {
        "## Mission Objective": _quoted(mission),
        "## Previous Session Summary": document.summary or "[What was accomplished]",
        "## Files Modified This Session": _bullets(document.files, "[file - description]"),
        "## Current State\n### Active Tasks": _boxes(document.active, " ", "[Task in progress]"),
        "### Completed This Session": _boxes(document.completed, "x", "[Finished task]"),
        "### Blockers": _bullets(document.blockers, "[Any issues]"),
        "## Technical Context\n### Architecture Decisions": document.decisions
        or "[Key decisions made]",
        "### Dependencies Added": document.dependencies or "[New packages/tools]",
        "## Code Context": document.code or "[Relevant code snippets for next session]",
        "## Next Steps (Priority Order)": _numbered(document.next_steps),
    }
    parts = [f"{title}\n{text.strip()}\n" for title, text in sections.items()]
    if document.extra:
        parts.insert(-1, f"{document.extra}\n")
    return "\n".join([top, *parts, _PROTOCOL])


_PROTOCOL = """## Handover Protocol
You are in a perpetual session system.
- Check status.txt periodically
- At WARNING: Complete current task, update this doc, create trigger.flag
- System will auto-spawn next session
"""


def _quoted(mission: str) -> str:
    """The mission in a fence when it could be taken for a part of the document."""
    text = mission.replace("\0", "")
    if not any(line.lstrip().startswith(("#", "```", "~~~")) for line in text.splitlines()):
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _bullets(items: Iterable[str], hint: str) -> str:
    return "".join(f"- {item}\n" for item in items) or f"- {hint}\n"


def _boxes(items: Iterable[str], box: str, hint: str) -> str:
    return "".join(f"- [{box}] {item}\n" for item in items) or f"- [{box}] {hint}\n"


def _numbered(items: Iterable[str]) -> str:
    lines = [f"{number}. {item}\n" for number, item in enumerate(items, start=1)]
    return "".join(lines) or "1. [Immediate next task]\n"
