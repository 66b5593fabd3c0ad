"""A person's own conversation with Claude Code that a session is to go on with."""

import asyncio
import os
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

from perpetualcc.claude.conversations import Conversation, begun_in, conversation_of
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tasks import Continued
from perpetualcc.domain.texts import first_line
from perpetualcc.gateway.methods import Params

NEWEST = "newest"
"""The word for the one that was used last in the folder."""
_WORDS = 200
"""Characters of what was said first, to know it again by."""


async def to_go_on_with(
    word: str, folder: Path, ours: Collection[str]
) -> tuple[Continued, dict[str, Any]]:
    """
    By its id, or `NEWEST` of those in a folder that no run has had; and what tells it apart.

    Raises PerpetualError: there is none.
    """
    if word == NEWEST:
        found = await asyncio.to_thread(_newest, folder, ours)
        missing = f"No conversation with Claude Code was begun in '{folder}'"
        hint = "Name the folder in which you typed claude, or one by its id: --resume ID"
    else:
        found = await asyncio.to_thread(conversation_of, word, os.environ)
        missing = f"There is no conversation with Claude Code that is called {word!r}"
        hint = f"See which there are: cd {shlex.quote(str(folder))} && claude --resume"
    if found is None:
        raise PerpetualError(missing, hint=hint)
    return Continued(conversation=found.id, folder=str(found.folder)), _told(found)


def _newest(folder: Path, ours: Collection[str]) -> Conversation | None:
    return next((one for one in begun_in(folder, os.environ) if one.id not in ours), None)


def _told(found: Conversation) -> dict[str, Any]:
    return {
        "conversation": found.id,
        "words": first_line(found.words, _WORDS),
        "used_at": found.used_at,
        "folder": str(found.folder),
    }


def check_continued(params: Params, tasks: int) -> None:
    """Raises PerpetualError for what would go on with one conversation several times."""
    if not params["continues"]:
        return
    if tasks > 1:
        raise PerpetualError(
            f"One task goes on with a conversation, and these are {tasks}",
            hint='Say it as one: --task "…", and queue the others: pcc add',
        )
    if params["every"]:
        raise PerpetualError(
            "What repeats begins afresh each time", hint="Leave --every out, or say --at"
        )
