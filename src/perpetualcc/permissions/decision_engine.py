"""
From risk, authority and advice to a decision (seed 000, Component 2).

`rule` is pure: one table, every row of which is enumerated in a test and printed in the docs.
`DecisionEngine` only asks the brain where the table could use its advice.
"""

import logging
from enum import StrEnum
from typing import Protocol

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.decisions import RULED, Advice, DecidedBy, Ruling, Verdict
from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.authorization import overreach
from perpetualcc.permissions.deciding_rules import deciding_rules, named
from perpetualcc.permissions.effects import Analysis
from perpetualcc.permissions.messages import refusal
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rules import Rule, Standing, standing
from perpetualcc.permissions.settings import PermissionSettings

SURE = 0.7
"""A brain below this is not sure, and never approves (seed 000, escalation triggers)."""
LOW_CONFIDENCE = 0.95
"""Confidence of an approval by the rules alone (seed 000, Component 2)."""

_EVERYTHING = Authority(level=AuthorityLevel.FULL, allow_network=True)

_log = logging.getLogger(__name__)


class Permit(StrEnum):
    """What stands above any opinion."""

    WITHIN = "within authority"
    RULED = RULED
    BEYOND = "beyond authority"
    FORBIDDEN = "blocked by settings or rule"


class Opinion(StrEnum):
    """What the brain thinks."""

    NONE = "silent"
    """Not asked, or could not be reached."""
    APPROVES = "approves"
    UNSURE = "unsure"
    """Below `SURE`, whichever way it leans."""
    REFUSES = "refuses"


_A, _D, _P = Verdict.ALLOW, Verdict.DENY, Verdict.ASK
_OPINIONS = tuple(Opinion)
_ROWS: dict[tuple[Permit, Risk], tuple[Verdict, Verdict, Verdict, Verdict]] = {
    #                                   NONE APPROVES UNSURE REFUSES
    (Permit.WITHIN, Risk.LOW): (_A, _A, _A, _A),
    (Permit.WITHIN, Risk.MEDIUM): (_P, _A, _P, _D),
    (Permit.WITHIN, Risk.HIGH): (_P, _P, _P, _P),
    (Permit.RULED, Risk.LOW): (_A, _A, _A, _A),
    (Permit.RULED, Risk.MEDIUM): (_A, _A, _A, _A),
    (Permit.RULED, Risk.HIGH): (_A, _A, _A, _A),
    (Permit.BEYOND, Risk.LOW): (_D, _D, _D, _D),
    (Permit.BEYOND, Risk.MEDIUM): (_D, _D, _D, _D),
    (Permit.BEYOND, Risk.HIGH): (_D, _D, _D, _D),
    (Permit.FORBIDDEN, Risk.LOW): (_D, _D, _D, _D),
    (Permit.FORBIDDEN, Risk.MEDIUM): (_D, _D, _D, _D),
    (Permit.FORBIDDEN, Risk.HIGH): (_D, _D, _D, _D),
}
DECISION_TABLE: dict[tuple[Permit, Risk, Opinion], Verdict] = {
    (permit, risk, opinion): verdict
    for (permit, risk), verdicts in _ROWS.items()
    for opinion, verdict in zip(_OPINIONS, verdicts, strict=True)
}
"""Every combination. `Permit.RULED` with HIGH needs a rule that names HIGH itself (`rules`)."""


def opinion_of(advice: Advice | None) -> Opinion:
    if advice is None:
        return Opinion.NONE
    if advice.confidence < SURE:
        return Opinion.UNSURE
    return Opinion.APPROVES if advice.approve else Opinion.REFUSES


def decide(
    analysis: Analysis,
    permit: Permit,
    advice: Advice | None,
    settings: PermissionSettings,
    *,
    because: str = "",
) -> Ruling:
    """
    Pure: the same inputs give the same ruling, and there is no input it cannot rule on.

    `because` says why the permit is what it is, for the reason and the message.
    """
    risk = analysis.risk
    verdict = DECISION_TABLE[permit, risk, opinion_of(advice)]
    if verdict is Verdict.ALLOW and permit is Permit.WITHIN and risk is Risk.LOW:
        verdict = Verdict.ALLOW if settings.auto_approve_low_risk else Verdict.ASK
    is_brain = permit is Permit.WITHIN and risk is Risk.MEDIUM and verdict is not Verdict.ASK
    decided_by = DecidedBy.BRAIN if is_brain else DecidedBy.POLICY
    if permit is Permit.RULED:
        decided_by = DecidedBy.RULE
    return Ruling(
        verdict=verdict,
        risk=risk,
        confidence=_confidence(verdict, risk, advice),
        decided_by=decided_by,
        reason=_reason(analysis, permit, advice, because, is_asked=verdict is Verdict.ASK),
        message=refusal(analysis, because=because) if verdict is not Verdict.ALLOW else "",
    )


def _confidence(verdict: Verdict, risk: Risk, advice: Advice | None) -> float:
    if verdict is Verdict.ASK:
        return 0.0
    if risk is Risk.MEDIUM and advice is not None:
        return advice.confidence
    return LOW_CONFIDENCE


def _reason(
    analysis: Analysis, permit: Permit, advice: Advice | None, because: str, *, is_asked: bool
) -> str:
    worst = analysis.worst
    parts = [f"{worst.part}: {worst.explanation}" if worst.part else worst.explanation]
    if permit is not Permit.WITHIN:
        parts.append(f"{permit}: {because}" if because else str(permit))
    if advice is not None and worst.risk is Risk.MEDIUM:
        parts.append(f"the brain says: {advice.reason}")
    if is_asked and worst.risk is Risk.LOW:
        parts.append("a person is asked about LOW here, too")
    return "; ".join([*(part.removesuffix(".") for part in parts[:-1]), parts[-1]])


def decision_table_markdown() -> str:
    """The table for the docs."""
    head = "| | risk | " + " | ".join(f"brain: {opinion}" for opinion in _OPINIONS) + " |"
    lines = [head, "|---|---|" + "---|" * len(_OPINIONS)]
    for (permit, risk), verdicts in _ROWS.items():
        lines.append(f"| {permit} | {risk} | " + " | ".join(verdicts) + " |")
    return "\n".join(lines)


class PermissionBrain(Protocol):
    """Anything that can have an opinion on a tool call."""

    async def evaluate_permission(self, call: ToolCall, assessment: Assessment) -> Advice | None:
        """An opinion; None or any error means that nobody could be asked."""
        ...


class DecisionEngine:
    """Decides tool calls for one task: its project, its authority, a person's rules."""

    def __init__(
        self,
        *,
        settings: PermissionSettings,
        authority: Authority,
        brain: PermissionBrain | None = None,
        rules: tuple[Rule, ...] = (),
        is_sandboxed: bool = False,
    ) -> None:
        self._settings, self._authority, self._brain = settings, authority, brain
        self._rules, self._is_sandboxed = rules, is_sandboxed

    async def rule_on(self, call: ToolCall) -> tuple[Analysis, Ruling]:
        """
        The ruling with what it rests on. Never raises: what cannot be judged is HIGH, and a brain
        that fails has no opinion.
        """
        analysis = analyse(call, self._settings)
        permit, because = self.permit(analysis, call)
        advice = await self._advice(analysis, permit, call)
        return analysis, decide(analysis, permit, advice, self._settings, because=because)

    def permit(self, analysis: Analysis, call: ToolCall) -> tuple[Permit, str]:
        """What stands above any opinion about this call, and why."""
        told = standing(self._rules, analysis, call)
        if analysis.is_forbidden:
            return Permit.FORBIDDEN, ""
        if told is Standing.DENIED:
            return (
                Permit.FORBIDDEN,
                f"a rule of the person denies it: {self._named(analysis, call)}",
            )
        if over := self._overreach(analysis, call):
            return Permit.BEYOND, over
        if told is Standing.ALLOWED:
            return Permit.RULED, self._named(analysis, call)
        return Permit.WITHIN, ""

    def _overreach(self, analysis: Analysis, call: ToolCall) -> str:
        if self._authority == _EVERYTHING:  # nothing is beyond it, and a look at the disk is saved
            return ""
        territory = Territory(str(call.project), self._settings)
        return overreach(analysis, self._authority, territory, is_sandboxed=self._is_sandboxed)

    def _named(self, analysis: Analysis, call: ToolCall) -> str:
        return named(deciding_rules(self._rules, analysis, call))

    async def _advice(self, analysis: Analysis, permit: Permit, call: ToolCall) -> Advice | None:
        """What is written into a guarded place is a person's, whatever a brain thinks of it."""
        if self._brain is None or (permit, analysis.risk) != (Permit.WITHIN, Risk.MEDIUM):
            return None
        if analysis.is_guarded or not self._settings.is_whole:
            return None
        try:
            return await self._brain.evaluate_permission(call, analysis.assessment())
        except Exception:  # noqa: BLE001  # thinking may fail; deciding may not
            _log.exception("the brain could not be asked")
            return None
