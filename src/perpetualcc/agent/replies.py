"""Pure pieces of the conversation with Claude and with people: rulings, answers, one-liners."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from perpetualcc.domain.decisions import DecidedBy, Ruling, Verdict
from perpetualcc.domain.questions import Question
from perpetualcc.domain.texts import cut
from perpetualcc.domain.tools import Risk, ToolCall

_NOBODY_THERE = (
    "Nobody is there to approve this. Do not try it another way; do what you can without it, "
    "and say at the end what you left and why."
)

HANDOVER_FILE = Ruling(
    verdict=Verdict.ALLOW,
    risk=Risk.LOW,
    confidence=1.0,
    reason="The handover's own file.",
)
KEPT_FOR_A_PERSON = Ruling(
    verdict=Verdict.ASK,
    risk=Risk.HIGH,
    confidence=1.0,
    reason="Claude Code's own rules keep this for a person.",
)
_LONGEST = 160
_SCALAR = (str, int, float)
# The field of a tool's input that says in one line what it is about, most telling first.
_TELLING = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "skill",
    "prompt",
)


def summarize(call: ToolCall) -> str:
    """One line for a person: what it is about, or all that it is given. `…` where it is cut."""
    for name in _TELLING:
        value = call.input.get(name)
        if isinstance(value, str) and value:
            said = _shorten(_relative(value, call) if name.endswith("path") else value)
            is_elsewhere = name == "command" and call.cwd is not None
            return f"{said} [in {_relative(str(call.cwd), call)}]" if is_elsewhere else said
    given = {name: value for name, value in call.input.items() if value not in ("", None)}
    told = [f"{name}: {value}" for name, value in given.items() if isinstance(value, _SCALAR)]
    rest = [] if len(told) == len(given) else ["…"]
    return _shorten(", ".join([*told, *rest])) if told else ""


def _relative(path: str, call: ToolCall) -> str:
    return path.removeprefix(f"{call.project}/")


def _shorten(text: str) -> str:
    return cut(" ⏎ ".join(text.strip().splitlines()), _LONGEST)


def refused_unattended(asked: Ruling | None) -> Ruling:
    """What an unanswered question about a tool call comes to: a refusal that helps."""
    reason = sentence(asked.reason) if asked else "Nobody answered in time."
    return Ruling(
        verdict=Verdict.DENY,
        risk=asked.risk if asked else Risk.HIGH,
        confidence=asked.confidence if asked else 0.0,
        reason=f"{reason} Nobody was there to approve it." if asked else reason,
        message=f"{sentence(asked.message or asked.reason)} {_NOBODY_THERE}"
        if asked
        else _NOBODY_THERE,
        decided_by=asked.decided_by if asked else DecidedBy.TIMEOUT,
    )


def changed_by_a_hook(ruling: Ruling) -> Ruling:
    """Of a call as a hook has made it: otherwise nobody would know it for what Claude wanted."""
    return replace(
        ruling, reason=f"A hook of the settings changed the call to this. {ruling.reason}"
    )


def sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def by_person(answer: Mapping[str, Any], risk: Risk) -> Ruling:
    """A person's word on a call of this risk. Anything but a clear approval is a refusal."""
    if answer.get("expired"):
        return replace(refused_unattended(None), risk=risk)
    text = str(answer.get("text", "")).strip()
    approved = answer.get("approve") is True
    return Ruling(
        verdict=Verdict.ALLOW if approved else Verdict.DENY,
        risk=risk,
        confidence=1.0,
        reason=f"A person {'approved' if approved else 'refused'} it{': ' + text if text else ''}.",
        message="" if approved else f"A person refused this. {text}".strip(),
        decided_by=DecidedBy.PERSON,
    )


def answers_by_person(questions: Sequence[Question], answer: Mapping[str, Any]) -> dict[str, str]:
    """Question text to answer: given one by one in `answers`, or one `text` for all."""
    given = answer.get("answers")
    by_text = given if isinstance(given, Mapping) else {}
    if len(by_text) == len(questions):  # in order: what was written down may have been redacted
        said = [str(one) for one in by_text.values()]
        return {question.text: one for question, one in zip(questions, said, strict=True)}
    text = str(answer.get("text", ""))
    return {question.text: str(by_text.get(question.text, text)) for question in questions}


def question_data(question: Question) -> dict[str, Any]:
    """A question as JSON, for events and escalations."""
    return {
        "question": question.text,
        "header": question.header,
        "multiSelect": question.multi_select,
        "options": [
            {"label": option.label, "description": option.description}
            | ({"preview": option.preview} if option.preview else {})
            for option in question.options
        ],
    }
