"""Claude Code's transcripts on disk: JSONL below its configuration directory."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.domain.ids import ClaudeSessionId

_LONGEST = 1 << 26
"""Bytes of a first line: a prompt with pictures has some million. A longer file is not followed."""


def transcript_size(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> int:
    """Bytes of a conversation's transcript; 0 when there is none, or nothing in it to read."""
    path = _found(conversation, environment)
    try:
        return path.stat().st_size if path and _begins_well(path) else 0
    except OSError:
        return 0


def is_connected(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> bool:
    """
    Whether its newest message leads back to its first.

    A full disk tears lines out of the middle, and what comes before them Claude Code resumes
    without a word: the task too (measured on 2.1.330).
    """
    path = _found(conversation, environment)
    try:
        return path is None or path.stat().st_size > _LONGEST or _leads_back(path)
    except OSError:
        return False


def messages_in(
    conversation: ClaudeSessionId, messages: Collection[str], environment: Mapping[str, str]
) -> set[str]:
    """
    Which of these messages of ours the conversation has. None of them, where there is no
    transcript, or it cannot be read: whoever goes on without it knows nothing of them.
    """
    path = _found(conversation, environment)
    if path is None or not messages:
        return set()
    wanted = {message: message.encode() for message in messages}
    found: set[str] = set()
    try:
        with open_regular(path) as file:
            for line in file:
                if any(one in line for one in wanted.values()):
                    found.update(wanted.keys() & set(_taken_in(_record(line) or {})))
    except OSError:
        return set()
    return found


def _taken_in(record: Mapping[str, Any]) -> Iterator[str]:
    """Of a message that began a turn its own id, of one inside a turn that of its source."""
    if record.get("type") == "user":
        yield str(record.get("uuid"))
    attachment = record.get("attachment")
    if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
        yield str(attachment.get("source_uuid"))


def transcript_of(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> Path | None:
    """Where it is kept; None when there is none."""
    return _found(conversation, environment)


def transcripts_below(environment: Mapping[str, str], name: str = "*") -> Iterator[Path]:
    """All, or those of the conversation `name`."""
    home = environment.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
    return Path(home, "projects").glob(f"*/{name}.jsonl")


def _found(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> Path | None:
    return next(transcripts_below(environment, conversation), None)


def _begins_well(path: Path) -> bool:
    """Whether the first line is whole: what was overwritten, or cut to nothing, is not."""
    with open_regular(path) as file:
        return _record(file.readline(_LONGEST)) is not None


def _leads_back(path: Path) -> bool:
    parents: dict[str, str | None] = {}
    newest = None
    with open_regular(path) as file:
        for line in file:
            record = _record(line) or {}
            if "parentUuid" in record and "uuid" in record and not record.get("isSidechain"):
                newest = record["uuid"]
                parents[newest] = record["parentUuid"]
    while newest in parents:
        newest = parents.pop(newest)
    return newest is None


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
