"""Which of a person's rules decided a call, for the reason that a person reads."""

from collections.abc import Sequence
from dataclasses import replace

from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.effects import Analysis
from perpetualcc.permissions.rules import Rule, Standing, standing


def deciding_rules(rules: Sequence[Rule], analysis: Analysis, call: ToolCall) -> tuple[Rule, ...]:
    """
    The rules that `standing` rests on, each once.

    Every rule that denies; or for each part that had to be covered the first that allows it.
    """
    told = standing(rules, analysis, call)
    if told is Standing.DENIED:
        return tuple(one for one in rules if standing((one,), analysis, call) is told)
    if told is Standing.SILENT:
        return ()
    parts = [
        replace(analysis, findings=(finding,))
        for finding in analysis.findings
        if finding.risk is not Risk.LOW
    ]
    first = (next(one for one in rules if standing((one,), part, call) is told) for part in parts)
    return tuple(dict.fromkeys(first))


def named(rules: Sequence[Rule]) -> str:
    """`rule-1a2b3c (Denies command 'git push' everywhere)`."""
    return ", ".join(f"{rule.id} ({rule.explain()})" for rule in rules)
