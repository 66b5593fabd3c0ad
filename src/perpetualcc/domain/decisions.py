"""Decisions: what was answered, by whom, and why. Never edited."""

import re
from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.ids import RequestId, RunId
from perpetualcc.domain.tools import Risk


class Verdict(StrEnum):
    """The three answers to a request."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    """A person must decide; the session waits."""


class DecidedBy(StrEnum):
    """On whose authority."""

    POLICY = "policy"
    """The rules alone."""
    BRAIN = "brain"
    RULE = "rule"
    """A rule of a person let it through; nobody was asked."""
    PERSON = "person"
    TIMEOUT = "timeout"
    """Nobody answered in time, and the stated default was taken."""


RULED = "allowed by a rule of a person"
"""In the reason of what a rule let through; a colon and the rules follow, and nothing else."""
_RULE_NAME = re.compile(r"\brule-[0-9a-f]+\b")


def authority_on_record(decided_by: str, reason: str) -> str:
    """Who decided it. What a rule let through stands in old records as its person's word."""
    is_rule = decided_by == DecidedBy.PERSON and f"; {RULED}" in reason
    return DecidedBy.RULE if is_rule else decided_by


def rules_named(reason: str) -> list[str]:
    """The rules that let a call through, as its reason names them; none where it names none."""
    return _RULE_NAME.findall(reason.rpartition(f"; {RULED}: ")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A brain's opinion on a tool call. Low confidence never approves."""

    approve: bool
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What is to be done about a tool call, and why: a decision before it is bound to a request."""

    verdict: Verdict
    risk: Risk
    confidence: float
    reason: str
    message: str = ""
    """For Claude, when it is refused."""
    decided_by: DecidedBy = DecidedBy.POLICY
    kind: str = ""
    """'The same kind of thing': five refusals of one kind park the task."""

    def bound_to(self, request: RequestId, run: RunId) -> "Decision":
        return Decision(
            request=request,
            run=run,
            verdict=self.verdict,
            risk=self.risk,
            confidence=self.confidence,
            reason=self.reason,
            decided_by=self.decided_by,
            message=self.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    The answer to one request, with the reason a person will read next week.

    Decisions are never edited. Changing one's mind means recording a second decision, so
    the journal always shows who allowed what, and on whose authority.
    """

    request: RequestId
    run: RunId
    verdict: Verdict
    risk: Risk
    confidence: float
    """0.0 means a person must decide (seed 000, Component 2)."""
    reason: str
    """For a person, next week."""
    decided_by: DecidedBy = DecidedBy.POLICY
    message: str = ""
    """For Claude: what was refused, why, and what it may do instead."""
