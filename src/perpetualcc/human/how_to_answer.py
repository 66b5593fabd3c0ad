"""What to type to answer a request: the same in lists, in lines as they come, and in messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from perpetualcc.domain.escalations import ALWAYS

Parts = Sequence[Mapping[str, Any]]


def how_to_answer(number: int, kind: str, questions: Parts = (), options: Parts = ()) -> str:
    """A shell refuses the line as a whole, where `|` would run half of it."""
    match kind:
        case "permission" if offer_in(options):
            words = "--approve (or --always, --deny)"
        case "permission":
            words = "--approve (or --deny)"
        case "error":
            words = 'retry (or "give up")'
        case _ if questions and questions[0].get("yes_or_no"):
            words = '--approve (or --deny, or "…")'
        case _ if len(questions) == 1 and len(questions[0].get("options") or ()) > 1:
            words = _choices(questions[0])
        case _:
            words = " ".join(['"…"'] * max(1, len(questions)))
    return f"pcc respond {number} {words}"


def _choices(question: Mapping[str, Any]) -> str:
    """`1 (or 2, or "…")`: the number of an option is quickest, and where it may be, one's own."""
    count = len(question["options"])
    others = "2" if count == 2 else f"2 to {count}"  # two are no range
    return f"1 (or {others})" if question.get("options_only") else f'1 (or {others}, or "…")'


def offer_in(options: Parts) -> str:
    """The offer to make a rule of an approval, in words; empty when there is none."""
    found = (str(one.get("description", "")) for one in options if one.get("label") == ALWAYS)
    return next(found, "")
