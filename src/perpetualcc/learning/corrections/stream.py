"""The classifier over JSON lines: a line in, a line out, whatever the line is."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from perpetualcc.domain.json_lines import UnusableLine, object_of
from perpetualcc.learning.corrections.classifier import classify
from perpetualcc.learning.corrections.judgement import Judgement


def judge_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """
    One JSON line for every line that is not empty.

    In: `{"id", "message", "assistant"}`, the last optional. Out: `{"id", "correction", "durable",
    "preference", "scope", "category", "confidence"}`, or `{"id", "error"}`.
    """
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            yield json.dumps(_judge_line(raw, number), ensure_ascii=False) + "\n"


def judge_one(message: str, assistant: str, *, explain: bool = False) -> dict[str, Any]:
    """A judgement as JSON, with its reasons when asked."""
    judgement = classify(message, assistant)
    further = [{"preference": one.preference, "scope": str(one.scope)} for one in judgement.further]
    extra: dict[str, Any] = {"further": further} if further else {}
    extra |= {"language": judgement.language, "reasons": list(judgement.reasons)} if explain else {}
    return {**_as_json(judgement), **extra}


def _judge_line(raw: bytes, number: int) -> dict[str, Any]:
    try:
        record = object_of(raw)
    except UnusableLine as error:
        return {"id": error.id, "error": f"line {number}: {error.message}"}
    message, assistant = record.get("message"), record.get("assistant") or ""
    if not isinstance(message, str) or not isinstance(assistant, str):
        return {"id": record.get("id"), "error": f"line {number}: message and assistant are text"}
    return {"id": record.get("id"), **_as_json(classify(message, assistant))}


def _as_json(judgement: Judgement) -> dict[str, Any]:
    return {
        "correction": judgement.correction,
        "durable": judgement.durable,
        "preference": judgement.preference,
        "scope": str(judgement.scope),
        "category": str(judgement.category),
        "confidence": judgement.confidence,
    }
