"""A worktree that is gone is made again, for what a snapshot of it holds (`pcc undo`)."""

from pathlib import Path
from typing import Any

from perpetualcc.cli.look import printable
from perpetualcc.cli.worktree import ask_git, make
from perpetualcc.domain.folders import WORKTREES


def is_gone(snapshot: dict[str, Any]) -> bool:
    """It is of a worktree where we make them, and nothing is there any more."""
    return WORKTREES in snapshot["top"] and not Path(snapshot["top"]).exists()


def gone_in_words(snapshot: dict[str, Any]) -> str:
    on = f", on the branch {snapshot['branch']}" if snapshot["branch"] else ""
    return printable(f"The worktree '{snapshot['top']}' is gone{on}, at {snapshot['head'][:12]}")


def make_again(snapshot: dict[str, Any]) -> None:
    """As it was committed then; a branch that is there by now stays as it is."""
    place = Path(snapshot["top"])
    main = Path(snapshot["top"].rpartition(WORKTREES)[0])
    ask_git(main, "worktree", "remove", "--force", str(place))  # what somebody deleted by hand
    make(main, place, snapshot["branch"], snapshot["head"])
