"""How far a session got, read from the tool calls that were let through."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any
from unicodedata import normalize

from perpetualcc.domain.texts import cut
from perpetualcc.domain.tools import WRITERS
from perpetualcc.sessions.handover.folder import NAME

_LONGEST = 200
"""Characters of what is being done."""
Call = tuple[str, Mapping[str, Any]]
"""A tool and its input."""


def written_files(calls: Iterable[Call], project: Path) -> list[str]:
    """
    Files that were written through Claude's own tools, relative to the project, oldest first.

    Without what is the handover's: it is no work of anybody's.
    """
    found: dict[str, None] = {}
    for tool, given in calls:
        path = given.get("file_path") or given.get("notebook_path")
        if tool in WRITERS and isinstance(path, str):
            relative = _inside(path, project)
            if relative and PurePath(relative).parts[0] != NAME:
                found.setdefault(relative)
    return list(found)


def _inside(path: str, project: Path) -> str:
    pure = PurePath(path)
    if ".." in pure.parts:
        return ""
    if not pure.is_absolute():
        return str(pure)
    if not pure.is_relative_to(project):  # Claude Code composes the accents of a Mac's folder
        pure, project = PurePath(normalize("NFC", path)), Path(normalize("NFC", str(project)))
    return str(pure.relative_to(project)) if pure.is_relative_to(project) else ""


def todo_items(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """
    Claude's own list as (text, status): the last one it wrote, or the tasks it keeps, as newer
    versions do (2.1.332).
    """
    for tool, given in reversed(calls):
        if tool == "TodoWrite" and isinstance(given.get("todos"), list):
            return [
                (str(item.get("content", "")), str(item.get("status", "pending")))
                for item in given["todos"]
                if isinstance(item, dict) and item.get("content")
            ]
    return _kept_tasks(calls)


def list_in_words(items: Sequence[tuple[str, str]]) -> str:
    """`2 of 7 done; now: Write the tests`; empty without a list. The text is Claude's, one line."""
    if not items:
        return ""
    done = sum(status == "completed" for _, status in items)
    for status, word in (("in_progress", "now"), ("pending", "next")):
        found = next((text for text, one in items if one == status), None)
        if found is not None:
            return f"{done} of {len(items)} done; {word}: {cut(' '.join(found.split()), _LONGEST)}"
    return f"{done} of {len(items)} done"


def _kept_tasks(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Claude Code numbers its tasks from 1 in the order of `TaskCreate`."""
    tasks: list[list[str]] = []
    for tool, given in calls:
        if tool == "TaskCreate" and given.get("subject"):
            tasks.append([str(given["subject"]), "pending"])
        elif tool == "TaskUpdate" and str(given.get("taskId", "")).isdecimal():
            number = int(given["taskId"])
            if 1 <= number <= len(tasks) and given.get("status"):
                tasks[number - 1][1] = str(given["status"])
    return [(text, status) for text, status in tasks if status != "deleted"]
