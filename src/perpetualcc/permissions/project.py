"""What a project and its repository bring along for their guarding, and how much of it counts."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from perpetualcc.domain.folders import above, home_of
from perpetualcc.domain.foreign_files import is_there, read_regular
from perpetualcc.permissions.policy_file import (
    POLICY_FILE,
    UNREADABLE_WHY,
    UnreadablePolicy,
    apply_policy,
    parse_policy,
    seen_from,
    what_holds,
)
from perpetualcc.permissions.settings import PermissionSettings

_LOOKED_AT = 1_000_000
"""Bytes of a policy that are read to say what is wrong with it; one of a tenth is too long."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectStanding:
    """What a project brings along, and whether a person trusts it."""

    files: Mapping[str, bytes]
    trusted: bool
    folder: Path
    """Where the files are."""
    above: "tuple[ProjectStanding, ...]" = ()
    """The folders of its repository that have a policy: the nearest has the last word."""

    def settings(self, base: PermissionSettings) -> PermissionSettings:
        """
        The settings with the repository's policies and the project's own.

        A file with a mistake makes nothing looser, and what is stricter in it holds.
        """
        for one in reversed(self.with_policy()):
            base = _applied(base, one, self.folder)
        return base

    def with_policy(self) -> "tuple[ProjectStanding, ...]":
        """Whose policy counts, the nearest first."""
        return tuple(one for one in (self, *self.above) if POLICY_FILE in one.files)


def with_policy_above(project: Path) -> tuple[Path, ...]:
    """
    The folders of its repository that a project is in and that have a policy. For a worktree
    those of its home, too: what git does not carry over, and what is stricter there, counts.
    """
    home = home_of(project)
    folders = above(project) if home == project else (*above(project), home, *above(home))
    return tuple(folder for folder in folders if is_there(f"{folder}/{POLICY_FILE}"))


def policy_mistakes(project: Path) -> Iterator[str]:
    """What is wrong with the policies that count in this project, one line each."""
    for folder in dict.fromkeys((project, *with_policy_above(project))):
        if is_there(f"{folder}/{POLICY_FILE}"):
            yield from _mistake(folder)


def _mistake(folder: Path) -> Iterator[str]:
    try:
        parse_policy(read_regular(folder / POLICY_FILE, _LOOKED_AT))
    except OSError:
        yield _told(folder, UnreadablePolicy(UNREADABLE_WHY))
    except UnreadablePolicy as error:
        yield _told(folder, error)


def _told(folder: Path, error: UnreadablePolicy) -> str:
    return UnreadablePolicy(error.why, where=f"{folder / POLICY_FILE}").message


def _applied(
    base: PermissionSettings, standing: ProjectStanding, project: Path
) -> PermissionSettings:
    is_of_home = home_of(standing.folder) == standing.folder
    seat = home_of(project) if is_of_home else project
    inner = PurePosixPath(seat.relative_to(standing.folder))
    content = standing.files[POLICY_FILE]
    try:
        policy, is_trusted = parse_policy(content), standing.trusted
    except UnreadablePolicy as error:
        _warn(_told(standing.folder, error))
        policy, is_trusted, base = what_holds(content), False, replace(base, is_whole=False)
    return apply_policy(base, seen_from(inner, policy), is_trusted=is_trusted)


@lru_cache(maxsize=256)
def _warn(message: str) -> None:
    """Once for each mistake, and not with each tool call."""
    log.warning("%s", message)
