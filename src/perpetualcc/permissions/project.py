"""What a project and its repository bring along for their guarding, and how much of it counts."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import above, home_of
from perpetualcc.permissions.policy_file import POLICY_FILE, apply_policy, parse_policy, seen_from
from perpetualcc.permissions.settings import PermissionSettings

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

        A file that cannot be read makes nothing looser.
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
    exists, home = os.path.exists, home_of(project)  # False, whatever is wrong
    folders = above(project) if home == project else (*above(project), home, *above(home))
    return tuple(folder for folder in folders if exists(f"{folder}/{POLICY_FILE}"))


def _applied(
    base: PermissionSettings, standing: ProjectStanding, project: Path
) -> PermissionSettings:
    is_of_home = home_of(standing.folder) == standing.folder
    seat = home_of(project) if is_of_home else project
    inner = PurePosixPath(seat.relative_to(standing.folder))
    try:
        policy = seen_from(inner, parse_policy(standing.files[POLICY_FILE]))
        return apply_policy(base, policy, is_trusted=standing.trusted)
    except PerpetualError as error:
        log.warning("%s", error.message)
        return replace(base, auto_approve_low_risk=False)
