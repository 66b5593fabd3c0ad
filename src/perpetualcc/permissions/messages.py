"""What Claude reads when it was refused: what, why, and what it may do instead."""

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import Analysis, Finding
from perpetualcc.permissions.knowledge import load_table

_LONGEST = 160


def refusal(analysis: Analysis, *, why_authority: str = "") -> str:
    """At most a few sentences; the worst part first."""
    worst = analysis.worst
    part = " ".join(worst.part.split())[:_LONGEST]
    lines = [f"Not allowed without a person: {part}" if part else "Not allowed without a person."]
    lines.append(
        f"Why: {worst.explanation}."
        if not worst.explanation.endswith(".")
        else f"Why: {worst.explanation}"
    )
    if why_authority:
        lines.append(f"And {why_authority}.")
    others = sum(1 for finding in analysis.findings if finding.risk is Risk.HIGH) - 1
    if others > 0 and worst.risk is Risk.HIGH:
        lines.append(f"{others} more parts of it are judged HIGH.")
    lines.append(f"Instead: {alternative(worst)}")
    return "\n".join(lines)


def alternative(finding: Finding) -> str:
    """What to do instead, by the rule that refused."""
    table = load_table("alternatives")
    for entry in table["alternative"]:
        if any(finding.rule == rule or finding.kind.startswith(rule) for rule in entry["for"]):
            return str(entry["text"])
    return str(table["otherwise"])
