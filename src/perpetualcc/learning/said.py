"""
What a person said to a supervised Claude, for the learning queue: they typed it, if elsewhere.

Claude Code's own hook sees it too, and calls it the engine's, as all that the engine sends; so it
counts once.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perpetualcc.domain.private_files import opened
from perpetualcc.learning.events import VERSION
from perpetualcc.learning.install import are_off, is_installed, is_plugin_enabled
from perpetualcc.learning.places import Places


def queue_said(
    places: Places, event: str, text: str, *, project: Path, at: float, hook: Mapping[str, Any]
) -> bool:
    """
    Add it as the hook adds what is typed in Claude Code; `event` names it, and counts once.

    `hook`: the conversation it was said into, as Claude Code names it to its hooks. False: the
    person has no hooks, and nothing that they type is queued.

    Raises:
        OSError: the queue cannot be written.
    """
    if are_off(places) or not (is_installed(places) or is_plugin_enabled(places)):
        return False
    queue = places.queue
    if not places.home.is_dir() or (queue.exists() and not queue.is_file()):
        return False
    line = {
        "v": VERSION,
        "id": event,
        "type": "prompt",
        "project": str(project),
        "timestamp": at,
        "by": "user",
        "hook": {**hook, "prompt": text},
    }
    data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    descriptor = opened(queue, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, data)  # one write: hooks append meanwhile
    finally:
        os.close(descriptor)
    return True
