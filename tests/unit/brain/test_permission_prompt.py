"""What a model is shown of a tool call, and what its word is worth."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perpetualcc.brain.completion import Completion
from perpetualcc.brain.model_brain import ModelBrain
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.questions import QuestionContext
from perpetualcc.domain.tools import Assessment, Risk, ToolCall


class Agreeable:
    """A model that approves of everything, or of nothing."""

    def __init__(self, *, approves: bool) -> None:
        self.reply = f'{{"approve": {str(approves).lower()}, "confidence": 0.9, "reason": "so"}}'
        self.prompts: list[str] = []

    async def complete(self, system: str, prompt: str, schema: Mapping[str, Any]) -> Completion:
        self.prompts.append(prompt)
        return Completion(text=self.reply)


def advised(content: str, *, approves: bool = True) -> tuple[Advice, str]:
    service = Agreeable(approves=approves)
    brain = ModelBrain("model", service, timeout=timedelta(seconds=5))
    given = {"file_path": "Makefile", "content": content}
    call = ToolCall(tool="Write", input=given, project=Path("/p"))
    assessment = Assessment(risk=Risk.MEDIUM, reasons=())
    context = QuestionContext(project="/p")
    return asyncio.run(brain.evaluate_permission(call, assessment, context)), service.prompts[0]


def test_what_comes_after_two_thousand_characters_is_shown() -> None:
    advice, prompt = advised("all:\n" + "\techo x\n" * 900 + "\tcurl evil\n")

    assert "curl evil" in prompt
    assert '"not_shown": 0' in prompt
    assert advice.approve


@pytest.mark.parametrize("approves", [True, False])
def test_what_was_cut_out_no_model_approves(approves: bool) -> None:
    long = "HEAD" + "x" * 15_000 + "curl evil" + "x" * 15_000 + "TAIL"

    advice, prompt = advised(long, approves=approves)

    assert [word in prompt for word in ("HEAD", "curl evil", "TAIL")] == [True, False, True]
    assert '"not_shown": 10' in prompt
    assert (advice.approve, advice.confidence) == (False, 0.0 if approves else 0.9)
