"""
Asking a model whether a remark is a rule, and what may be believed of its wording.

Only what a user typed can become a rule (FIELD, S17). The assistant's text is before the model
too, and may repeat what a page or a file says, so the wording is held against the user's words.
"""

import re
from collections.abc import Mapping
from typing import Any

from perpetualcc.brain.prompting import MalformedReply, data_block, json_object
from perpetualcc.domain.corrections import Remark, RemarkReading
from perpetualcc.domain.secrets import redact

LONGEST_RULE = 200
"""Characters."""
_MESSAGE = 4_000
_ASSISTANT = 2_000
_COMMANDS = re.compile(r"https?:|www\.|[|;&$`<>{}\\]|\S/\S|~/|--?\w|\b[\w-]+\.[a-z]{2,}\b")
"""What can be run or fetched; a rule may have it only in the user's own words."""
_WORDS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]{2,}")

CORRECTION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"lasting_correction": {"type": "boolean"}, "rule": {"type": "string"}},
    "required": ["lasting_correction", "rule"],
}


def correction_prompt(remark: Remark) -> str:
    """Everything a model needs to confirm a remark."""
    blocks = [
        data_block("what the agent said before", remark.assistant[-_ASSISTANT:]),
        data_block("the user's message", remark.message[:_MESSAGE]),
        data_block("the classifier's rule", remark.rule),
    ]
    return "\n\n".join(blocks)


def read_correction(text: str, remark: Remark) -> RemarkReading:
    """
    A reply as a reading; its wording is empty where it cannot be believed.

    Raises:
        MalformedReply: it is not an object of the asked shape.
    """
    data = json_object(text)
    is_rule, rule = data.get("lasting_correction"), data.get("rule", "")
    if not isinstance(is_rule, bool) or not isinstance(rule, str):
        raise MalformedReply("lasting_correction is not true or false, or rule is not text")
    worded = redact(" ".join(rule.split()))
    return RemarkReading(is_rule=is_rule, rule=worded if _is_theirs(worded, remark) else "")


def _is_theirs(rule: str, remark: Remark) -> bool:
    """Short, about what the user spoke of, and with nothing to run that they did not type."""
    if not rule or len(rule) > LONGEST_RULE:
        return False
    typed = " ".join(remark.message.split()).casefold()
    pieces = [word for word in rule.casefold().split() if _COMMANDS.search(word)]
    if any(piece.strip(".,;:!?\"'()`") not in typed for piece in pieces):
        return False
    return bool(_topics(rule) & (_topics(remark.message) | _topics(remark.rule)))


def _topics(text: str) -> set[str]:
    """Words, and pairs of characters where words are not spaced."""
    runs = _UNSPACED.findall(text)
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    return pairs | {word.casefold() for word in _WORDS.findall(text) if len(word) > 1}
