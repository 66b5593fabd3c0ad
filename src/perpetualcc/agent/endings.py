"""What a run came to, as an outcome of its task. Pure: everything it needs is in `RunFacts`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.agent.inbox import LimitReported, Order, TroubleReported, TurnEnded
from perpetualcc.domain.escalations import signal_name
from perpetualcc.domain.limits import LIMIT_NAMES, RateLimitInfo
from perpetualcc.domain.tasks import STOPS, Done, Later, Outcome, Parked, Task, Wait
from perpetualcc.domain.waiting import back_off
from perpetualcc.sessions.budget import BudgetScope, Refusal
from perpetualcc.sessions.retries import same_failure

# The SDK's words for what a person must mend, and the mending.
HINTS: Mapping[str, str] = {
    "authentication_failed": "Sign in with: pcc login (or set ANTHROPIC_API_KEY and then: "
    "pcc daemon restart); go on with: pcc resume {session}",
    "oauth_org_not_allowed": "Sign in with another account: pcc login",
    "billing_error": "Check the credit balance of the account, then: pcc resume {session}",
    "model_not_found": "Choose another model with: pcc config set claude.model NAME (and then: "
    "pcc daemon restart); go on with: pcc resume {session}",
    "permission_mode": "See what starts Claude Code so (claude.binary, managed settings);"
    " go on with: pcc resume {session}",
}
WIDER_MODES = frozenset({"acceptEdits", "auto", "bypassPermissions", "dontAsk"})
"""Permission modes of Claude Code that let through what the one we start it with asks about."""

_LONGER = 4
"""Steps of the back-off: half a minute, then a whole one."""
_TURNS = "error_max_turns"
"""Claude Code's word for a turn that it ended at our cap of turns."""


@dataclass(slots=True, kw_only=True)
class RunFacts:
    """What was seen of a run so far."""

    started: bool = False
    """The init event was seen: only then was there a start."""
    replies: int = 0
    """How often the model itself answered."""
    got_on: bool = False
    """A call ran that no earlier run of the task had made."""
    usd: float = 0.0
    """What it cost, as far as Claude Code told."""
    tokens_in: int = 0
    """Fresh input, as far as it was counted reply by reply; the turn's own figure replaces it."""
    tokens_out: int = 0
    beside: int = 0
    """Tokens of subagents: the turn's own figures leave them out."""
    turn: TurnEnded | None = None
    """How the last turn ended."""
    before: TurnEnded | None = None
    """Turns that ended while something worked on in the background: none of them was the last."""
    trouble: TroubleReported | None = None
    limit: LimitReported | None = None
    is_stopped: bool = False
    """Claude Code was told to stop after the tools of its reply: the turn's end is not Claude's."""
    over: Refusal | None = None
    """The budget that the run was ended for."""
    stuck: str = ""
    """Why the run was ended: it went round in circles."""
    outdated: str = ""
    """Why the run was ended although its work goes on: what it began with counts no longer."""
    order: Order | None = None
    next_try: float = 0.0
    """Monotonic seconds: until then Claude Code waits to repeat a request that came to nothing."""
    question: int | None = None
    """The escalation that the run was ended for, to wait without a process."""
    error: str = ""
    """What the process left behind when it went."""

    @property
    def is_done(self) -> bool:
        """Claude ended its turn by itself, and well: it said what it came to, or did something."""
        if self.turn is None or self.turn.is_error or self.is_stopped or self.question is not None:
            return False
        return self.got_on or bool(self.turn.result.strip())


_LEFT: Mapping[Order | None, str] = {Order.PAUSE: "paused", Order.LEAVE: "Interrupted"}


def outcome_of(
    facts: RunFacts, task: Task, *, now: float, limit: RateLimitInfo | None = None
) -> Outcome:
    """
    First match wins: a person's word, a good end, a limit, trouble, a lost process.

    `limit` is what `RateLimitMonitor.detect` made of the facts.
    """
    if facts.question is not None:
        return Wait(signal=signal_name(facts.question), reason="a person must answer")
    if facts.turn is not None and facts.is_done:
        return Done(result=facts.turn.result)
    if facts.stuck:
        return Parked(result=f"Stuck: {facts.stuck}", packet=packet(facts, task))
    if facts.over is not None and facts.over.scope is BudgetScope.RUN:
        told = packet(facts, task) | facts.over.packet(task.group)
        return Parked(result=facts.over.reason, packet={**STOPS, **told})
    if facts.over is not None:  # whoever admits the next run knows what follows
        return Later(due=now, counts=False, reason=facts.over.reason)
    if facts.turn is not None and facts.turn.subtype == _TURNS:
        reason = "the turns of --max-turns are taken"
        return Later(due=now, counts=False, reason=reason, pauses=True)
    if limit is not None:
        return Later(
            due=now,
            counts=False,
            reason=LIMIT_NAMES[limit.window],
            limit=limit,
            got_somewhere=facts.got_on,
        )
    if facts.trouble is not None and facts.trouble.kind in HINTS:
        return _refused(facts, facts.trouble, task, now)
    if why := facts.outdated or _LEFT.get(facts.order):
        is_ours = facts.order is Order.LEAVE
        return Later(due=now, counts=False, reason=why, keeps_answer=is_ours)
    return _failed(facts, task, now)


def wider_mode(mode: str) -> TroubleReported:
    """FIELD S25: a run whose mode is not the one it was given is no run of ours."""
    text = f"Claude Code works in the permission mode {mode}, and was started in default"
    return TroubleReported(kind="permission_mode", text=text)


def _refused(facts: RunFacts, trouble: TroubleReported, task: Task, now: float) -> Outcome:
    """
    A person must mend it. A sign-in that worked before is tried again first: several Claude Codes
    renew one, and the second of them is refused until it reads, as a new process does, what the
    first was given.
    """
    was_signed_in = trouble.kind == "authentication_failed" and (facts.replies or task.attempts > 1)
    if was_signed_in and (facts.got_on or task.attempts < task.max_attempts):
        due = now + patient_back_off(task)
        return Later(due=due, reason=trouble.text, got_on=facts.got_on)
    return Parked(result=trouble.text, packet={**STOPS, **packet(facts, task)})


def patient_back_off(task: Task) -> float:
    """Seconds: of what is likely to come back, but not at once."""
    return back_off(task.attempts + _LONGER, task.id)


def _failed(facts: RunFacts, task: Task, now: float) -> Outcome:
    """Again after a while; one that fails the same way to the last is set aside for a person."""
    reason = _what_failed(facts)
    if facts.got_on and was_lost(facts):
        return Later(due=now + back_off(1, task.id), reason=reason, got_on=True)
    is_last = task.attempts >= task.max_attempts and facts.order is None
    if is_last and same_failure(task.result, reason):
        told = packet(facts, task)
        return Parked(result=reason, packet=told | {"analysis": "it fails the same way each time"})
    return Later(due=now + back_off(task.attempts, task.id), reason=reason)


def was_lost(facts: RunFacts) -> bool:
    """The process went without a word: killed from outside, or by a bug of its own."""
    return facts.turn is None and facts.trouble is None and facts.order is None


def _what_failed(facts: RunFacts) -> str:
    if facts.stuck:
        return f"Stuck: {facts.stuck}"
    if facts.over is not None:
        return facts.over.reason
    if facts.trouble is not None:
        return facts.trouble.text
    if facts.turn is not None and not facts.turn.is_error:
        return "Claude ended its turn without a word, and did nothing"
    if facts.turn is not None:
        return facts.turn.result or facts.turn.subtype
    return facts.error or "Claude Code ended without finishing its turn"


def packet(facts: RunFacts, task: Task) -> dict[str, Any]:
    """What a person needs to decide (seed 002): state, attempts, analysis, options."""
    kind = facts.trouble.kind if facts.trouble else ""
    return {
        "state": _what_failed(facts),
        "attempts": task.attempts,
        "analysis": kind,
        "hint": HINTS.get(kind, "").format(session=task.group),
    }
