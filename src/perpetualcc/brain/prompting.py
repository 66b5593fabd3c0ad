"""
Prompts, and what may be believed of the replies.

What comes from the project, the agent or the web is put into marked blocks in which no mark can
end early, with secrets taken out; see `prompts/`.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext, no_opinion
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.tools import Assessment, ToolCall

# Seed 000 gives a brain five pieces of code and three episodes; the rest is cut, not the meaning.
_REQUIREMENTS = 24_000
_PIECE = 2_000
_CALL = 20_000
_CODE = 5
_MEMORIES = 8
_NO_REASON = "It gives no reason"


class MalformedReply(ValueError):  # noqa: N818  # what it is, not what went wrong with us
    """A reply that is not of the asked shape."""


@cache
def system_prompt(name: str) -> str:
    """One of the files in `prompts/`."""
    return files("perpetualcc.brain").joinpath("prompts", f"{name}.md").read_text("utf-8")


def data_block(name: str, value: Any) -> str:
    """A block of data. Angle brackets are written as JSON escapes, so nothing inside ends it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    # A name may be a file's, which strangers gave.
    return f'<data name="{_safe(" ".join(name.split()), quotes=True)}">\n{_safe(text)}\n</data>'


def _safe(text: str, *, quotes: bool = False) -> str:
    safe = redact(text).replace("<", "\\u003c").replace(">", "\\u003e")
    return safe.replace('"', "\\u0022") if quotes else safe


def _context(context: QuestionContext) -> list[str]:
    blocks = []
    if context.current_task:
        blocks.append(data_block("current task", context.current_task[:_PIECE]))
    if context.requirements_text:
        blocks.append(data_block("requirements", context.requirements_text[:_REQUIREMENTS]))
    blocks += [
        data_block(f"code {one.path}:{one.start}", one.text[:_PIECE])
        for one in context.code[:_CODE]
    ]
    if context.memories:
        blocks.append(data_block("memories", "\n".join(context.memories[:_MEMORIES])))
    return blocks


def answer_prompt(question: Question, context: QuestionContext) -> str:
    """Everything a model needs to answer a question."""
    asked = {
        "question": question.text,
        "header": question.header,
        "multi_select": question.multi_select,
        "options": [
            {"label": one.label, "description": one.description}
            | ({"preview": one.preview[:_PIECE]} if one.preview else {})
            for one in question.options
        ],
    }
    return "\n\n".join([*_context(context), data_block("question", asked)])


def answer_schema(question: Question) -> dict[str, Any]:
    """The shape of an answer: labels as offered, and no others."""
    labels = [option.label for option in question.options]
    return {
        "type": "object",
        "properties": {
            "labels": {"type": "array", "items": {"type": "string", "enum": labels}},
            "confidence": {"type": "number"},
            "reasoning": {"type": "string"},
            "quote": {"type": "string"},
        },
        "required": ["labels", "confidence", "reasoning", "quote"],
    }


def read_answer(text: str, question: Question, context: QuestionContext) -> BrainAnswer:
    """
    A reply as an answer, as far as it can be believed; otherwise an answer without an opinion.

    Raises:
        MalformedReply: it is not an object of the asked shape.
    """
    data = json_object(text)
    labels = data.get("labels", [])
    labels = [labels] if isinstance(labels, str) else labels
    if not isinstance(labels, list):
        raise MalformedReply("labels is not a list")
    # A null chooses nothing, and no option that is called "None".
    chosen = tuple(dict.fromkeys(str(label) for label in labels if label is not None))
    offered = {option.label for option in question.options}
    reasoning = _text(data, "reasoning")
    unknown = [label for label in chosen if label not in offered]
    if unknown:
        return no_opinion(f"The model chose {unknown[0][:80]!r}, which is not offered")
    if len(chosen) > 1 and not question.multi_select:
        return no_opinion("The model chose several of which one may be chosen")
    if not chosen:
        return no_opinion(reasoning or "The model has no opinion")
    return BrainAnswer(
        selected=chosen,
        confidence=_confidence(data.get("confidence")),
        reasoning=reasoning or _NO_REASON,
        quote=_true_quote(str(data.get("quote") or ""), context),
    )


def _true_quote(quote: str, context: QuestionContext) -> str:
    """The quote with its place, when it is really there."""
    wanted = " ".join(quote.split())
    if len(wanted) < 3:
        return ""
    places = [
        (context.requirements_path or "requirements", 1, context.requirements_text),
        *((one.path, one.start, one.text) for one in context.code),
    ]
    for path, first, text in places:
        for number, line in enumerate(text.splitlines(), start=first):
            if wanted in " ".join(line.split()):
                return f"{path}:{number}: {wanted}"
    return next((one for one in context.memories if wanted in one), "")


def permission_prompt(call: ToolCall, assessment: Assessment, context: QuestionContext) -> str:
    """Everything a model needs to advise on a call; of a long one head and tail."""
    given, cut = _call_input(call), not_shown(call)
    asked = {
        "tool": call.tool,
        "input": given if not cut else f"{given[: _CALL // 2]} […] {given[-_CALL // 2 :]}",
        "not_shown": cut,
        "risk": assessment.risk.value,
        "reasons": [one.explanation for one in assessment.reasons],
    }
    return "\n\n".join([*_context(context), data_block("tool call", asked)])


def not_shown(call: ToolCall) -> int:
    """How many characters of a call's input the prompt leaves out of its middle."""
    return max(0, len(_call_input(call)) - _CALL)


def _call_input(call: ToolCall) -> str:
    return json.dumps(dict(call.input), ensure_ascii=False, default=str)


PERMISSION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean"},
        "confidence": {"type": "number"},
        "reason": {"type": "string"},
    },
    "required": ["approve", "confidence", "reason"],
}

SUMMARY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}


def read_advice(text: str) -> Advice:
    """
    A reply as advice.

    Raises:
        MalformedReply: it is not an object of the asked shape.
    """
    data = json_object(text)
    if not isinstance(data.get("approve"), bool):
        raise MalformedReply("approve is not true or false")
    return Advice(
        approve=data["approve"],
        confidence=_confidence(data.get("confidence")),
        reason=_text(data, "reason") or _NO_REASON,
    )


def summary_prompt(text: str, words: int) -> str:
    """A text to summarize, and how long the summary may be."""
    return f"At most {words} words.\n\n{data_block('text', text[: 4 * _REQUIREMENTS])}"


def read_summary(text: str) -> str:
    """
    A reply as a summary.

    Raises:
        MalformedReply: it is not an object of the asked shape.
    """
    summary = json_object(text).get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise MalformedReply("summary is not text")
    return redact(summary.strip())


def json_object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise MalformedReply("it says nothing")
    inner = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        data = json.loads(inner)
    except (ValueError, RecursionError) as error:
        raise MalformedReply("not JSON") from error
    if not isinstance(data, dict):
        raise MalformedReply("not an object")
    return data


def _text(data: Mapping[str, Any], name: str) -> str:
    return redact(str(data.get(name) or ""))[:_PIECE]


def _confidence(value: Any) -> float:
    """A chance. Another number (17, of a hundred?) says nothing of how sure a model is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else 0.0
