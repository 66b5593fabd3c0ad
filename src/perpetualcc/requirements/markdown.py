"""
Markdown and plain text, line by line: headings, lists, tables, paragraphs.

Not a renderer: it keeps the line numbers and drops what no statement rests on, such as comments
and the insides of code blocks (those stay in the section's text).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from perpetualcc.domain.requirements import Requirements, Statement, StatementKind
from perpetualcc.requirements.errors import RequirementsError
from perpetualcc.requirements.headings import kind_of_heading, names_project, project_name
from perpetualcc.requirements.key_values import (
    as_order,
    split_key_value,
    table_cells,
    without_marks,
)
from perpetualcc.requirements.tables import row_statements
from perpetualcc.requirements.tasks import (
    TaskLine,
    read_task_line,
    resolve_tasks,
    tasks_if_any,
    with_parts,
)
from perpetualcc.requirements.wrapping import own_lines

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-{3,}|~{3,})\s*$")
_FENCE = re.compile(r"^\s*(?P<fence>```+|~~~+)")
_ITEM = re.compile(
    r"^(?P<indent>\s*)(?P<bullet>[-*+•‣◦–]|(?P<number>\d{1,4})[.)]|\d{1,3}(?:\.\d{1,3}){1,4}\.?(?=\s+[^\W\da-z]))\s+"
    r"(?:\[(?P<box>[ xX✓✔-])\]\s*)?(?P<text>.*)$"
)
_BARE_BOX = re.compile(
    r"^(?P<indent>\s*)(?:\[(?P<box>[ xX✓✔])\]|(?P<sign>[☐☑✅✔]))\s*(?P<text>\S.*)$"
)
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
# A line shorter than this was ended on purpose; longer ones were wrapped.
_WRAPPED = 60
# A longer statement below a heading is a sentence, not the heading's value.
_SHORT = 8
# In notes a sentence may begin small, when it begins with a key: "no new ones. benches: criterion".
_SENTENCE = re.compile(
    r"(?<=[.!?])\s+(?=[^\s\da-z])|(?<=[。！？])|(?<=[a-z)]\.)\s+(?=[a-z][\w-]*(?: [\w-]+)?:\s)"
)


@dataclass(slots=True)
class _Reader:
    source: str
    own_lines: frozenset[int] = frozenset()
    """Numbers of lines that go on with no line above them."""
    project: str = ""
    kind: StatementKind = StatementKind.OVERVIEW
    headings: list[tuple[int, str, StatementKind]] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    tasks: list[TaskLine] = field(default_factory=list)
    task_indents: list[tuple[int, int]] = field(default_factory=list)
    """Indent and index in `tasks` of the tasks that a deeper line may belong to."""
    first_task: int = 0
    """How many tasks there were before the part that is being read."""
    has_items: bool = False
    """It lists its tasks: plain text in it is none."""
    in_item: bool = False
    """The line above belongs to an item."""
    keys: list[tuple[int, str]] = field(default_factory=list)
    """Indent and words of the keys that a deeper line may belong to."""
    paragraph: list[tuple[int, str]] = field(default_factory=list)
    has_other_parts: bool = False
    """Some heading says neither what the project is nor what kind of part begins."""
    header_row: list[str] = field(default_factory=list)
    topic: str = ""
    """A heading inside a known part, such as `### Database`: the key of what is below it."""

    @property
    def heading(self) -> str:
        return self.headings[-1][1] if self.headings else ""


def parse_markdown(text: str, source: str, *, with_tasks: bool = True) -> Requirements:
    """
    Parse Markdown or plain text.

    Raises:
        RequirementsError: its tasks cannot be: duplicate ids, unknown dependencies, cycles.
    """
    lines = _visible_lines(text)
    reader = _Reader(
        source, own_lines=own_lines((number, "" if code else line) for number, line, code in lines)
    )
    skip = False
    for index, (number, line, is_code) in enumerate(lines):
        if skip:
            skip = False
            continue
        following = lines[index + 1][1] if index + 1 < len(lines) else ""
        if is_code:
            _end_paragraph(reader)
        elif _opens_heading(reader, line, following):
            skip = bool(_UNDERLINE.match(following)) and not _HEADING.match(line)
        else:
            _read_line(reader, line, number)
    _end_paragraph(reader)
    requirements = Requirements(
        source=source,
        project=reader.project,
        tasks=(resolve_tasks if with_tasks else tasks_if_any)(reader.tasks, source),
        statements=tuple(reader.statements),
    )
    if not (requirements.statements or requirements.project or reader.has_other_parts):
        raise RequirementsError(source, "says nothing", hint="Write tasks under `## Tasks`")
    return requirements


def _visible_lines(text: str) -> list[tuple[int, str, bool]]:
    """Lines with their numbers, comments blanked, and whether they are inside a code block."""
    text = _without_comments(text)
    fence = ""
    result = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = _FENCE.match(line)
        was_code = bool(fence)
        if found and not fence:
            fence = found["fence"]
        elif found and found["fence"].startswith(fence) and line.strip() == found["fence"]:
            fence = ""
        result.append((number, line.expandtabs(4), was_code or bool(fence)))
    return result


def _without_comments(text: str) -> str:
    """The same on the same lines. One that is never closed is none."""
    kept: list[str] = []
    start = 0
    while (begin := text.find("<!--", start)) >= 0 and (end := text.find("-->", begin)) >= 0:
        kept += [text[start:begin], "\n" * text.count("\n", begin, end)]
        start = end + len("-->")
    return "".join([*kept, text[start:]])


def _opens_heading(reader: _Reader, line: str, following: str) -> bool:
    found = _HEADING.match(line)
    if found:
        _begin(reader, without_marks(found["title"]), len(found["marks"]))
        return True
    title = without_marks(line.strip()).rstrip(":：").strip("[]= ")
    if not title or _ITEM.match(line) or "|" in line:
        return False
    if _UNDERLINE.match(following) and not reader.paragraph and not line.startswith("    "):
        _begin(reader, title, 1 if following.strip()[0] == "=" else 2)
        return True
    if names_project(line) and not reader.project:
        reader.project = project_name(title if ":" not in line else line.strip())
        return True
    known = kind_of_heading(title) is not None and not line.startswith(" ")
    marked = line.rstrip().endswith((":", "：", "**")) or title.isupper() or line.startswith("[")
    if known and marked and not reader.paragraph:
        _begin(reader, title, 2)
        return True
    return False


def _begin(reader: _Reader, title: str, level: int) -> None:
    _end_paragraph(reader)
    reader.keys.clear()
    reader.task_indents.clear()
    reader.first_task, reader.has_items, reader.in_item = len(reader.tasks), False, False
    reader.header_row = []
    reader.topic = ""
    while reader.headings and reader.headings[-1][0] >= level:
        reader.headings.pop()
    inherited = reader.headings[-1][2] if reader.headings else None
    kind = kind_of_heading(title)
    if level == 1 and not reader.project and (names_project(title) or kind is None):
        reader.project = project_name(title)
        reader.kind = StatementKind.OVERVIEW
        return
    above_is_known = inherited not in {None, StatementKind.OTHER, StatementKind.OVERVIEW}
    reader.kind = kind or (inherited if inherited and above_is_known else StatementKind.OTHER)
    reader.headings.append((level, title, reader.kind))
    reader.topic = title if kind is None and above_is_known else ""
    reader.has_other_parts |= kind is None


def _read_line(reader: _Reader, line: str, number: int) -> None:
    item = _ITEM.match(line) or _BARE_BOX.match(line)
    if not line.strip():
        _end_paragraph(reader)
        reader.header_row = []
        reader.in_item = False
    elif item:
        _end_paragraph(reader)
        _read_item(reader, item, number)
        reader.in_item = True
    elif line.lstrip().startswith("|") or (line.count("|") and reader.header_row):
        _end_paragraph(reader)
        _read_row(reader, line, number)
    elif reader.kind is StatementKind.TASK and not line.startswith(" ") and not reader.has_items:
        _read_task(reader, line.strip(), number, indent=0, done=False)
    elif (line.startswith("  ") or reader.in_item) and _continues(reader, line):
        return
    else:
        _read_text(reader, line, number)


def _read_item(reader: _Reader, item: re.Match[str], number: int) -> None:
    groups = item.groupdict()
    indent = len(groups["indent"])
    mark = (groups.get("box") or groups.get("sign") or "").strip()
    boxed = groups.get("box") is not None or bool(groups.get("sign"))
    if reader.kind is StatementKind.TASK or (boxed and not reader.headings):
        parent = _parent_of(reader, indent)
        if parent is not None and not boxed:
            _add_detail(reader, groups["text"], parent)
            return
        if parent is None:
            _begin_list(reader)
        done = mark.lower() in {"x", "✓", "✔", "☑", "✅"}
        _read_task(reader, groups["text"], number, indent=indent, done=done)
        return
    _add_statement(reader, groups["text"], number, indent)


def _begin_list(reader: _Reader) -> None:
    """What stood above the list, "Do these in order:", was no task of its own."""
    if not reader.has_items and all(not one.parts for one in reader.tasks[reader.first_task :]):
        del reader.tasks[reader.first_task :]
    reader.has_items = True


def _read_task(reader: _Reader, text: str, number: int, *, indent: int, done: bool) -> None:
    struck = re.fullmatch(r"~~(.*)~~", text.strip())
    task = read_task_line(
        as_order(struck[1] if struck else text),
        line=number,
        number=len(reader.tasks) + 1,
        done=done or struck is not None,
    )
    if not task.description:
        return
    parent = _parent_of(reader, indent)
    if parent is not None:
        above = reader.tasks[parent]
        reader.tasks[parent] = with_parts(above, (*above.parts, task.number))
    reader.task_indents.append((indent, len(reader.tasks)))
    reader.tasks.append(task)
    _record(reader, "", without_marks(task.description), number, text)


def _parent_of(reader: _Reader, indent: int) -> int | None:
    while reader.task_indents and reader.task_indents[-1][0] >= indent:
        reader.task_indents.pop()
    return reader.task_indents[-1][1] if reader.task_indents else None


def _add_detail(reader: _Reader, text: str, parent: int) -> None:
    """A plain bullet below a task says more about it; a dependency may be said there too."""
    above = reader.tasks[parent]
    detail = read_task_line(f"{as_order(text)} ", line=above.line, number=0)
    described = f"{above.description}\n- {detail.description}" if detail.description else ""
    reader.tasks[parent] = replace(
        above,
        description=described or above.description,
        after=(*above.after, *detail.after),
        priority=above.priority if detail.priority is None else detail.priority,
    )


def _continues(reader: _Reader, line: str) -> bool:
    """An indented line goes on with the item above it."""
    if reader.kind is StatementKind.TASK and reader.tasks:
        last = reader.tasks[-1]
        reader.tasks[-1] = read_again(last, line.strip())
        return True
    return False


def read_again(task: TaskLine, more: str) -> TaskLine:
    """The task with a further line of its description."""
    read = read_task_line(as_order(more), line=task.line, number=task.number)
    return replace(
        task,
        description=f"{task.description} {read.description}".strip(),
        after=(*task.after, *read.after),
    )


def _add_statement(reader: _Reader, text: str, number: int, indent: int) -> None:
    while reader.keys and reader.keys[-1][0] >= indent:
        reader.keys.pop()
    key, value = split_key_value(text)
    above = [words for _, words in reader.keys]
    if key and not value:
        reader.keys.append((indent, key))
        return
    if not key and above:
        key = " / ".join(above)
    elif key:
        key = " / ".join([*above, key])
    if not any(level == indent for level, _ in reader.keys) and not key:
        reader.keys.append((indent, ""))
        reader.keys.pop()
    _record(reader, key, value, number, text)


def _read_row(reader: _Reader, line: str, number: int) -> None:
    if _TABLE_RULE.match(line):
        return
    cells = table_cells(line)
    if not reader.header_row:
        reader.header_row = cells
        return
    if len(cells) >= 2 and cells[0]:
        for name, cell in row_statements(reader.header_row, cells):
            key, value = (name, cell) if name else split_key_value(cell)
            _record(reader, key, value, number, line.strip())


# "**Stack.** Elixir and Phoenix": a heading on the line of its text.
_BOLD_LEAD = re.compile(
    r"^(\s*)\*\*((?=[^*]*\b(?:not|no|won.t|nicht|pas|later|open|decided|discussed)\b)[^*]{1,60}?|\w+)"
    r"\.\*\*(?=\s+\S)",
    re.IGNORECASE,
)


def _read_text(reader: _Reader, line: str, number: int) -> None:
    line = _BOLD_LEAD.sub(r"\1**\2:**", line)
    if reader.paragraph and len(reader.paragraph[-1][1]) < _WRAPPED:
        _end_paragraph(reader)
    is_among_sentences = bool(reader.paragraph)
    if number in reader.own_lines:
        _end_paragraph(reader)
    key, value = split_key_value(line.strip())
    listed = reader.kind in {StatementKind.PREFERENCE, StatementKind.CONSTRAINT}
    is_wrapped = len(line.rstrip()) >= _WRAPPED and not listed and not line.rstrip().endswith(".")
    is_short = listed or len(key.split()) <= 4
    if key and is_short and not is_among_sentences and not is_wrapped:
        _end_paragraph(reader)
        if value:
            reader.keys.clear()
            _record(reader, key, value, number, line.strip())
        else:
            reader.keys[:] = [(-1, key)]
        return
    reader.keys.clear()
    reader.paragraph.append((number, line.strip()))


def _end_paragraph(reader: _Reader) -> None:
    for number, sentence in _sentences(reader.paragraph):
        key, value = split_key_value(sentence)
        _record(reader, key, value, number, sentence)
    reader.paragraph.clear()


def _sentences(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The sentences of a paragraph, each with the line it begins on."""
    text = "\n".join(line for _, line in lines)
    number = lines[0][0] if lines else 0
    start = 0
    for end in [*(found.start() for found in _SENTENCE.finditer(text)), len(text)]:
        piece = text[start:end]
        if words := piece.split():
            yield number + piece.count("\n", 0, piece.find(words[0])), " ".join(words)
        number += piece.count("\n")
        start = end


def _record(reader: _Reader, key: str, value: str, number: int, quote: str) -> None:
    if not value.strip():
        return
    if not key and len(value.split()) <= _SHORT:
        key = reader.topic
    reader.statements.append(
        Statement(
            kind=reader.kind,
            text=value.strip(),
            line=number,
            key=key.strip(),
            heading=reader.heading,
            quote=" ".join(quote.split()),
        )
    )
