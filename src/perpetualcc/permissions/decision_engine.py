"""From risk, authority and advice to a decision. `decide` is pure and cannot fail."""

from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import Analysis
from perpetualcc.permissions.settings import PermissionSettings


def verdict_without_brain(analysis: Analysis, settings: PermissionSettings) -> Verdict:
    """What happens when nobody but the policy is there."""
    if analysis.is_forbidden:
        return Verdict.DENY
    if analysis.risk is Risk.LOW and settings.auto_approve_low_risk:
        return Verdict.ALLOW
    return Verdict.ASK
