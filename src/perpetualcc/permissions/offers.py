"""After a person approved the same kind of thing several times: the offer to make it a rule."""

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.permissions.settings import PermissionSettings


def offer(kind: str, risk: Risk, approvals: int, settings: PermissionSettings) -> str:
    """
    What is offered when `kind` was approved `approvals` times in this project; empty: nothing.

    A kind that is HIGH is never offered as a whole: `rm` approved three times is no word about
    every other `rm`. Then the offer is about this very call.
    """
    enough = settings.offer_rule_after_approvals
    if not kind or not enough or approvals < enough:
        return ""
    what = "exactly this" if risk is Risk.HIGH else f"everything of the kind {kind!r}"
    return f"you approved {kind!r} {approvals} times here; --always lets {what} through from now on"


def offered_rule(kind: str, *, id: str, project: str, note: str = "") -> Rule:  # noqa: A002  # the field's name
    """The rule that is offered for a kind that is not HIGH."""
    return Rule(
        id=id, effect=RuleEffect.ALLOW, subject=RuleSubject.KIND, pattern=kind, project=project,
        note=note or "offered after repeated approvals",
    )  # fmt: skip
