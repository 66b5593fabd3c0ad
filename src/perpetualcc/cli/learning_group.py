"""The group of `pcc learn`: files of the user's Claude Code that cannot be used are no bug."""

import os
from pathlib import Path
from typing import Any

from perpetualcc.cli.look import tell
from perpetualcc.cli.options import Group
from perpetualcc.config import claude_directory
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.learning.places import Places


class LearningGroup(Group):
    """Turns what the system says about those files into two lines that a person can act on."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. Raises `PerpetualError` where one of those files is refused."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if not _is_ours(error.filename):
                raise
            raise PerpetualError(
                f"{str(error.filename)!r} cannot be used: {error.strerror}",
                hint="It must be yours to read and to write; CLAUDE_CONFIG_DIR names the directory",
            ) from error


def learning_places() -> Places:
    """The files of the user's Claude Code: below `CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    return Places(claude=claude_directory())


def tell_unread() -> None:
    """Say what no list can show yet: nobody reads while neither a worker nor a daemon runs."""
    from perpetualcc.learning.health import examine

    health = examine(learning_places())
    if health.waiting and not health.is_alive:
        tell(
            f"note: Not read yet: {health.waiting:,} events. Where no daemon runs, to read them:"
            " pcc learn restart"
        )


def _is_ours(name: object) -> bool:
    """Below Claude Code's directory, or in a project's `.data`."""
    if not isinstance(name, str | os.PathLike):
        return False
    path = Path(name)
    return path.is_relative_to(learning_places().claude) or ".data" in path.parts
