"""Claude Code's transcripts on disk: JSONL below its configuration directory."""

import json
from collections.abc import Mapping
from pathlib import Path

from perpetualcc.domain.ids import ClaudeSessionId


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
    with path.open("rb") as file:
        try:
            return isinstance(json.loads(file.readline()), dict)
        except ValueError:
            return False
