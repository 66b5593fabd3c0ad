"""
Counting what repeats: denials of one kind park the task, approvals of one kind offer a rule.

Pure state: whoever keeps it stores `Tally` and gives it back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from perpetualcc.permissions.settings import PermissionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often each kind was denied in this task, and approved by a person in this project."""

    denials: Mapping[str, int] = field(default_factory=dict)
    approvals: Mapping[str, int] = field(default_factory=dict)

    def denied(self, kind: str) -> "Tally":
        return replace(self, denials=_one_more(self.denials, kind))

    def approved(self, kind: str) -> "Tally":
        """An approval also ends the run of denials of that kind."""
        denials = {name: count for name, count in self.denials.items() if name != kind}
        return Tally(denials=denials, approvals=_one_more(self.approvals, kind))

    def must_park(self, kind: str, settings: PermissionSettings) -> bool:
        """Claude keeps asking for what it does not get: a person should look."""
        return self.denials.get(kind, 0) >= settings.park_after_denials

    def may_offer_rule(self, kind: str, settings: PermissionSettings) -> bool:
        """The next question about this kind offers to make it a rule."""
        return self.approvals.get(kind, 0) >= settings.offer_rule_after_approvals


def _one_more(counts: Mapping[str, int], kind: str) -> dict[str, int]:
    return {**counts, kind: counts.get(kind, 0) + 1}
