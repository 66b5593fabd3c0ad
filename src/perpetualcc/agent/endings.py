"""What a run came to, as an outcome of its task. Pure: everything it needs is in `RunFacts`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.agent.inbox import LimitReported, Order, TroubleReported, TurnEnded
from perpetualcc.domain.tasks import Done, Later, Outcome, Parked, Wait

_PATIENCE = 15 * 60.0
"""Seconds until the next try when a limit does not say when it resets."""
_OVERLOADED = 60.0
"""Seconds; an overloaded server is not a limit and not the task's fault."""

# The SDK's words for what a person must mend, and the mending.
HINTS: Mapping[str, str] = {
    "authentication_failed": "Sign in with: claude /login (or set ANTHROPIC_API_KEY), then: "
    "pcc daemon restart",
    "oauth_org_not_allowed": "Sign in with another account: claude /login",
    "billing_error": "Check the credit balance of the account, then: pcc resume",
    "model_not_found": "Choose another model with: pcc config set claude.model NAME",
}
_OVERLOAD = frozenset({"overloaded", "server_error"})


@dataclass(slots=True, kw_only=True)
class RunFacts:
    """What was seen of a run so far."""

    started: bool = False
    """The init event was seen: only then was there a start."""
    turn: TurnEnded | None = None
    trouble: TroubleReported | None = None
    limit: LimitReported | None = None
    order: Order | None = None
    question: int | None = None
    """The escalation that the run was ended for, to wait without a process."""
    error: str = ""
    """What the process left behind when it went."""


def outcome_of(facts: RunFacts, *, attempts: int, now: float) -> Outcome:
    """First match wins: a person's word, a limit, trouble, the turn itself, a lost process."""
    if facts.question is not None:
        return Wait(signal=f"escalation:{facts.question}", reason="a person must answer")
    if facts.limit is not None or (facts.trouble and facts.trouble.kind == "rate_limit"):
        return _wait_for_limit(facts, now)
    if facts.trouble is not None and facts.trouble.kind in HINTS:
        return Parked(result=facts.trouble.text, packet=packet(facts, attempts))
    if facts.trouble is not None and facts.trouble.kind in _OVERLOAD:
        return Later(due=now + _OVERLOADED, counts=False, reason=facts.trouble.text)
    if facts.turn is not None and not facts.turn.is_error:
        return Done(result=facts.turn.result)
    if facts.order is Order.PAUSE:
        return Later(due=now, counts=False, reason="paused")
    return Later(due=now + 2.0 ** min(attempts, 8), reason=_what_failed(facts))


def _wait_for_limit(facts: RunFacts, now: float) -> Later:
    resets_at = facts.limit.resets_at if facts.limit else None
    due = max(resets_at, now) if resets_at is not None else now + _PATIENCE
    return Later(due=due, counts=False, reason="a usage limit")


def _what_failed(facts: RunFacts) -> str:
    if facts.trouble is not None:
        return facts.trouble.text
    if facts.turn is not None:
        return facts.turn.result or facts.turn.subtype
    return facts.error or "Claude Code ended without finishing its turn"


def packet(facts: RunFacts, attempts: int) -> dict[str, Any]:
    """What a person needs to decide (seed 002): state, attempts, analysis, options."""
    kind = facts.trouble.kind if facts.trouble else ""
    return {
        "state": _what_failed(facts),
        "attempts": attempts,
        "analysis": kind,
        "hint": HINTS.get(kind, ""),
    }
