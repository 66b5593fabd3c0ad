"""The narrowest useful policy: reading, and writing inside the project; a person for the rest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.tools import ToolCall

_READING = frozenset({"Read", "Glob", "Grep", "TodoWrite", "LS"})
_WRITING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})


def judge(call: ToolCall) -> tuple[Verdict, str]:
    """The verdict and the reason. Never raises."""
    if call.tool in _READING:
        return Verdict.ALLOW, f"{call.tool} only reads"
    if call.tool in _WRITING:
        if _is_inside(call.input, call.project):
            return Verdict.ALLOW, f"{call.tool} stays inside the project"
        return Verdict.ASK, f"{call.tool} would write outside the project"
    return Verdict.ASK, f"{call.tool} is not known to be safe"


def _is_inside(tool_input: Mapping[str, Any], project: Path) -> bool:
    path = tool_input.get("file_path") or tool_input.get("notebook_path")
    if not isinstance(path, str) or not path:
        return False
    try:
        return (project / path).resolve().is_relative_to(project.resolve())
    except (OSError, ValueError, RuntimeError):
        return False
