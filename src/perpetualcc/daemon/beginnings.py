"""What clients say of a task: when it begins, whether again, and what proves it done."""

import math
from collections.abc import Mapping
from types import UnionType
from typing import Any

from perpetualcc.deferred.repeat import ONCE, Repeated
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tasks import Lane, Planning
from perpetualcc.gateway.methods import Params
from perpetualcc.gateway.protocol import ErrorCode, ProtocolError

BEGINNING: Mapping[str, type | UnionType] = {
    "unattended": bool | None,
    "due": float | None,
    "every": str | None,
    "missed": str | None,
    "when": str | None,
    "checks": list | None,
    "plan": str | None,
}
"""What they may say, and of which type."""
_END_OF_TIME = 253_402_300_800.0
"""The year 10000, in seconds of the epoch: no calendar here goes on."""


def beginning_of(params: Params, now: float) -> dict[str, Any]:
    """
    `due`, `lane` and `payload` of a task. What begins by itself is unattended work.

    Raises PerpetualError for what is not understood, or is said twice.
    """
    due, rule, condition = _due(params), _rule(params), _condition(params)
    if condition:
        due = math.inf
    elif rule is not None and not due:
        due = rule.first(now)
    checks = _checks(params)
    return {
        "due": due,
        "lane": Lane.CRON if params["unattended"] or due else Lane.INTERACTIVE,
        "payload": {
            **({} if rule is None else rule.payload()),
            **({"when": condition} if condition else {}),
            **({"checks": checks} if checks else {}),
            **_planned(params),
        },
    }


def _rule(params: Params) -> Repeated | None:
    """Raises PerpetualError for what is not understood."""
    if params["every"] is None:
        if params["missed"] is not None:
            raise PerpetualError(
                "--missed is about what repeats", hint='Say when: --every "weekday at 2am"'
            )
        return None
    rule = Repeated(params["every"], params["missed"] or ONCE)
    rule.check()
    return rule


def _checks(params: Params) -> list[str]:
    """Raises PerpetualError for one that could only fail, or prove nothing."""
    hint = 'Say a command: --check "make test"'
    return [_command("check", str(one), hint) for one in params["checks"] or []]


def _planned(params: Params) -> dict[str, str]:
    """Raises ProtocolError for a word that says nothing about plans."""
    if params["plan"] is None:
        return {}
    if params["plan"] not in {Planning.ASK, Planning.ALONE}:
        raise ProtocolError(ErrorCode.INVALID_PARAMS, f"plan: {params['plan']!r} is not known")
    return {"plan": params["plan"]}


def _condition(params: Params) -> str:
    """Raises PerpetualError for one that could not hold, or always does; empty: there is none."""
    if params["when"] is None:
        return ""
    hint = 'Say a command: --when "ls inbox/*.md"'
    command = _command("condition", params["when"], hint)
    if params["due"]:
        raise PerpetualError("--when and --at are two beginnings", hint="Say one of them")
    if params["missed"]:
        raise PerpetualError(
            "--missed is about times, and --when looks again at the next one",
            hint="Leave --missed out",
        )
    return command


def _command(noun: str, text: str, hint: str) -> str:
    if not text.strip() or "\0" in text:
        raise PerpetualError(f"A {noun} is empty, or holds a NUL character", hint=hint)
    return text.strip()


def _due(params: Params) -> float:
    """Raises ProtocolError for a time that no clock shows."""
    due = float(params["due"] or 0.0)
    if not 0 <= due < _END_OF_TIME:
        raise ProtocolError(ErrorCode.INVALID_PARAMS, f"due: {due!r} is no time")
    return due


def check_plannable(params: Params, *, is_perpetual: bool, requirements: object = None) -> None:
    """Raises PerpetualError where somebody else plans already."""
    if not params["plan"] or not (is_perpetual or requirements):
        return
    who, hint = "Requirements are a plan", 'Say it as one: pcc start PROJECT --task "…" --plan'
    if is_perpetual:
        who = "A perpetual session makes its own plan"
    else:
        hint += "; what the file says answers, after: pcc init PROJECT --requirements FILE"
    raise PerpetualError(f"{who}, and --plan is for one task in words", hint=hint)
