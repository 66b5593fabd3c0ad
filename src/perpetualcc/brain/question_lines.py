"""Questions as JSON: the form of Claude's `AskUserQuestion`, and what people write for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.json_lines import UnusableLine, object_of
from perpetualcc.domain.questions import Option, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """One line of `pcc brain ask --jsonl`."""

    id: Any
    questions: tuple[Question, ...]
    requirements: str
    """A path; empty for none."""


def read_line(line: str) -> QuestionLine:
    """
    Read `{id, question, requirements}`. A line without an id has none: no other stands in for it.

    Raises:
        UnusableLine: it is not JSON, or holds no question.
    """
    value = object_of(line)
    asked = value.get("question", value.get("questions"))
    if isinstance(asked, str):
        asked = {**value, "question": asked}
    requirements = value.get("requirements") or ""
    if not isinstance(requirements, str):
        raise UnusableLine("`requirements` must be a path", value.get("id"))
    try:
        questions = read_questions(asked)
    except PerpetualError as error:
        raise UnusableLine(error.message, value.get("id")) from error
    return QuestionLine(id=value.get("id"), questions=questions, requirements=requirements)


def read_questions(value: Any) -> tuple[Question, ...]:
    """
    The questions in any shape people give them: one, a list, the input of the tool, plain text.

    Raises:
        PerpetualError: there is none, or a part has the wrong type.
    """
    if isinstance(value, Mapping) and isinstance(value.get("questions"), list):
        value = value["questions"]
    if isinstance(value, Mapping) and isinstance(value.get("input"), Mapping):
        return read_questions(value["input"])
    if isinstance(value, str | Mapping):
        value = [value]
    if not isinstance(value, list) or not value:
        raise PerpetualError("There is no `question`")
    return tuple(_question(one) for one in value)


def _question(value: Any) -> Question:
    if isinstance(value, str):
        return Question(text=value)
    if not isinstance(value, Mapping):
        raise PerpetualError("A question must be text or an object")
    text = value.get("question", value.get("text", ""))
    options = value.get("options") or []
    if not isinstance(text, str) or not isinstance(options, list):
        raise PerpetualError("`question` must be text and `options` a list")
    header = value.get("header")
    many = value.get("multiSelect", value.get("multi_select", value.get("multi", False)))
    return Question(
        text=text,
        header=header if isinstance(header, str) else "",
        options=tuple(_option(one) for one in options),
        multi_select=many is True,
    )


def _option(value: Any) -> Option:
    if isinstance(value, str):
        return Option(label=value)
    if isinstance(value, int | float):
        return Option(label=str(value))
    if isinstance(value, Mapping) and isinstance(value.get("label", value.get("value")), str):
        said = {
            name: text
            for name in ("description", "preview")
            if isinstance(text := value.get(name), str)
        }
        return Option(label=value.get("label", value.get("value")), **said)
    raise PerpetualError("An option needs a `label`")
