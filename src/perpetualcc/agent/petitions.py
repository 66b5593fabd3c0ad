"""What people are asked, made from what Claude wanted. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perpetualcc.agent.inbox import Asked, ToolWanted
from perpetualcc.agent.replies import question_data, sentence, summarize
from perpetualcc.domain.decisions import Ruling
from perpetualcc.domain.escalations import EscalationRequest, EscalationType
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.questions import BrainAnswer
from perpetualcc.domain.tools import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Petitioner:
    """For whom people are asked."""

    session: SessionId
    run: RunId
    task: TaskId
    prompt: str
    """What the task is, for the context."""

    def for_call(self, wanted: ToolWanted, call: ToolCall, ruling: Ruling) -> EscalationRequest:
        """May Claude do this?"""
        return EscalationRequest(
            session=self.session,
            run=self.run,
            task=self.task,
            request=wanted.request,
            type=EscalationType.PERMISSION,
            title=f"Approve: {wanted.tool} {summarize(call)}".strip(),
            context=ruling.reason,
            options=({"label": "Approve"}, {"label": "Deny"}),
            raw={
                "tool": wanted.tool,
                "input": dict(wanted.input),
                "risk": ruling.risk.value,
                "kind": ruling.kind,
                **({} if call.cwd is None else {"cwd": str(call.cwd)}),
            },
            digest=digest(wanted.tool, wanted.input, call.cwd),
            packet={"state": f"Asked while at work on: {self.prompt}"},
        )

    def for_questions(self, asked: Asked, answers: Sequence[BrainAnswer]) -> EscalationRequest:
        """What does Claude want to know? The brain's opinion goes with it."""
        first = asked.questions[0]
        opinions = [", ".join(answer.selected) for answer in answers if answer.selected]
        return EscalationRequest(
            session=self.session,
            run=self.run,
            task=self.task,
            request=asked.request,
            type=EscalationType.QUESTION,
            title=" / ".join(question.text for question in asked.questions),
            context=next((answer.reasoning for answer in answers if answer.reasoning), ""),
            options=tuple(
                {"label": option.label, "description": option.description}
                for option in first.options
            ),
            suggestion="; ".join(opinions) if len(opinions) == len(asked.questions) else "",
            confidence=min((answer.confidence for answer in answers), default=0.0),
            raw={"questions": [question_data(question) for question in asked.questions]},
            digest=questions_digest(asked),
            packet={"state": f"Asked while at work on: {self.prompt}"},
        )


def called(request: EscalationRequest) -> ToolWanted:
    """The call that a permission was asked for."""
    tool, given = str(request.raw["tool"]), dict(request.raw["input"])
    return ToolWanted(request=request.request, tool=tool, input=given)


def to_review(request: EscalationRequest) -> EscalationRequest:
    """What was refused because nobody was there, for somebody to look at some time."""
    return replace(
        request,
        # A request of its own: the permission itself may have been asked for before.
        request=RequestId(f"{request.request}:review"),
        type=EscalationType.REVIEW,
        title=request.title.replace("Approve:", "Refused:", 1),
        context=f"{sentence(request.context)} It was refused, because nobody was there to "
        "approve it. An approval counts once, if Claude asks for exactly this again.",
    )


def digest(tool: str, tool_input: Mapping[str, Any], cwd: Path | None = None) -> str:
    """The same for the same call in the same place, whatever the order of its keys."""
    place = [] if cwd is None else [str(cwd)]
    canonical = json.dumps([tool, tool_input, *place], sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def questions_digest(asked: Asked) -> str:
    """The same for the same questions, whatever their options."""
    return digest("AskUserQuestion", {"questions": [question.text for question in asked.questions]})
