"""The YAML form, read as nodes so that every value keeps its line."""

import re
from contextlib import nullcontext, suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import yaml

from perpetualcc.domain.requirements import Requirements, Statement, StatementKind
from perpetualcc.requirements.errors import RequirementsError
from perpetualcc.requirements.headings import kind_of_heading, plain
from perpetualcc.requirements.key_values import split_key_value
from perpetualcc.requirements.tasks import (
    TaskLine,
    priority_of_word,
    read_task_line,
    resolve_tasks,
    split_ids,
    tasks_if_any,
)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# An alias may be used many times, so a small file can unfold without end.
_MAX_NODES = 50_000
_MAX_DEPTH = 32
_PROJECT = frozenset({"project", "name", "title", "projekt", "proyecto", "projet", "progetto"})
_TASK_FIELDS = {
    "id": "id",
    "key": "id",
    "description": "description",
    "task": "description",
    "title": "description",
    "name": "description",
    "prompt": "description",
    **dict.fromkeys(
        ("beschreibung", "aufgabe", "descripcion", "tarea", "tache", "descrizione", "descricao"),
        "description",
    ),
    **dict.fromkeys(
        ("prioritat", "prioridad", "prioridade", "priorite", "priorita", "prioriteit"), "priority"
    ),
    **dict.fromkeys(
        ("abhangig_von", "nach", "depende_de", "depend_de", "apres", "dipende_da", "hangt_af_van"),
        "after",
    ),
    "priority": "priority",
    "prio": "priority",
    "depends_on": "after",
    "dependson": "after",
    "after": "after",
    "needs": "after",
    "requires": "after",
    "depends": "after",
    "dependencies": "after",
    "blocked_by": "after",
    "done": "done",
    "completed": "done",
    "status": "done",
}
_ORDERING = ("depends_on", "dependencies", "blocked_by", "priority")
_ALIKE = 0.8
"""From here on a name is another one misspelt: `depend_on`, `priorty`."""
_TAKES_OVER = "<<"
_DONE_WORDS = frozenset({"true", "yes", "done", "completed", "complete", "finished", "closed", "x"})


def parse_yaml(text: str, source: str, *, with_tasks: bool = True) -> Requirements:
    """
    Parse the YAML form: `project`, `description`, `tasks`, `preferences`, `constraints`.

    Raises:
        RequirementsError: it is not YAML, or a value is of the wrong type.
    """
    root = _compose(text, source)
    if not isinstance(root, yaml.MappingNode):
        raise RequirementsError(
            source,
            "must be a mapping with `project`, `tasks`, `preferences`, `constraints`",
            line=_line(root) if root else 1,
        )
    return _YamlReader(source, text, with_tasks=with_tasks).read(root)


def _compose(text: str, source: str) -> Any:
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        depth = max(0, depth + sum(map(line.count, "[{")) - sum(map(line.count, "]}")))
        if depth > _MAX_DEPTH or len(line) - len(line.lstrip(" -")) > 8 * _MAX_DEPTH:
            raise RequirementsError(source, "nested too deeply", line=number)
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise RequirementsError(
            source,
            f"not valid YAML: {error.problem}",
            line=min(mark.line + 1, text.count("\n") + 1) if mark else 0,
            hint="Indent with spaces, not tabs" if mark and _is_tabbed(text, mark.line) else "",
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise RequirementsError(source, f"not valid YAML: {error}") from error


def _is_tabbed(text: str, number: int) -> bool:
    line = next(iter(text.splitlines()[number : number + 1]), "")
    return "\t" in line[: len(line) - len(line.lstrip())]


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


class _YamlReader:
    def __init__(self, source: str, text: str, *, with_tasks: bool) -> None:
        self.source = source
        self.with_tasks = with_tasks
        """Whether tasks that make no sense are an error, or nobody's business."""
        self.lines = text.splitlines()
        self.statements: list[Statement] = []
        self.visited = 0

    def read(self, root: Any) -> Requirements:
        project = ""
        tasks: list[TaskLine] = []
        for name, node in root.value:
            key = self._scalar(name, "a field's name")
            kind = kind_of_heading(key.replace("_", " "))
            if plain(key) in _PROJECT and isinstance(node, yaml.ScalarNode):
                project = node.value.strip()
            elif plain(key) in _PROJECT or kind is StatementKind.OVERVIEW:
                project = self._about(key, node, project)
            elif kind is StatementKind.TASK:
                with nullcontext() if self.with_tasks else suppress(RequirementsError):
                    tasks += self._tasks(node)
            else:
                self._flatten(kind or StatementKind.OTHER, key, [] if kind else [key], node, 0)
        return Requirements(
            source=self.source,
            project=project,
            tasks=(resolve_tasks if self.with_tasks else tasks_if_any)(tasks, self.source),
            statements=tuple(self.statements),
        )

    def _about(self, key: str, node: Any, project: str) -> str:
        if isinstance(node, yaml.ScalarNode):
            self._record_text(StatementKind.OVERVIEW, key, node)
            return project
        if not isinstance(node, yaml.MappingNode):
            self._flatten(StatementKind.OVERVIEW, key, [], node, 0)
            return project
        for name, value in node.value:
            word = plain(self._scalar(name, "a field's name"))
            if word in _PROJECT and isinstance(value, yaml.ScalarNode):
                project = value.value.strip()
            elif kind_of_heading(word) is StatementKind.OVERVIEW:
                self._scalar(value, f"`{key}.{word}`")
                self._record_text(StatementKind.OVERVIEW, word, value)
            else:
                self._flatten(StatementKind.OTHER, key, [name.value], value, 1)
        return project

    def _scalar(self, node: Any, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._wrong(node, f"{what} must be text")
        return str(node.value).strip()

    def _wrong(self, node: Any, problem: str, hint: str = "") -> RequirementsError:
        return RequirementsError(self.source, problem, line=_line(node), hint=hint)

    # -- tasks

    def _tasks(self, node: Any) -> list[TaskLine]:
        if isinstance(node, yaml.ScalarNode) and not node.value.strip():
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self._wrong(
                node, "`tasks` must be a list", hint="Begin each task with `- id:` or `- `"
            )
        return [self._task(one, number) for number, one in enumerate(node.value, start=1)]

    def _task(self, node: Any, number: int) -> TaskLine:
        if isinstance(node, yaml.ScalarNode):
            task = read_task_line(str(node.value), line=_line(node), number=number)
            self._record_text(StatementKind.TASK, "tasks", node)
            return task
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, "a task must be text or a mapping")
        fields: dict[str, Any] = {}
        more: list[str] = []
        for name, value in self._pairs(node):
            field = _TASK_FIELDS.get(re.sub(r"[\s-]+", "_", plain(name)))
            if field is None:
                self._refuse_misspelt(name, value)
                more += self._detail(f"- {name}: ", value)
            elif field not in fields:
                fields[field] = value
            elif field == "description":  # a title, and then what it means
                more += self._detail("", value)
        task = self._task_of(fields, node, number)
        return replace(task, description="\n".join([task.description, *more]))

    def _pairs(self, node: Any, depth: int = 0) -> list[tuple[str, Any]]:
        """Names and values of a mapping; after its own those it takes over with `<<`."""
        self.visited += 1
        if depth > _MAX_DEPTH or self.visited > _MAX_NODES:
            raise self._wrong(node, "nested too deeply, or in a circle")
        pairs = [(self._scalar(name, "a field's name"), value) for name, value in node.value]
        own = {name for name, _ in pairs}
        for value in [value for name, value in pairs if name == _TAKES_OVER]:
            others = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for other in (one for one in others if isinstance(one, yaml.MappingNode)):
                pairs += [pair for pair in self._pairs(other, depth + 1) if pair[0] not in own]
        return [pair for pair in pairs if pair[0] != _TAKES_OVER]

    def _refuse_misspelt(self, name: str, value: Any) -> None:
        """A dependency that is not read would be an order that is not kept."""
        meant = get_close_matches(plain(name), _ORDERING, n=1, cutoff=_ALIKE)
        if meant:
            raise self._wrong(
                value, f"a task has no field {name!r}", hint=f"Write `{meant[0]}`, if that is meant"
            )

    def _detail(self, mark: str, node: Any) -> list[str]:
        """What else a mapping says of its task; what is nested deeper is left out."""
        said = node.value if isinstance(node, yaml.SequenceNode) else [node]
        words = [str(one.value).strip() for one in said if isinstance(one, yaml.ScalarNode)]
        text = ", ".join(word for word in words if word)
        return [f"{mark}{text}"] if text else []

    def _task_of(self, fields: dict[str, Any], node: Any, number: int) -> TaskLine:
        if "description" not in fields:
            raise self._wrong(node, "a task needs a `description`")
        description = self._scalar(fields["description"], "`description`")
        if not description:
            raise self._wrong(fields["description"], "a task's `description` is empty")
        self._record_text(StatementKind.TASK, "tasks", fields["description"])
        done = fields.get("done")
        return TaskLine(
            description=description,
            line=_line(node),
            number=number,
            id=self._scalar(fields["id"], "`id`") if "id" in fields else "",
            priority=self._priority(fields["priority"]) if "priority" in fields else 0,
            after=self._after(fields["after"]) if "after" in fields else (),
            done=done is not None and self._scalar(done, "`done`").lower() in _DONE_WORDS,
        )

    def _priority(self, node: Any) -> int:
        word = self._scalar(node, "`priority`")
        named = priority_of_word(word)
        if named is not None:
            return named
        if re.fullmatch(r"[+-]?\d{1,6}", word):
            return int(word)
        raise self._wrong(
            node,
            f"`priority` must be a number, not {word!r}",
            hint="Higher is sooner; `high`, `medium` and `low` are understood too",
        )

    def _after(self, node: Any) -> tuple[str, ...]:
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._scalar(one, "an id in `depends_on`") for one in node.value)
        if isinstance(node, yaml.ScalarNode):
            return () if node.tag.endswith(":null") else tuple(split_ids(node.value))
        raise self._wrong(node, "`depends_on` must be an id or a list of ids")

    # -- everything else

    def _flatten(
        self, kind: StatementKind, heading: str, path: list[str], node: Any, depth: int
    ) -> None:
        self.visited += 1
        if depth > _MAX_DEPTH or self.visited > _MAX_NODES:
            raise self._wrong(node, "nested too deeply, or in a circle")
        if isinstance(node, yaml.MappingNode):
            for name, value in self._pairs(node):
                key = name.replace("_", " ")
                self._flatten(kind, heading, [*path, key], value, depth + 1)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self._flatten(kind, heading, path, value, depth + 1)
        elif not node.tag.endswith(":null"):
            self._record(kind, heading, " / ".join(path), str(node.value), _line(node))

    def _record_text(self, kind: StatementKind, heading: str, node: Any) -> None:
        line = _line(node) + (1 if node.style in {"|", ">"} else 0)
        for offset, text in enumerate(str(node.value).splitlines()):
            self._record(kind, heading, "", text, line + offset)

    def _record(self, kind: StatementKind, heading: str, key: str, text: str, line: int) -> None:
        if not text.strip():
            return
        key, text = (key, text.strip()) if key else split_key_value(text.strip())
        quote = self.lines[line - 1].strip() if line <= len(self.lines) else text
        self.statements.append(
            Statement(
                kind=kind, text=text, line=line, key=key, heading=heading, quote=quote or text
            )
        )
