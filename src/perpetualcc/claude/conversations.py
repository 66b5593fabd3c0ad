"""
Conversations that people have had with Claude Code, on disk: which there are, and where.

Each is a transcript, `projects/FOLDER/ID.jsonl` below Claude Code's configuration directory.
Anybody may have written it: nothing in it is believed but words and a folder.
"""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from perpetualcc.claude.transcripts import transcripts_below
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.domain.ids import ClaudeSessionId

_LOOKED_AT = 2_000
"""Transcripts, the newest first. Claude Code itself deletes them after a month."""
_LINES = 200
"""Of each, until its folder and first words are known: hooks and attachments may come before."""
_LONGEST = 1 << 22
"""Bytes of a line: a longer one is a picture, and its rest is read as lines of no meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One that may be gone on with."""

    id: ClaudeSessionId
    folder: Path
    """Where Claude Code was started, canonical."""
    words: str
    """What the person said first; empty: nothing that is text."""
    used_at: float
    """UTC epoch seconds."""


def is_conversation(word: str) -> bool:
    """Whether it is an id as Claude Code gives them: it becomes part of a path."""
    try:
        return str(uuid.UUID(word)) == word
    except ValueError:
        return False


def conversation_of(word: str, environment: Mapping[str, str]) -> Conversation | None:
    """By its id; None when there is none, or nothing was said in it."""
    if not is_conversation(word):
        return None
    found = transcripts_below(environment, word)
    return next((one for path in found if (one := _read(path))), None)


def begun_in(folder: Path, environment: Mapping[str, str]) -> Iterator[Conversation]:
    """Those that were begun in `folder`, the one that was used last first."""
    here = canonical(folder)
    for path in islice(_newest_first(environment), _LOOKED_AT):
        if (one := _read(path)) and one.folder == here:
            yield one


def _newest_first(environment: Mapping[str, str]) -> Iterator[Path]:
    found = []
    for path in transcripts_below(environment):
        if is_conversation(path.stem):
            try:
                found.append((path.stat().st_mtime, path))
            except OSError:
                continue
    return (path for _, path in sorted(found, reverse=True))


def _read(path: Path) -> Conversation | None:
    folder, words, is_begun = "", "", False
    try:
        used_at = path.stat().st_mtime
        with open_regular(path) as file:
            for line in islice(iter(lambda: file.readline(_LONGEST), b""), _LINES):
                record = _record(line)
                folder = folder or str(record.get("cwd") or "")
                if record.get("type") == "user" and not record.get("isMeta"):
                    is_begun = True
                    words = words or _said(record.get("message"))
                if folder and words:
                    break
    except OSError:
        return None
    if not folder or not is_begun:
        return None
    return Conversation(
        id=ClaudeSessionId(path.stem), folder=canonical(Path(folder)), words=words, used_at=used_at
    )


def _record(line: bytes) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _said(message: Any) -> str:
    """The person's words in a message; empty where Claude Code says something in their name."""
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = (str(one.get("text") or "") for one in blocks if isinstance(one, dict))
    return next((text.strip() for text in texts if text and not text.lstrip().startswith("<")), "")
