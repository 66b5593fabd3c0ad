"""A tool call from what a person types, or from one JSON object."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import ToolCall

_FIELDS = {
    "Bash": "command",
    "Read": "file_path",
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "NotebookRead": "notebook_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "LS": "path",
    "WebFetch": "url",
    "WebSearch": "query",
    "Task": "prompt",
    "Agent": "prompt",
    "Skill": "skill",
    "SlashCommand": "command",
    "KillShell": "shell_id",
    "BashOutput": "bash_id",
    "Monitor": "command",
    "PowerShell": "command",
}
_BY_LOWER = {name.lower(): name for name in _FIELDS}


def call_from_words(tool: str, subject: str, project: Path) -> ToolCall:
    """`bash 'ls'`: the tool by any case, and the one field that matters, or its input as JSON."""
    name = _BY_LOWER.get(tool.lower(), tool)
    if subject.lstrip().startswith("{") and (name != "Bash" or _is_bash_input(subject)):
        return ToolCall(tool=name, input=_object(subject), project=project)
    return ToolCall(tool=name, input={_FIELDS.get(name, "input"): subject}, project=project)


def _is_bash_input(text: str) -> bool:
    """A command may begin with a brace, too."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("command"), str)


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise PerpetualError(f"The input is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PerpetualError("The input is not a JSON object", hint='try \'{"file_path": "a.py"}\'')
    return value


class UnreadableLine(Exception):  # noqa: N818  # says what the line is
    """A line that holds no tool call."""


def call_from_line(line: str, default_project: Path) -> ToolCall:
    """
    `{"tool": …, "input": {…}, "project": …}`.

    Raises:
        UnreadableLine: it is no JSON object, or has no tool.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UnreadableLine("not a JSON object")
    tool, tool_input = data.get("tool"), data.get("input")
    if not isinstance(tool, str) or not tool:
        raise UnreadableLine("'tool' is missing or not a text")
    if not isinstance(tool_input, dict):
        raise UnreadableLine("'input' is missing or not an object")
    project, cwd = data.get("project"), data.get("cwd")
    if (project is not None and not isinstance(project, str)) or (
        cwd is not None and not isinstance(cwd, str)
    ):
        raise UnreadableLine("'project' and 'cwd' must be texts")
    if not _can_be_a_path(f"{project}{cwd}"):
        raise UnreadableLine("'project' or 'cwd' cannot be a path")
    return ToolCall(
        tool=_BY_LOWER.get(tool.lower(), tool),
        input=tool_input,
        project=Path(project) if project else default_project,
        cwd=Path(cwd) if cwd else None,
    )


def _can_be_a_path(text: str) -> bool:
    """No file system holds a NUL, or what has no bytes."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
