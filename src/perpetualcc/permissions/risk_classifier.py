"""
`classify_risk`: from a tool call to LOW, MEDIUM or HIGH, with reasons. It never raises.

What is not understood is never LOW: an unknown tool, a missing field, a wrong type, a bug in a
rule. Nothing is run, and only symlinks are looked up on disk.
"""

import logging

from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.effects import Analysis, Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.tools import judge_tool

_log = logging.getLogger(__name__)


def classify_risk(call: ToolCall, policy: PermissionSettings) -> Assessment:
    """How much harm `call` could do, and which rules say so (seed 000, Component 2)."""
    return analyse(call, policy).assessment()


def analyse(call: ToolCall, policy: PermissionSettings) -> Analysis:
    """What `call` would do. Never raises, whatever the input is."""
    try:
        findings = judge_tool(call, Territory(str(call.project), policy), policy)
    except Exception:  # noqa: BLE001  # a gate that raises would let the call through somewhere else
        _log.exception("a rule failed; the call is judged as the worst")
        findings = [_failed(str(call.tool)[:60])]
    return Analysis(findings=tuple(findings))


def _failed(tool: str) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="not-judged", part=tool, kind="not judged",
        explanation="It could not be judged, so a person must decide",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip
