"""What git knows of a project: the last resort when no handover document is left."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perpetualcc.domain.git import OWN_FILTERS, without_filters
from perpetualcc.sessions.snapshots.repository import GitError, Patience, Repository

if TYPE_CHECKING:
    import subprocess

_FROM_ROOT = ":(top,literal)"
"""Before a path: it is from the repository's root, and holds no pattern."""
_PATIENCE = 5.0
"""Seconds; a huge repository must not hold a handover up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryState:
    """Empty where there is no repository."""

    changed: tuple[str, ...] = ()
    """Modified or new files that are not committed."""
    commits: tuple[str, ...] = ()
    """The newest ones, `a1b2c3d subject`."""


def repository_state(project: Path) -> RepositoryState:
    """Ask git. Never raises."""
    changed = uncommitted(project)
    told = _git(project, "log", "--max-count=10", "--format=%h %s", *_here(project))
    return RepositoryState(changed=changed[:200], commits=tuple(told.splitlines()))


def uncommitted(project: Path) -> tuple[str, ...]:
    """
    Modified, deleted and new files that are not committed, from the project. Never raises.

    Of a project that is a folder of a repository only its own: others may be at work in the rest.
    Of a submodule that it is at another commit, and nothing of its files: it has its own settings.
    """
    here = _here(project)
    plain = without_filters(_git(project, *OWN_FILTERS))
    if plain is None:
        return ()
    status = (*plain, "status", "--porcelain=v1", "-z", "-uall", "--no-renames")
    listed = _git(project, *status, "--ignore-submodules=dirty", *here)
    prefix = "".join(here[1:]).removeprefix(_FROM_ROOT)
    return tuple(entry[3:].removeprefix(prefix) for entry in listed.split("\0") if len(entry) > 3)


def is_versioned(project: Path) -> bool:
    """Whether git says what is to be left out: not outside of a work tree, nor where all is."""
    done = _asked(project, "check-ignore", "--quiet", ".")
    return done is not None and done.returncode == 1


def _here(project: Path) -> tuple[str, ...]:
    """The words for git that leave out what is beside a project in its repository."""
    prefix = _git(project, "rev-parse", "--show-prefix").removesuffix("\n")
    return ("--", f"{_FROM_ROOT}{prefix}") if prefix else ()


def committed_since(project: Path, since: float) -> tuple[str, ...]:
    """Files of the commits made after a moment (UTC epoch seconds). Never raises."""
    told = _git(
        *(project, "log", f"--since=@{since:.0f}", "--name-only", "--format=", "-z", "--relative")
    )
    return tuple(name for name in told.split("\0") if name)


def changed_since(project: Path, names: Iterable[str], since: float) -> list[str]:
    """Those that were written after a moment (UTC epoch seconds), or are gone."""
    return [name for name in names if _modified_at(project / name) >= since]


def _modified_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return math.inf


def _git(project: Path, *words: str) -> str:
    done = _asked(project, *words)
    return done.stdout.decode("utf-8", "replace") if done and done.returncode == 0 else ""


def _asked(project: Path, *words: str) -> "subprocess.CompletedProcess[bytes] | None":
    """
    With the person's own settings: what they ignore everywhere, and which repositories they trust.
    """
    here = Repository(
        top=project,
        patience=Patience(seconds=_PATIENCE).begun(),
        variables=(("GIT_LITERAL_PATHSPECS", "0"),),
    )
    try:
        return here.asked(*words)
    except (GitError, OSError, ValueError):
        return None
