"""
What holds for every brain: risky questions are for a person, a brain that is not sure is followed
by a second one, brains that fail are replaced by the rules and then by a person, and a
low-confidence "approve" never approves.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
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
Opinion = TypeVar("Opinion", BrainAnswer, Advice)

_log = logging.getLogger(__name__)


class _Patient:
    """A brain that is left alone for a while when it let us wait for nothing."""

    def __init__(self, brain: Brain, steady: Callable[[], float]) -> None:
        self.brain = brain
        self._steady = steady
        self._rest = 0.0
        self._rests_until = 0.0
        self._left_alone = ""

    async def ask(self, ask: Callable[[Brain], Awaitable[T]]) -> T:
        """Raises `BrainUnavailable`, while it is left alone without asking."""
        began = self._steady()
        if began < self._rests_until:
            raise BrainUnavailable(self._left_alone)
        try:
            found = await ask(self.brain)
        except BrainUnavailable as error:
            if self._steady() - began >= _SLOW:
                self._rest = min(_LONGEST_REST, max(_REST, 2 * self._rest))
                self._rests_until = self._steady() + self._rest
                self._left_alone = f"{error.message}; it is left alone for {duration(self._rest)}"
            raise
        self._rest = 0.0
        return found


class FallbackBrain:
    """
    Brains, the rules behind them, and a person behind those. Never raises `BrainUnavailable`.

    Each is asked what those before it are not sure of, and of opinions that are all unsure the
    surest is given, the later one of two that are equally sure.
    """

    def __init__(
        self,
        brains: Sequence[Brain],
        rules: RuleBasedBrain,
        *,
        threshold: float = THRESHOLD,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._brains = [_Patient(one, steady) for one in brains]
        self._rules = rules
        self._threshold = threshold

    @property
    def name(self) -> str:
        """Of the brain that is asked first."""
        return self.first.name

    @property
    def first(self) -> Brain:
        """The brain itself, without what stands behind it."""
        return self._brains[0].brain

    @property
    def usage(self) -> BrainUsage:
        """Of all of them together."""
        return reduce(add, (one.brain.usage for one in self._brains))

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """A brain's answer, or the rules', or none; never one to a risky question."""
        if (left := left_to_a_person(question)) is not None:
            return left
        try:
            answer, who = await self._surest(
                lambda brain: brain.answer_question(question, context),
                lambda answer: answer.confidence >= self._threshold,
            )
        except BrainUnavailable as error:
            _log.warning("%s; the rules answer instead", error.message)
            answer = await self._rules.answer_question(question, context)
            who = _instead(error)
        told = replace(answer, reasoning=f"{answer.reasoning} {who}".rstrip(), by=who)
        return unless_risky(question, told)

    async def evaluate_permission(
        self, call: ToolCall, assessment: Assessment, context: QuestionContext
    ) -> Advice:
        """A brain's advice, or the rules'; an unsure approval is none."""
        if assessment.risk is Risk.HIGH:
            return Advice(approve=False, confidence=0.0, reason="Only a person may allow this")
        try:
            advice, who = await self._surest(
                lambda brain: brain.evaluate_permission(call, assessment, context),
                lambda advice: advice.confidence >= self._needed(advice),
            )
        except BrainUnavailable as error:
            _log.warning("%s; the rules advise instead", error.message)
            advice = await self._rules.evaluate_permission(call, assessment, context)
            who = _instead(error)
        advice = replace(advice, reason=f"{advice.reason} {who}".rstrip())
        if advice.approve and advice.confidence < self._threshold:
            return Advice(approve=False, confidence=0.0, reason=f"Not sure enough: {advice.reason}")
        return advice

    def _needed(self, advice: Advice) -> float:
        return self._threshold if advice.approve else THRESHOLD

    async def summarize(self, text: str, *, words: int = 120) -> str:
        """The first brain's summary, or the first words."""
        try:
            return await self._brains[0].ask(lambda brain: brain.summarize(text, words=words))
        except BrainUnavailable as error:
            _log.warning("%s; the text is cut instead", error.message)
            return await self._rules.summarize(text, words=words)

    async def _surest(
        self, ask: Callable[[Brain], Awaitable[Opinion]], is_sure: Callable[[Opinion], bool]
    ) -> tuple[Opinion, str]:
        """An opinion and, where it is not the first brain's, who has it. Raises the first's."""
        found: list[tuple[Opinion, str]] = []
        failures: list[BrainUnavailable] = []
        for one in self._brains:
            try:
                opinion = await one.ask(ask)
            except BrainUnavailable as error:
                failures.append(error)
                continue
            who = "" if one is self._brains[0] else f"(second opinion: {one.brain.name})"
            found.append((opinion, who))
            if is_sure(opinion):
                return opinion, who
        if not found:
            raise failures[0]
        return max(reversed(found), key=lambda one: one[0].confidence)


def _instead(error: BrainUnavailable) -> str:
    """Who advised, and why: a person reads it beside the answer."""
    return f"(rules: {'; '.join(filter(None, (error.message, error.hint)))})"
