"""What git says of a worktree, as clients that cannot ask it themselves are shown it."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from perpetualcc.daemon.snapshot_looks import FILES, commits_told, some
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.secrets import redact
from perpetualcc.sessions.snapshots.changes import commits
from perpetualcc.sessions.worktrees.accepting import Offer, Wish, offered, refuse_unready
from perpetualcc.sessions.worktrees.discarding import Loss, lost
from perpetualcc.sessions.worktrees.meant import Meant
from perpetualcc.sessions.worktrees.reviewing import review


def review_of(found: Meant, folder: Path) -> dict[str, Any]:
    """What was made, and whether it would merge."""
    seen = review(found.tree, folder)
    return {
        **_named(found),
        **commits_told(seen.commits),
        **some("not_committed", [one.name for one in seen.not_committed]),
        **some("left_out", seen.left_out),
        **some("conflicts", seen.merge.conflicts),
        **some("blocked", seen.blocked),
        "files": [
            {"name": redact(_readable(one.name)), "added": one.added, "removed": one.removed}
            for one in seen.files[:FILES]
        ],
        "total": len(seen.files),
        "added": sum(one.added or 0 for one in seen.files),
        "removed": sum(one.removed or 0 for one in seen.files),
        "merge": seen.merge.kind.value,
    }


def offer_of(found: Meant, folder: Path) -> tuple[Offer, dict[str, Any]]:
    """The plain merge. Raises PerpetualError, with the way out: it is refused."""
    refuse_unready(found)
    offer = offered(found, folder, Wish())
    tree = found.tree
    return offer, {
        **_named(found),
        **commits_told(commits(tree.here, tree.onto, tree.head)),
        "is_nothing": offer.is_nothing,
        "present": _mark(tree.onto, tree.head),
    }


def loss_of(found: Meant, folder: Path) -> tuple[Loss, dict[str, Any]]:
    """Raises PerpetualError: it is refused."""
    loss = lost(found, folder)
    tree = found.tree
    return loss, {
        **_named(found),
        **commits_told(commits(tree.here, tree.onto, tree.head)),
        **some("not_committed", loss.not_committed),
        "present": _mark(tree.head, loss.tree),
    }


def check_present(told: dict[str, Any], present: str) -> None:
    """Raises PerpetualError: it is not what somebody was shown and has agreed to."""
    if told["present"] != present:
        raise PerpetualError("Nothing was done: it has changed since you looked", hint="Look again")


def _named(found: Meant) -> dict[str, Any]:
    tree = found.tree
    names = {"branch": found.branch, "into": tree.target, "main": str(tree.main.top)}
    return {name: _readable(text) for name, text in (names | {"place": str(tree.place)}).items()}


def _readable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _mark(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:24]
