"""What the log says of a run, made from what arrived in its inbox. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from perpetualcc.agent.endings import HINTS
from perpetualcc.agent.inbox import (
    ApiTriedAgain,
    Asked,
    LimitReported,
    Started,
    ToolEnded,
    ToolWanted,
    TroubleReported,
)
from perpetualcc.agent.replies import question_data, summarize
from perpetualcc.domain.decisions import DecidedBy, Decision
from perpetualcc.domain.events import (
    ApiUnanswered,
    BackgroundAwaited,
    Event,
    LimitApproached,
    ProblemNoticed,
    QuestionAnswered,
    QuestionAsked,
    RunInitialized,
    TextSaid,
    ToolDecided,
    ToolFailed,
    ToolFinished,
    ToolRequested,
    UsageReported,
)
from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.domain.questions import BrainAnswer
from perpetualcc.domain.texts import first_line
from perpetualcc.domain.times import duration
from perpetualcc.domain.tools import ToolCall

E = TypeVar("E", bound=Event)

_RESULT = 300
"""Characters of a result that are kept."""
_STUCK = "Look at it with: pcc attach {session}; go on with: pcc resume {session}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvents:
    """The events of one run."""

    session: SessionId
    run: RunId
    task: TaskId

    def wanted(self, wanted: ToolWanted, call: ToolCall) -> ToolRequested:
        """A person is asked about it."""
        return self._event(
            ToolRequested, request=wanted.request, tool=wanted.tool, summary=summarize(call)
        )

    def decided(self, decision: Decision, call: ToolCall) -> ToolDecided:
        return self._event(
            ToolDecided,
            request=decision.request,
            tool=call.tool,
            summary=summarize(call),
            verdict=decision.verdict.value,
            risk=decision.risk.value,
            reason=decision.reason,
            decided_by=decision.decided_by.value,
        )

    def ended(self, ended: ToolEnded, call: ToolCall | None) -> Iterator[Event]:
        """About a result. `call`: what we had not refused."""
        text = ended.text[:_RESULT]
        yield self._event(
            ToolFinished, request=ended.request, is_error=ended.is_error, summary=text
        )
        if ended.is_error and call is not None:
            yield self._event(
                ToolFailed,
                request=ended.request,
                tool=call.tool,
                summary=summarize(call),
                text=text,
            )

    def asked(self, asked: Asked) -> QuestionAsked:
        return self._event(
            QuestionAsked,
            request=asked.request,
            questions=[question_data(question) for question in asked.questions],
        )

    def answered_by_brain(
        self, asked: Asked, chosen: Mapping[str, str], answers: Sequence[BrainAnswer]
    ) -> QuestionAnswered:
        return self._event(
            QuestionAnswered,
            request=asked.request,
            answers=chosen,
            decided_by=DecidedBy.BRAIN.value,
            reason="; ".join(answer.because for answer in answers),
            confidence=min(answer.confidence for answer in answers),
        )

    def started(self, started: Started) -> RunInitialized:
        return self._event(
            RunInitialized,
            model=started.model,
            permission_mode=started.permission_mode,
            claude_version=started.version,
        )

    def said(self, text: str) -> TextSaid:
        return self._event(TextSaid, text=text)

    def used(self, context_tokens: int, context_window: int) -> UsageReported:
        return self._event(
            UsageReported, context_tokens=context_tokens, context_window=context_window
        )

    def awaited(self, text: str) -> BackgroundAwaited:
        return self._event(BackgroundAwaited, text=text)

    def approached(self, limit: LimitReported) -> LimitApproached:
        return self._event(
            LimitApproached,
            window=limit.window,
            utilization=limit.utilization or 0.0,
            resets_at=limit.resets_at,
        )

    def unanswered(self, again: ApiTriedAgain) -> ApiUnanswered:
        status = again.http_status
        what = f"answers with error {status}" if status else "does not answer"
        text = (
            f"The API {what}; it is tried again in {duration(again.pause)}"
            f" (attempt {again.attempt} of {again.most})"
        )
        return self._event(ApiUnanswered, text=text, attempt=again.attempt, http_status=status)

    def troubled(self, trouble: TroubleReported) -> ProblemNoticed:
        hint = HINTS.get(trouble.kind, "").format(session=self.session)
        return self._event(ProblemNoticed, text=trouble.text or trouble.kind, hint=hint)

    def stuck(self, why: str) -> ProblemNoticed:
        """It went round in circles."""
        hint = _STUCK.format(session=self.session)
        return self._event(ProblemNoticed, text=f"Stuck: {why}", hint=hint)

    def word_stopped(self, why: str) -> ProblemNoticed:
        """What a person said did not reach Claude."""
        text = "A hook of the settings kept what you said from Claude"
        told = first_line(why, _RESULT)
        return self._event(ProblemNoticed, text=f"{text}: {told}" if told else text)

    def outdated(self, why: str, hint: str | None) -> ProblemNoticed:
        """What it began with counts no longer."""
        text = f"The run goes on in a new one: {why}"
        return self._event(ProblemNoticed, text=text, hint=hint or "")

    def _event(self, kind: type[E], **facts: Any) -> E:
        return kind(session=self.session, run=self.run, task=self.task, **facts)
