"""What to type to answer a request: the same in lists, in lines as they come, and in messages."""

from collections.abc import Mapping, Sequence
from typing import Any


def how_to_answer(number: int, kind: str, questions: Sequence[Mapping[str, Any]] = ()) -> str:
    """A shell refuses the line as a whole, where `|` would run half of it."""
    match kind:
        case "permission":
            words = "--approve (or --deny)"
        case "error":
            words = 'retry (or "give up")'
        case _ if questions and questions[0].get("yes_or_no"):
            words = '--approve (or --deny, or "…")'
        case _:
            words = " ".join(['"…"'] * max(1, len(questions)))
    return f"pcc respond {number} {words}"
