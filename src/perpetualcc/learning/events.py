"""Queue lines as events. A line that cannot be read costs only itself."""

import contextlib
import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

VERSION = 1
_START = re.compile(rb'\{"v":\d+,"id":"')


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedEvent:
    """One thing a hook saw (seed 004, Global Queue)."""

    id: str
    kind: str
    """`prompt`, `stop`, `session_start` or `session_end`."""
    project: str
    """Absolute path; bytes that are not UTF-8 are kept as surrogates."""
    timestamp: float | None
    """UTC epoch seconds; None from a bash that has no clock."""
    by_user: bool
    """False for prompts that our own engine sent."""
    hook: dict[str, Any]
    """What Claude Code told the hook; untrusted."""
    spool: str = ""
    """Name of the file that has the hook's input, when it was too long for a line."""

    def text(self, name: str) -> str:
        """A text field of the hook's input, empty when it is missing or something else."""
        value = self.hook.get(name)
        return value if isinstance(value, str) else ""


class UnreadableLine(ValueError):  # noqa: N818  # says what happened
    """A queue line that is cut, binary, or from a newer version."""


def parse_line(line: bytes) -> list[CapturedEvent]:
    """
    The events of one line: one, or more where a cut line and its neighbour ran together.

    Raises:
        UnreadableLine: nothing in it is an event.
    """
    try:
        return [_event(line)]
    except UnreadableLine as error:
        reason = error
    found = []
    starts = [match.start() for match in _START.finditer(line)]
    for start, end in pairwise([*starts, len(line)]):
        with contextlib.suppress(UnreadableLine):
            found.append(_event(line[start:end]))
    if not found:
        raise reason
    return found


def _event(line: bytes) -> CapturedEvent:
    try:
        record = json.loads(line.decode("utf-8", errors="surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise UnreadableLine("not an object")
    version = record.get("v", 1)
    if version != VERSION:
        raise UnreadableLine(f"version {version!r} is not {VERSION}")
    identity, project = record.get("id"), record.get("project")
    if not isinstance(identity, str) or not identity or not isinstance(project, str):
        raise UnreadableLine("no id or no project")
    if not project.startswith("/") or "\0" in project:
        raise UnreadableLine("the project is not an absolute path")
    hook, when = record.get("hook"), record.get("timestamp")
    return CapturedEvent(
        id=identity,
        kind=str(record.get("type", "")),
        project=project,
        timestamp=float(when) if isinstance(when, int | float) else None,
        by_user=record.get("by", "user") == "user",
        hook=hook if isinstance(hook, dict) else {},
        spool=str(record.get("spool") or ""),
    )
