"""
Before a rule of a person is kept: that it can ever count, and what it will not change.

A rule that matches nothing is worse than none, because somebody relies on it.
"""

import posixpath
import re
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.effects import Analysis, Finding
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject, Standing, standing
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.script import Problem

_NO_PROGRAMS = frozenset({
    "blocked", "computed", "container", "database", "direction-characters", "empty", "fetch",
    "function", "given", "malformed", "nothing", "raw", "read", "set", "tool", "write",
})  # fmt: skip
"""Words that a kind begins with when it is named after no program."""
_NO_PROGRAM_KINDS = frozenset({"not judged", *Problem})
_PLAIN = re.compile(r"[\w.+@:/-]+( [\w.+@:/-]+)*")
"""What a person types; programs of other names have kinds that nobody could foresee."""


def refuse_dead(rule: Rule, settings: PermissionSettings) -> None:
    """
    Raises:
        PerpetualError: the rule could never match anything.
    """
    match rule.subject:
        case RuleSubject.COMMAND:
            _refuse_dead_command(rule, settings)
        case RuleSubject.PATH:
            _refuse_dead_path(rule.pattern)
        case RuleSubject.KIND:
            if not is_kind(rule.pattern, settings):
                raise PerpetualError(
                    f"No call is of the kind {rule.pattern!r}",
                    hint="See the kind of a call with: pcc explain bash 'git push'",
                )


def not_changed(rule: Rule, settings: PermissionSettings) -> str:
    """What an allowing rule for a command leaves as it is; empty when it does what it says."""
    if rule.effect is not RuleEffect.ALLOW or rule.subject is not RuleSubject.COMMAND:
        return ""
    call, analysis = _analysed(rule.pattern, rule, settings)
    if analysis.is_forbidden:
        return f"{rule.pattern!r} stays blocked: the settings always block it, whatever rules say"
    if standing((rule,), analysis, call) is not Standing.ALLOWED and analysis.risk is Risk.HIGH:
        return f"{rule.pattern!r} itself is HIGH and still asks a person; --high lets it through"
    return ""


def is_kind(pattern: str, settings: PermissionSettings) -> bool:
    """
    Whether a finding may be called so. Not a list: programs that nobody knows have kinds too.

    Without a known program in front, a kind must be what its own words are judged as.
    """
    first, _, rest = pattern.partition(" ")
    is_foreseen = _PLAIN.fullmatch(pattern) is not None
    if not is_foreseen or pattern in _NO_PROGRAM_KINDS or first in _NO_PROGRAMS:
        return True
    alone = _findings(first, settings)
    if not any(one.rule == "unknown-command" or _is_unread(one.rule) for one in alone):
        return True
    # A script's kind is its name and then its path: `setup bin/setup`.
    judged = (*_findings(pattern, settings), *(_findings(rest, settings) if rest else ()))
    return any(finding.kind == pattern for finding in judged)


def _refuse_dead_command(rule: Rule, settings: PermissionSettings) -> None:
    call, analysis = _analysed(rule.pattern, rule, settings)
    if any(_is_unread(finding.rule) for finding in analysis.findings):
        raise PerpetualError(
            f"{rule.pattern!r} is no command: it cannot be read to its end",
            hint="Give the leading words of one command: pcc rules add deny command 'git push'",
        )
    as_deny = Rule(id="", effect=RuleEffect.DENY, subject=rule.subject, pattern=rule.pattern)
    if standing((as_deny,), analysis, call) is not Standing.DENIED:
        raise PerpetualError(
            f"{rule.pattern!r} is not the beginning of one command, so it would never match",
            hint="Each part of a line is looked at alone: make a rule for each command",
        )


def _refuse_dead_path(pattern: str) -> None:
    usual = posixpath.normpath(pattern)
    if pattern.startswith("~"):
        raise PerpetualError(
            f"{pattern!r} would be looked for in the project: '~' is not your home directory here",
            hint=f"Write it out: {Path(pattern).expanduser()}",
        )
    if usual != pattern or ".." in pattern.split("/"):
        better = f"{usual}/*" if pattern.endswith("/") else usual.removeprefix("../")
        raise PerpetualError(
            f"No path is ever called {pattern!r}", hint=f"Perhaps {better!r}, from the project"
        )


def _is_unread(rule: str) -> bool:
    return rule == Problem.SYNTAX.name.lower()


def _findings(command: str, settings: PermissionSettings) -> tuple[Finding, ...]:
    return _analysed(command, None, settings)[1].findings


def _analysed(
    command: str, rule: Rule | None, settings: PermissionSettings
) -> tuple[ToolCall, Analysis]:
    project = Path(rule.project if rule and rule.project else "/project")
    call = ToolCall(tool="Bash", input={"command": command}, project=project)
    return call, analyse(call, settings)
