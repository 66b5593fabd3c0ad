"""What the assistant did and said before a prompt, from the end of Claude Code's transcript."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perpetualcc.domain.secrets import redact

TAIL_BYTES = 2_000_000
"""How much of a transcript's end is read: 500 MB or 1 GB, it costs the same."""


_ACTS, _ACT_CHARACTERS = 4, 160
"""How many of the last acts are told, and how much of each."""

_LOOKED_AT = 2_000
"""Characters of a command that are looked through for secrets."""

_TOLD = ("command", "file_path", "path", "pattern", "url", "query")
"""Of a tool's input, what says what is done."""


def last_reply(path: Path, prompt: str) -> str:
    """
    What the assistant did and said last before `prompt`, or empty: transcripts vanish and grow.

    The acts since the user spoke come first, a line each ("Bash: npm install"), then its last text.
    When the prompt is not in the part that is read, the last of all is taken.
    """
    reply, before = "", None
    acts: list[str] = []
    for record in _tail(path):
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if record.get("type") == "assistant" and not record.get("isSidechain"):
            reply = _text(content) or reply
            acts = [*acts, *_acts(content)][-_ACTS:]
        elif record.get("type") == "user" and _is_spoken(_text(content)):
            if prompt and _text(content).strip() == prompt.strip():
                before = _told(acts, reply)
            acts = []
    return _told(acts, reply) if before is None else before


def _is_spoken(text: str) -> bool:
    """Whether a person said it: an interruption is noted as text, and ends no turn's acts."""
    return bool(text.strip()) and not text.startswith("[Request interrupted")


def _told(acts: list[str], reply: str) -> str:
    return "\n".join([*acts, reply] if reply else acts)


def _acts(content: Any) -> list[str]:
    """The tools it used, with what says what was done."""
    parts = content if isinstance(content, list) else []
    uses = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_use"]
    return [f"{use.get('name')}: {_aim(use.get('input'))}"[:_ACT_CHARACTERS] for use in uses]


def _aim(arguments: Any) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    told = (given[name] for name in _TOLD if isinstance(given.get(name), str))
    return redact(" ".join(next(told, "")[:_LOOKED_AT].split()))


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
