"""
What holds for every brain: risky questions are for a person, a brain that fails is replaced by
the rules and then by a person, and a low-confidence "approve" never approves.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from perpetualcc.brain.port import Brain, BrainUnavailable, BrainUsage
from perpetualcc.brain.rule_based import RuleBasedBrain, left_to_a_person, unless_risky
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext
from perpetualcc.domain.times import duration
from perpetualcc.domain.tools import Assessment, Risk, ToolCall

THRESHOLD = 0.7
"""Seed 000, `confidence_threshold`."""

_SLOW = 5.0
"""Seconds. To ask who refuses at once costs nothing; Claude waits for who lets us wait."""
_REST, _LONGEST_REST = 60.0, 900.0
"""Seconds in which a brain that let us wait for nothing is not asked; doubled each time."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class FallbackBrain:
    """A brain, the rules behind it, and a person behind them. Never raises `BrainUnavailable`."""

    def __init__(
        self,
        brain: Brain,
        rules: RuleBasedBrain,
        *,
        threshold: float = THRESHOLD,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._brain = brain
        self._rules = rules
        self._threshold = threshold
        self._steady = steady
        self._rest = 0.0
        self._rests_until = 0.0
        self._left_alone = ""

    @property
    def name(self) -> str:
        """Of the brain that is asked first."""
        return self._brain.name

    @property
    def first(self) -> Brain:
        """The brain itself, without what stands behind it."""
        return self._brain

    @property
    def usage(self) -> BrainUsage:
        """Of the brain that is asked first."""
        return self._brain.usage

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """The brain's answer, or the rules', or none; never one to a risky question."""
        if (left := left_to_a_person(question)) is not None:
            return left
        try:
            answer = await self._ask(lambda: self._brain.answer_question(question, context))
        except BrainUnavailable as error:
            _log.warning("%s; the rules answer instead", error.message)
            answer = await self._rules.answer_question(question, context)
            return replace(answer, reasoning=f"{answer.reasoning} {_instead(error)}")
        return unless_risky(question, answer)

    async def evaluate_permission(
        self, call: ToolCall, assessment: Assessment, context: QuestionContext
    ) -> Advice:
        """The brain's advice, or the rules'; an unsure approval is none."""
        if assessment.risk is Risk.HIGH:
            return Advice(approve=False, confidence=0.0, reason="Only a person may allow this")
        try:
            advice = await self._ask(
                lambda: self._brain.evaluate_permission(call, assessment, context)
            )
        except BrainUnavailable as error:
            _log.warning("%s; the rules advise instead", error.message)
            advice = await self._rules.evaluate_permission(call, assessment, context)
            advice = replace(advice, reason=f"{advice.reason} {_instead(error)}")
        if advice.approve and advice.confidence < self._threshold:
            return Advice(approve=False, confidence=0.0, reason=f"Not sure enough: {advice.reason}")
        return advice

    async def summarize(self, text: str, *, words: int = 120) -> str:
        """The brain's summary, or the first words."""
        try:
            return await self._ask(lambda: self._brain.summarize(text, words=words))
        except BrainUnavailable as error:
            _log.warning("%s; the text is cut instead", error.message)
            return await self._rules.summarize(text, words=words)

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask the brain. One that let us wait for nothing is left alone for a while."""
        began = self._steady()
        if began < self._rests_until:
            raise BrainUnavailable(self._left_alone)
        try:
            found = await ask()
        except BrainUnavailable as error:
            if self._steady() - began >= _SLOW:
                self._rest = min(_LONGEST_REST, max(_REST, 2 * self._rest))
                self._rests_until = self._steady() + self._rest
                self._left_alone = f"{error.message}; it is left alone for {duration(self._rest)}"
            raise
        self._rest = 0.0
        return found


def _instead(error: BrainUnavailable) -> str:
    """Who advised, and why: a person reads it beside the answer."""
    return f"(rules: {'; '.join(filter(None, (error.message, error.hint)))})"
