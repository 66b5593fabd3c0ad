"""Claude Code's transcripts on disk: JSONL below its configuration directory."""

from collections.abc import Mapping
from pathlib import Path

from perpetualcc.domain.ids import ClaudeSessionId


def transcript_exists(conversation: ClaudeSessionId, environment: Mapping[str, str]) -> bool:
    """Whether a conversation has begun: it can be resumed only then."""
    home = environment.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
    return any(Path(home, "projects").glob(f"*/{conversation}.jsonl"))
