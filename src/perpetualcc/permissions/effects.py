"""What a tool call would do. Risk and authorization both follow from this one analysis."""

from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.tools import Assessment, Reason, Risk
from perpetualcc.permissions.shell.script import Word

# `Effect`, `Finding` and the words of a script are not changed once made. They are not frozen all
# the same: a judgement makes a dozen, and freezing them would be a tenth of what it costs.


class EffectKind(StrEnum):
    """The ways in which a call can touch the world."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    NETWORK = "network"
    EXECUTE = "execute"
    """Runs code that this analysis does not see: a build, a script, another agent."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Effect:
    """One way in which a call touches the world."""

    kind: EffectKind
    target: str = ""
    """A canonical path, a host, or the program; empty when it is not known."""
    also: tuple[str, ...] = ()
    """Other paths that the same words may lead to: behind links, or from another directory."""
    lists: bool = False
    """Only its name and size are seen, not what is in it."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Finding:
    """One part of a call, judged by one rule."""

    risk: Risk
    rule: str
    part: str
    explanation: str
    kind: str = ""
    """A stable name for the same kind of thing, such as `git push`."""
    effects: tuple[Effect, ...] = ()
    words: tuple[Word, ...] = ()
    """The words of the command it is about, once quotes, variables and wrappers are gone."""
    is_guarded: bool = False
    """It writes to a guarded place, or runs what one names: no brain approves that."""
    forbidden: bool = False
    """The settings say it is always blocked: no person is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything found in one call. It has at least one finding."""

    findings: tuple[Finding, ...]

    @property
    def risk(self) -> Risk:
        return self.worst.risk

    @property
    def worst(self) -> Finding:
        """The first finding of the highest risk."""
        return max(self.findings, key=lambda finding: finding.risk.rank)

    @property
    def effects(self) -> tuple[Effect, ...]:
        return tuple(dict.fromkeys(e for finding in self.findings for e in finding.effects))

    @property
    def is_guarded(self) -> bool:
        return any(finding.is_guarded for finding in self.findings)

    @property
    def is_forbidden(self) -> bool:
        return any(finding.forbidden for finding in self.findings)

    def assessment(self) -> Assessment:
        """The same in the words of the domain, the worst part first."""
        ordered = sorted(self.findings, key=lambda finding: -finding.risk.rank)
        reasons = dict.fromkeys(
            Reason(risk=f.risk, rule=f.rule, part=f.part.strip(), explanation=f.explanation)
            for f in ordered
        )
        worst = ordered[0]
        return Assessment(risk=worst.risk, reasons=tuple(reasons), kind=worst.kind or worst.rule)
