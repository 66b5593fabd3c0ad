"""What the assistant said before a prompt, from the end of Claude Code's transcript."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TAIL_BYTES = 2_000_000
"""How much of a transcript's end is read: 500 MB or 1 GB, it costs the same."""


def last_reply(path: Path, prompt: str) -> str:
    """
    The assistant's last text before `prompt`, or empty: transcripts vanish, shrink and grow.

    When the prompt is not in the part that is read, the last text of all is taken.
    """
    reply, before = "", None
    for record in _tail(path):
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if record.get("type") == "assistant" and not record.get("isSidechain"):
            reply = _text(content) or reply
        elif record.get("type") == "user" and prompt and _text(content).strip() == prompt.strip():
            before = reply
    return reply if before is None else before


def _tail(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb", opener=_at_once) as file:  # Path.open has no opener
            kept = os.fstat(file.fileno())
            size = kept.st_size if stat.S_ISREG(kept.st_mode) else 0
            start = max(0, size - TAIL_BYTES)
            file.seek(start)
            data = file.read(TAIL_BYTES) if size else b""
    except (OSError, ValueError):
        return
    lines = data.split(b"\n")
    for line in lines[1:] if start else lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _at_once(path: str, flags: int) -> int:
    """A pipe in a transcript's place would keep whoever opens it waiting."""
    return os.open(path, flags | os.O_NONBLOCK)


def _text(content: Any) -> str:
    """Typed or spoken text only: tool results are not anybody's words."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(str(part.get("text", "")) for part in parts)
