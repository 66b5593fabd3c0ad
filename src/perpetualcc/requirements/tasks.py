"""The tasks of a file as a graph: what a line of a task list says, and what cannot be."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from perpetualcc.domain.requirements import RequirementTask
from perpetualcc.requirements.errors import RequirementsError

# `high` and `low` are ten around the default of 0; P2 is the middle of the usual P0 to P4.
_PRIORITIES = {
    **dict.fromkeys(("critical", "urgent", "highest", "p0"), 20),
    **dict.fromkeys(("high", "p1", "hoch", "alta", "haute", "hoog"), 10),
    **dict.fromkeys(
        ("medium", "normal", "p2", "mittel", "media", "média", "moyenne", "gemiddeld"), 0
    ),
    **dict.fromkeys(("low", "p3", "niedrig", "baja", "basse", "bassa", "baixa", "laag"), -10),
    **dict.fromkeys(("lowest", "p4"), -20),
}
_WORDS = "|".join(sorted(_PRIORITIES, key=len, reverse=True))
_PRIORITY_NAME = r"(?:priority|prio|priorität|prioridade?|priorité|priorità|prioriteit)"
_AFTER_NAME = (
    r"(?:after|depends?[\s_-]*on|needs|requires|blocked by|nach|abhängig von|después de|"
    r"depende de|après|depuis|dépend de|dipende da|hangt af van)"
)
# `(priority: high, depends_on: 2)` is two brackets in one.
_FIELDS_IN_ONE = re.compile(
    rf"(?<=[\w)\]])\s*[,;]\s*(?=(?:{_PRIORITY_NAME}|{_AFTER_NAME}|id)\s*[:=])(?=[^()\[\]]*[)\]])",
    re.IGNORECASE,
)
_PRIORITY = re.compile(
    rf"[\[(]\s*(?:{_PRIORITY_NAME}\s*[:=]?\s*)?(?P<word>{_WORDS})(?:\s+priority)?\s*[\])]"
    rf"|[\[(]\s*{_PRIORITY_NAME}\s*[:=]?\s*(?P<number>[+-]?\d{{1,6}})\s*[\])]"
    r"|^(?P<lead>P[0-4])\s*[:–—-]\s+"
    r"|\s!(?P<bang>high|low|urgent|critical)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"[\[(]\s*{_AFTER_NAME}"
    r"\s*[:=]?\s*(?P<ids>[^\])]{0,400})[\])]"
    r"|(?<![\s,;–—-])[\s,;–—-]+(?:depends?[\s_-]*on|blocked by)\s*:?\s+"
    r"(?P<tail>(?:(?:tasks?\s+)?#?[\w.-]*\d[\w.-]*|[a-z][\w.-]*[-_][\w.-]*)"
    r"(?:\s*(?:,|and|&)\s*(?:#?[\w.-]*\d[\w.-]*|[a-z][\w.-]*[-_][\w.-]*))*)\s*\.?\s*$",
    re.IGNORECASE,
)
# `P0:` to `P4:` are priorities; `P5:` is a name.
_EXPLICIT_ID = re.compile(
    r"[\[({]\s*(?:id\s*[:=]\s*|#)(?P<mark>[\w.-]+)\s*[\])}]"
    r"|^(?!P[0-4]\s*[:–—-])(?P<lead>(?:[A-Z]{1,10}-?\d{1,6}|#\d{1,6}|Task\s+\d{1,6}))\s*[:.)–—-]\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A task as its line says it, before the ids of the whole file are known."""

    description: str
    line: int
    number: int
    """Its place in the list, from 1, whatever its id is."""
    id: str = ""
    priority: int | None = None
    after: tuple[str, ...] = ()
    done: bool = False
    parts: tuple[int, ...] = ()
    """Numbers of the tasks nested below this one; they come first."""


def read_task_line(text: str, *, line: int, number: int, done: bool = False) -> TaskLine:
    """Take priority, dependencies and id out of a task's words."""
    after: list[str] = []
    text = _FIELDS_IN_ONE.sub(") (", text)
    for found in _AFTER.finditer(text):
        after += split_ids(found["ids"] or found["tail"] or "")
    text = _AFTER.sub("", text)
    explicit = _EXPLICIT_ID.search(text)
    identifier = (explicit["mark"] or explicit["lead"] or "").lstrip("#") if explicit else ""
    text = _EXPLICIT_ID.sub("", text, count=1)
    weight = _PRIORITY.search(text)
    priority = _priority_of(weight) if weight else None
    text = _PRIORITY.sub(" ", text, count=1)
    if identifier.lower().startswith("task"):
        identifier = identifier[4:].strip()
    return TaskLine(
        description=" ".join(text.split()),
        line=line,
        number=number,
        id=identifier,
        priority=priority,
        after=tuple(after),
        done=done,
    )


def _priority_of(found: re.Match[str]) -> int:
    if found["number"] is not None:
        return int(found["number"])
    return _PRIORITIES[(found["word"] or found["lead"] or found["bang"]).lower()]


def priority_of_word(word: str) -> int | None:
    """The number of a named priority; None for a word that is none."""
    return _PRIORITIES.get(word.strip().lower())


def split_ids(text: str) -> list[str]:
    """`1, #2 and task 3` → `1`, `2`, `3`; a title keeps its "and"."""
    ids: list[str] = []
    for name in re.split(r"\s*[,;]\s*", text):
        parts = [_bare(one) for one in re.split(r"\s*(?:&|\b(?:and|und|y|et)\b)\s*", name)]
        ids += [_bare(name)] if any(" " in one for one in parts) else parts
    return [one for one in ids if one]


def _bare(name: str) -> str:
    return re.sub(r"^(?:tasks?\s+)?#?", "", name.strip(), flags=re.IGNORECASE)


def resolve_tasks(lines: Sequence[TaskLine], source: str) -> tuple[RequirementTask, ...]:
    """
    Give every task its id and check the graph.

    Raises:
        RequirementsError: two tasks of one id, a dependency on nothing, a cycle.
    """
    ids = _ids_of(lines, source)
    titles = _ids_by_title(lines, ids)
    by_id = {one.casefold(): one for one in ids.values()}
    tasks = []
    for one in lines:
        after = [*one.after, *(ids[number] for number in one.parts)]
        known = [
            by_id.get(name.casefold()) or _called(name, one, ids, titles, source) for name in after
        ]
        tasks.append(
            RequirementTask(
                id=ids[one.number],
                description=one.description,
                line=one.line,
                priority=one.priority or 0,
                depends_on=tuple(dict.fromkeys(known)),
                done=one.done,
            )
        )
    _refuse_cycles(tasks, source)
    return tuple(tasks)


def tasks_if_any(lines: Sequence[TaskLine], source: str) -> tuple[RequirementTask, ...]:
    """The same, and none at all where the graph makes no sense."""
    try:
        return resolve_tasks(lines, source)
    except RequirementsError:
        return ()


def _ids_of(lines: Iterable[TaskLine], source: str) -> dict[int, str]:
    ids: dict[int, str] = {}
    seen: dict[str, int] = {}
    for one in sorted(lines, key=lambda line: (not line.id, line.number)):
        name = one.id or str(one.number)
        if name in seen and not one.id:
            name = f"{one.number}-{one.line}"
        if name in seen:
            raise RequirementsError(
                source,
                f"task id {name!r} is taken by line {seen[name]}",
                line=one.line,
                hint="Give each task its own id",
            )
        seen[name] = one.line
        ids[one.number] = name
    return ids


def _ids_by_title(lines: Iterable[TaskLine], ids: dict[int, str]) -> dict[str, str]:
    """Tasks by what they are called, but for titles that two of them have."""
    titles = [(" ".join(one.description.casefold().split()), ids[one.number]) for one in lines]
    times = Counter(title for title, _ in titles)
    return {title: id_ for title, id_ in titles if times[title] == 1}


def _called(
    name: str, task: TaskLine, ids: dict[int, str], titles: dict[str, str], source: str
) -> str:
    """The task that is meant by what is no id: a number, a title, or a part of one."""
    if name.isdecimal() and int(name) in ids:
        return ids[int(name)]
    title = " ".join(name.casefold().split())
    if title in titles:
        return titles[title]
    short = _called_in_short(
        title, {one: id_ for one, id_ in titles.items() if id_ != ids[task.number]}
    )
    if short:
        return short
    raise RequirementsError(
        source,
        f"task {ids[task.number]!r} depends on {name!r}, which is no task here",
        line=task.line,
        hint=f"Tasks here: {', '.join(list(ids.values())[:12]) or 'none'}",
    )


def _called_in_short(name: str, titles: dict[str, str]) -> str:
    """`slot search` for "Slot search endpoint"; empty when no title, or more than one, has it."""
    words = re.findall(r"\w+", name)
    if not words or all(word.isdecimal() for word in words):
        return ""
    spoken = {id_: re.findall(r"\w+", title) for title, id_ in titles.items()}
    begun = [id_ for id_, title in spoken.items() if title[: len(words)] == words]
    having = [id_ for id_, title in spoken.items() if set(words) <= set(title)]
    fitting = begun if len(begun) == 1 else having
    return fitting[0] if len(fitting) == 1 else ""


def _refuse_cycles(tasks: Sequence[RequirementTask], source: str) -> None:
    graph = TopologicalSorter({task.id: task.depends_on for task in tasks})
    try:
        graph.prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        line = next(task.line for task in tasks if task.id == circle[0])
        raise RequirementsError(
            source,
            f"tasks wait for each other: {' → '.join(reversed(circle))}",
            line=line,
            hint="Take one of these dependencies out",
        ) from error


def with_parts(task: TaskLine, parts: Iterable[int]) -> TaskLine:
    """The same task, waiting for the tasks nested below it."""
    return replace(task, parts=tuple(parts))
