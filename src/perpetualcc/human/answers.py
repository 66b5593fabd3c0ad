"""From what a person types to an answer. Pure; the same for the command, `attach` and clients."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import EscalationRequest, EscalationType

RETRY, GIVE_UP = "retry", "give up"
"""The two answers to something that went wrong."""

_WORDS = {"retry": RETRY, "again": RETRY, "give up": GIVE_UP, "giveup": GIVE_UP, "stop": GIVE_UP}

YES = frozenset({"a", "approve", "y", "yes", "ok"})
NO = frozenset({"d", "deny", "n", "no"})
"""What people type where something is agreed to, in any case."""

Question = Mapping[str, Any]
"""
As `agent.replies.question_data` makes it: question, header, multiSelect, options. With `amount`
a number is the only answer of one's own, `above` or `below` a bound. With `yes_or_no` the first
option is what an approval says, and the second what a refusal without words does.
"""
_PLACEHOLDERS = frozenset({"…", "..."})
"""Stands for an answer in every command that we print."""

_MOST = 1e15
"""An amount beyond it is a slip of the keyboard."""


class AnswerError(PerpetualError):
    """This answer does not fit the request; it still waits."""


def checked(
    request: EscalationRequest, answer: Mapping[str, Any], *, number: int
) -> Mapping[str, Any]:
    """
    The answer in the form that the agent uses: `approve`, or `answers` and `text`.

    Raises:
        AnswerError: it does not fit, with what would.
    """
    if answer.get("always") and answer.get("approve") is not True:
        raise AnswerError(
            f"Request {number} becomes a rule only with an approval",
            hint=f"pcc respond {number} --always",
        )
    match request.type:
        case EscalationType.QUESTION:
            return _question(request, answer, number)
        case EscalationType.ERROR:
            return _error(answer, number)
        case EscalationType.PERMISSION:
            return _permission(answer, number)
        case EscalationType.REVIEW:
            return _review(answer)


def questions_of(raw: Mapping[str, Any], title: str) -> list[Question]:
    """The questions of a request; one without options when it has none."""
    found = raw.get("questions")
    questions: list[Question] = []
    if isinstance(found, list):
        questions = [one for one in found if isinstance(one, Mapping)]
    return questions or [{"question": title, "header": "", "multiSelect": False, "options": []}]


def choose(question: Question, typed: str) -> str:
    """
    What a typed text means for a question: a label, a number from 1, or the text itself.

    Several, separated by commas, where several may be chosen. A text that is no option is an
    answer of one's own: Claude Code lets people say that too. Where an amount is asked for, only
    an amount is, and where only the options count, only an option.
    Raises:
        AnswerError: nothing, a number that no option has, or no amount where one is asked for.
    """
    text, labels = _said(typed), _labels(question)
    if (one := _chosen(labels, text) or _agreed(question, labels, text)) is not None:
        return one
    if question.get("amount"):
        return _amount(question["amount"], text, labels)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if question.get("multiSelect") and len(parts) > 1:
        found = [_chosen(labels, part) for part in parts]
        if all(label is not None for label in found):
            return ", ".join(dict.fromkeys(str(label) for label in found))
        numbered = [part.isdecimal() for part in parts]
        if any(numbered) and not all(numbered):
            unknown = next(part for part, label in zip(parts, found, strict=True) if label is None)
            raise AnswerError(
                f"There is no option {unknown}",
                hint=f"Options: 1 to {len(labels)}; several like this: 1,{len(labels)}",
            )
    if labels and all(part.isdecimal() for part in parts):
        raise AnswerError(
            f"There is no option {text}", hint=f"Options: 1 to {len(labels)}, or type an answer"
        )
    _refuse_where_only_options_count(question, text, labels)
    return text


def in_own_words(question: Question, typed: str) -> str:
    """
    What a text means that no option's number is: a label, or the text itself.

    Raises:
        AnswerError: nothing, or words where only an option or an amount is an answer.
    """
    text, labels = _said(typed), _labels(question)
    if (one := _labelled(labels, text) or _agreed(question, labels, text)) is not None:
        return one
    if question.get("amount"):
        return _amount(question["amount"], text, labels)
    _refuse_where_only_options_count(question, text, labels)
    return text


def _said(typed: str) -> str:
    text = typed.strip()
    if not text:
        raise AnswerError("The answer is empty", hint="Type an option's number, or an answer")
    if text in _PLACEHOLDERS:
        raise AnswerError(f"{text} stands for an answer", hint="Type yours in its place")
    return text


def _labels(question: Question) -> list[str]:
    return [str(option.get("label", "")) for option in question.get("options", [])]


def _refuse_where_only_options_count(question: Question, text: str, labels: Sequence[str]) -> None:
    if question.get("options_only"):
        raise AnswerError(f"{text!r} is no option", hint=f"Options: 1 to {len(labels)}")


NUMBER = r"(?:\d{1,3}(?:[,_ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
"""Digits alone or in threes: `1,5` is one and a half to half of the world, and never 15."""


def amount_in(text: str) -> float:
    """An amount as people type it (2,000,000 or 1.5M); NaN when there is none."""
    found = re.fullmatch(rf"\s*\$?({NUMBER})\s*([kKmM]?)\s*\$?\s*", text)
    if found is None:
        return math.nan
    scale = {"": 1.0, "k": 1e3, "m": 1e6}[found[2].lower()]
    return float(re.sub(r"[,_ ]", "", found[1])) * scale


def _amount(bounds: Any, text: str, labels: Sequence[str]) -> str:
    """The text, when it is an amount within the bounds; 0 stands for no limit, and is always."""
    known = bounds if isinstance(bounds, Mapping) else {}
    above, below = float(known.get("above", -1.0)), float(known.get("below", _MOST))
    amount = amount_in(text)
    if amount == 0 or above < amount < below:
        return text
    if math.isnan(amount):
        raise AnswerError(
            f"{text!r} is no amount",
            hint=f"Options: 1 to {len(labels)}, or an amount like 1500000, 1.5M or 2.50",
        )
    bound = f"below {below:,.6g}" if "below" in known or amount >= _MOST else f"above {above:,.6g}"
    raise AnswerError(
        f"With {text} nothing could go on",
        hint=f"Options: 1 to {len(labels)}, or an amount {bound}",
    )


def _labelled(labels: Sequence[str], text: str) -> str | None:
    if text in labels:
        return text
    alike = {label for label in labels if label.casefold() == text.casefold()}
    return alike.pop() if len(alike) == 1 else None


def _chosen(labels: Sequence[str], text: str) -> str | None:
    if (one := _labelled(labels, text)) is not None:
        return one
    if text.isdecimal() and text.isascii() and 1 <= int(text[:6]) <= len(labels):
        place = int(text[:6])
        label = labels[place - 1]
        # Two options with one label, or one without: the number says which, so the answer must.
        is_telling = label.strip() and labels.count(label) == 1
        return label if is_telling else f"{label} (option {place})".strip()
    return None


def _agreed(question: Question, labels: Sequence[str], text: str) -> str | None:
    """`yes` is no words for Claude where something is agreed to."""
    word = text.casefold()
    if not question.get("yes_or_no") or word not in YES | NO:
        return None
    return labels[0 if word in YES else 1]


def _question(
    request: EscalationRequest, answer: Mapping[str, Any], number: int
) -> Mapping[str, Any]:
    questions = questions_of(request.raw, request.title)
    if (approve := answer.get("approve")) is not None and questions[0].get("yes_or_no"):
        answer = {"text": _yes_or_no(questions[0], str(answer.get("text") or ""), approve, number)}
    if answer.get("approve") is not None:
        raise AnswerError(
            f"Request {number} is a question; it cannot be approved or denied",
            hint=f'Answer it: pcc respond {number} "…"',
        )
    given = answer.get("answers")
    by_text = given if isinstance(given, Mapping) else {}
    text = str(answer.get("text") or "")
    if text and len(questions) > 1 and not by_text:
        raise AnswerError(
            f"Request {number} asks {len(questions)} questions",
            hint=f"One answer for each, in order: pcc respond {number} "
            + " ".join('"…"' for _ in questions),
        )
    chosen = {
        str(one["question"]): _meant(one, by_text.get(one["question"], text)) for one in questions
    }
    return {"answers": chosen, "text": "; ".join(chosen.values())}


def _meant(question: Question, given: object) -> str:
    """`{"own": "2"}` is the number itself, where `2` would be the second option."""
    if isinstance(given, Mapping):
        return in_own_words(question, str(given.get("own") or ""))
    return choose(question, str(given))


def _yes_or_no(question: Question, words: str, approve: object, number: int) -> str:
    """Raises AnswerError for an approval with words: they would be heeded, or it would."""
    if words and approve is True:
        raise AnswerError(
            "An approval has no words here",
            hint=f'pcc respond {number} --approve, or: pcc respond {number} "…"',
        )
    return words or str(question["options"][0 if approve is True else 1]["label"])


def _permission(answer: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    approve = answer.get("approve")
    if approve is None:
        raise AnswerError(
            f"Request {number} asks for a permission",
            hint=f"pcc respond {number} --approve, or --deny (with your reason, if you like)",
        )
    known = {name: answer[name] for name in ("text", "always") if answer.get(name)}
    return {"approve": bool(approve), **known}


def _review(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Seen is enough, and refuses nothing; an approval counts for the next time."""
    return {name: answer[name] for name in ("approve", "text", "always") if answer.get(name)}


def _error(answer: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    approve = answer.get("approve")
    text = str(answer.get("text") or "").strip().casefold()
    word = _WORDS.get({"1": RETRY, "2": GIVE_UP}.get(text, text))
    if word is None and not text and approve is not None:
        word = RETRY if approve else GIVE_UP
    if word is None:
        raise AnswerError(
            f"Request {number} wants to know what to do about a task that stopped",
            hint=f'pcc respond {number} retry, or: pcc respond {number} "give up"',
        )
    return {"approve": word == RETRY, "text": word}
