"""Claude Code's transcripts on disk: JSONL below its configuration directory."""

import json
from collections.abc import Mapping
from pathlib import Path

from perpetualcc.domain.foreign_files import open_regular
from perpetualcc.domain.ids import ClaudeSessionId

_LONGEST = 1 << 26
"""Bytes of a first line: a prompt with pictures has some million."""


def transcript_size(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> int:
    """Bytes of a conversation's transcript; 0 when there is none, or nothing in it to read."""
    home = environment.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
    for path in Path(home, "projects").glob(f"*/{conversation}.jsonl"):
        try:
            return path.stat().st_size if _begins_well(path) else 0
        except OSError:
            return 0
    return 0


def _begins_well(path: Path) -> bool:
    """Whether the first line is whole: what was overwritten, or cut to nothing, is not."""
    with open_regular(path) as file:
        line = file.readline(_LONGEST)
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
