"""A brain that asks a model: the same for every service, which is only a `Complete`."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from perpetualcc.brain import corrections, prompting
from perpetualcc.brain.completion import Complete
from perpetualcc.brain.port import BrainUnavailable, BrainUsage
from perpetualcc.domain.corrections import Remark, RemarkReading
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext
from perpetualcc.domain.times import duration
from perpetualcc.domain.tools import Assessment, ToolCall


class ModelBrain:
    """
    Asks a model, and believes of its reply only what can be checked.

    It does not guard: `FallbackBrain` keeps risky questions away from it.
    """

    def __init__(self, name: str, service: Complete, *, timeout: timedelta) -> None:
        self._name = name
        self._service = service
        self._timeout = timeout
        self._usage = BrainUsage()

    @property
    def name(self) -> str:
        """What decisions are recorded under."""
        return self._name

    @property
    def usage(self) -> BrainUsage:
        """Calls, failures, tokens and cost so far."""
        return self._usage

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """See `Brain`."""
        reply = await self._ask(
            "answer",
            prompting.answer_prompt(question, context),
            prompting.answer_schema(question),
        )
        try:
            return prompting.read_answer(reply, question, context)
        except prompting.MalformedReply as error:
            raise self._misunderstood(error) from error

    async def evaluate_permission(
        self, call: ToolCall, assessment: Assessment, context: QuestionContext
    ) -> Advice:
        """See `Brain`. What was not shown to the model, it cannot approve."""
        reply = await self._ask(
            "permission",
            prompting.permission_prompt(call, assessment, context),
            prompting.PERMISSION_SCHEMA,
        )
        try:
            advice = prompting.read_advice(reply)
        except prompting.MalformedReply as error:
            raise self._misunderstood(error) from error
        if advice.approve and (cut := prompting.not_shown(call)):
            reason = f"{cut} characters of the call are more than the brain was shown"
            return Advice(approve=False, confidence=0.0, reason=reason)
        return advice

    async def summarize(self, text: str, *, words: int = 120) -> str:
        """See `Brain`."""
        prompt = prompting.summary_prompt(text, words)
        reply = await self._ask("summary", prompt, prompting.SUMMARY_SCHEMA)
        try:
            return prompting.read_summary(reply)
        except prompting.MalformedReply as error:
            raise self._misunderstood(error) from error

    async def read_remark(self, remark: Remark) -> RemarkReading:
        """
        Whether a remark is a lasting correction, and the rule in one sentence.

        Raises:
            BrainUnavailable: nobody could be asked, or the reply is not of the asked form.
        """
        prompt = corrections.correction_prompt(remark)
        reply = await self._ask("correction", prompt, corrections.CORRECTION_SCHEMA)
        try:
            return corrections.read_correction(reply, remark)
        except prompting.MalformedReply as error:
            raise self._misunderstood(error) from error

    async def _ask(self, system: str, prompt: str, schema: Mapping[str, Any]) -> str:
        self._usage = replace(self._usage, calls=self._usage.calls + 1)
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                reply = await self._service.complete(
                    prompting.system_prompt(system), prompt, schema
                )
        except TimeoutError as error:
            self._failed()
            limit = duration(self._timeout.total_seconds())
            raise BrainUnavailable(f"The brain {self._name!r} took longer than {limit}") from error
        except BrainUnavailable:
            self._failed()
            raise
        self._usage += BrainUsage(
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            own_tokens=reply.input_tokens + reply.output_tokens if reply.is_own else 0,
        )
        return reply.text

    def _failed(self) -> None:
        self._usage = replace(self._usage, failures=self._usage.failures + 1)

    def _misunderstood(self, error: prompting.MalformedReply) -> BrainUnavailable:
        self._failed()
        return BrainUnavailable(f"The brain {self._name!r} does not keep to the form: {error}")
