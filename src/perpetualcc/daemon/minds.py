"""The brains of this engine's sessions: they answer questions and advise on tool calls."""

import logging
from collections.abc import Sequence
from pathlib import Path

from perpetualcc.agent.ports import Judgement
from perpetualcc.brain.port import Brain, BrainUnavailable
from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.decisions import Advice, DecidedBy, Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.risk_classifier import classify_risk
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.requirements import parse_requirements, read_text

log = logging.getLogger(__name__)


class Minds:
    """One brain for each session, and what it is told of the session."""

    def __init__(self) -> None:
        self._rules = RuleBasedBrain(parse_requirements)

    def of(self, session: Session) -> Brain:
        return self._rules

    def context(self, session: Session, task: Task | None = None) -> QuestionContext:
        """What the brain is told. Requirements that cannot be read are no requirements."""
        path = session.options.requirements
        return QuestionContext(
            project=str(session.project),
            current_task=task.prompt if task else "",
            requirements_text=_text_of(path),
            requirements_path=path,
        )


def _text_of(path: str) -> str:
    if not path:
        return ""
    try:
        return read_text(Path(path))
    except PerpetualError as error:
        log.warning("requirements %s: %s", path, error.message)
        return ""


class BrainAnswerer:
    """`agent.ports.Answerer`."""

    def __init__(self, minds: Minds) -> None:
        self._minds = minds

    async def answer(
        self, questions: Sequence[Question], session: Session, task: Task
    ) -> Sequence[BrainAnswer]:
        context = self._minds.context(session, task)
        return [await self._answer(question, session, context) for question in questions]

    async def _answer(
        self, question: Question, session: Session, context: QuestionContext
    ) -> BrainAnswer:
        try:
            return await self._minds.of(session).answer_question(question, context)
        except BrainUnavailable as error:
            return BrainAnswer(selected=(), confidence=0.0, reasoning=error.message)


class PolicyGatekeeper:
    """
    LOW goes on, MEDIUM goes to the brain, HIGH goes to a person (seed 000, Component 2).

    A brain that cannot be asked, or is not sure, leaves it to a person.
    """

    def __init__(self, settings: PermissionSettings, minds: Minds) -> None:
        self._settings = settings
        self._minds = minds

    async def judge(self, call: ToolCall, session: Session) -> Judgement:
        assessment = classify_risk(call, self._settings)
        reason = "; ".join(reason.explanation for reason in assessment.reasons[:3])
        if assessment.risk is Risk.LOW and session.options.auto_approve:
            return Judgement(
                verdict=Verdict.ALLOW, risk=assessment.risk, confidence=0.95, reason=reason
            )
        if assessment.risk is Risk.MEDIUM:
            advice = await self._advice(call, assessment, session)
            if advice.approve and advice.confidence >= session.options.confidence:
                return Judgement(
                    verdict=Verdict.ALLOW,
                    risk=assessment.risk,
                    confidence=advice.confidence,
                    reason=f"{reason}: {advice.reason}",
                    decided_by=DecidedBy.BRAIN,
                )
        return Judgement(verdict=Verdict.ASK, risk=assessment.risk, confidence=0.0, reason=reason)

    async def _advice(self, call: ToolCall, assessment: Assessment, session: Session) -> Advice:
        try:
            return await self._minds.of(session).evaluate_permission(
                call, assessment, self._minds.context(session)
            )
        except BrainUnavailable as error:
            return Advice(approve=False, confidence=0.0, reason=error.message)
