"""Where a new session works, and what it is called."""

import os
import re
import shlex
from difflib import get_close_matches
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.texts import cut, first_line


def _instead_of(path: Path) -> str:
    try:
        beside = [one.name for one in path.parent.iterdir() if one.is_dir()]
    except OSError:
        beside = []
    if close := get_close_matches(path.name, beside, n=1):
        return f"Did you mean {shlex.quote(str(path.with_name(close[0])))}?"
    return f"Create it with: mkdir -p {shlex.quote(str(path))}"


def check_project(path: Path) -> Path:
    """The project's canonical directory. Raises PerpetualError when it cannot be worked in."""
    if "\0" in str(path):
        raise PerpetualError("A project path holds no NUL character")
    resolved = canonical(path)
    if resolved == Path(resolved.anchor):
        raise PerpetualError(
            "The whole file system cannot be a project", hint="Name one directory below it"
        )
    try:
        is_there = resolved.exists()
    except OSError as error:
        raise PerpetualError(
            f"Project path '{cut(str(path), 80)}' cannot be looked at: {error.strerror}",
            hint="Name a directory, and what is to be done with --task",
        ) from error
    if not is_there:
        raise PerpetualError(
            f"Project path '{path}' does not exist",
            hint=_instead_of(path),
        )
    if not resolved.is_dir():
        raise PerpetualError(
            f"Project path '{path}' is not a directory", hint="Name the directory it is in"
        )
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise PerpetualError(
            f"Project path '{path}' cannot be read",
            hint=f"Check its permissions: ls -ld {shlex.quote(str(path))}",
        )
    if _UNSPEAKABLE.search(str(resolved)):
        raise PerpetualError(
            f"Project path {str(resolved)!r} holds a line end or another character"
            " that Claude Code does not see as it is",
            hint="Rename the directory",
        )
    return resolved


_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""A prompt and the terminal show these as something else (Claude Code 2.1.330: `&#10;`)."""


def check_name(name: str) -> None:
    """Raises PerpetualError for a name that a terminal would obey, or show as another one."""
    if not all(c.isprintable() or c in _JOINERS for c in name):
        raise PerpetualError(
            f"A session's name is one line of letters and signs, not {name[:80]!r}",
            hint="Such as: --session-name shop",
        )


_JOINERS = "\u200c\u200d"
"""Scripts and emoji need them."""


def name_from(prompt: str) -> str:
    """Two or three telling words of the task, as people name branches."""
    words = "".join(c.lower() if c.isalnum() else " " for c in first_line(prompt)).split()
    telling = [word for word in words if len(word) > 2 and word not in _WEAK][:3]
    return "-".join(telling or words[:3])[:32].strip("-") or "session"


_WEAK = frozenset({"the", "and", "for", "with", "that", "this", "from", "into", "please", "all"})
