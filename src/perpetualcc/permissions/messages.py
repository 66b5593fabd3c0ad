"""What Claude reads when it was refused: what, why, and what it may do instead."""

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import Analysis, Finding
from perpetualcc.permissions.knowledge import load_table

_LONGEST = 160


def refusal(analysis: Analysis, *, because: str = "") -> str:
    """
    A few sentences; the worst part first.

    `because`: why an authority or a rule refuses, whatever the risk is.
    """
    worst = analysis.worst
    part = " ".join(worst.part.split())[:_LONGEST]
    without = "" if because or analysis.is_forbidden else " without a person"
    why = (because or worst.explanation).rstrip(".")
    lines = [f"Not allowed{without}: {part}" if part else f"Not allowed{without}.", f"Why: {why}."]
    others = sum(1 for finding in analysis.findings if finding.risk is Risk.HIGH) - 1
    if others > 0 and not because:
        lines.append(f"{others} more findings about it are HIGH.")
    return "\n".join([*lines, f"Instead: {alternative(worst)}"])


def alternative(finding: Finding) -> str:
    """What to do instead, by the rule that refused."""
    table = load_table("alternatives")
    for entry in table["alternative"]:
        if any(finding.rule == rule or finding.kind.startswith(rule) for rule in entry["for"]):
            return str(entry["text"])
    return str(table["otherwise"])
