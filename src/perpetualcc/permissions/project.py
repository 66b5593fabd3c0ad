"""What a project brings along for its own guarding, and how much of it counts."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.permissions.policy_file import POLICY_FILE, apply_policy, parse_policy
from perpetualcc.permissions.settings import PermissionSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectStanding:
    """What a project brings along, and whether a person trusts it."""

    files: Mapping[str, bytes]
    trusted: bool

    def settings(self, base: PermissionSettings) -> PermissionSettings:
        """The policy with the project's own; a file that cannot be read makes nothing looser."""
        content = self.files.get(POLICY_FILE)
        if content is None:
            return base
        try:
            return apply_policy(base, parse_policy(content), is_trusted=self.trusted)
        except PerpetualError as error:
            log.warning("%s", error.message)
            return replace(base, auto_approve_low_risk=False)

    @property
    def has_policy(self) -> bool:
        return POLICY_FILE in self.files
