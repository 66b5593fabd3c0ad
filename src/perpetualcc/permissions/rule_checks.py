"""
Before a rule of a person is kept: that it can ever count, and what it will not change.

A rule that matches nothing is worse than none, because somebody relies on it.
"""

import itertools
import posixpath
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.effects import Analysis
from perpetualcc.permissions.kinds import highest_risk, instead_of, is_kind, unknown_program
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject, Standing, standing
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.script import Problem


def refuse_dead(rule: Rule, settings: PermissionSettings) -> None:
    """
    Raises:
        PerpetualError: the rule could never match anything.
    """
    match rule.subject:
        case RuleSubject.COMMAND:
            _refuse_dead_command(rule, settings)
        case RuleSubject.LINE:
            _refuse_unread(rule, settings)
        case RuleSubject.PATH:
            _refuse_dead_path(rule.pattern)
        case RuleSubject.KIND:
            if not is_kind(rule.pattern, settings):
                raise PerpetualError(
                    f"No call is of the kind {rule.pattern!r}",
                    hint=instead_of(rule.pattern, rule.effect, settings),
                )


def not_changed(rule: Rule, settings: PermissionSettings) -> str:
    """What a rule leaves as it is; empty when it does what it says."""
    if rule.subject is not RuleSubject.PATH and (
        program := unknown_program(rule.pattern, settings)
    ):
        return f"nothing is known about a program {program!r}: is it called so?"
    if rule.effect is not RuleEffect.ALLOW or rule.subject is RuleSubject.PATH:
        return ""
    if rule.subject is RuleSubject.KIND:
        is_high = highest_risk(rule.pattern, settings) is Risk.HIGH
        return _still_asks(rule) if is_high and not rule.includes_high else ""
    call, analysis = _analysed(rule.pattern, rule, settings)
    if analysis.is_forbidden:
        return f"{rule.pattern!r} stays blocked: the settings always block it, whatever rules say"
    if standing((rule,), analysis, call) is not Standing.ALLOWED and analysis.risk is Risk.HIGH:
        return _still_asks(rule)
    return ""


def lets_through(rule: Rule, settings: PermissionSettings) -> str:
    """What HIGH a rule lets through unseen, where that is more than somebody may mean, or empty."""
    if rule.effect is not RuleEffect.ALLOW or not rule.includes_high:
        return ""
    match rule.subject:
        case RuleSubject.KIND if highest_risk(rule.pattern, settings) is Risk.HIGH:
            whole = f"Everything of the kind {rule.pattern!r}"
        case RuleSubject.COMMAND:
            whole = f"{rule.pattern!r} with whatever comes after it"
        case RuleSubject.PATH if not rule.pattern.strip("*/"):
            whole = "Writing of every file"
        case _:
            return ""
    where = "in this project" if rule.project else "in every project"
    return f"{whole} is let through {where}, however dangerous, and nobody is asked"


def _still_asks(rule: Rule) -> str:
    return f"{rule.pattern!r} itself is HIGH and still asks a person; --high lets it through"


def _refuse_unread(rule: Rule, settings: PermissionSettings) -> tuple[ToolCall, Analysis]:
    call, analysis = _analysed(rule.pattern, rule, settings)
    if any(_is_unread(finding.rule) for finding in analysis.findings):
        raise PerpetualError(
            f"{rule.pattern!r} is no command: it cannot be read to its end",
            hint="Give the leading words of one command: pcc rules add deny command 'git push'",
        )
    return call, analysis


def _refuse_dead_command(rule: Rule, settings: PermissionSettings) -> None:
    words = rule.pattern.split()
    if any("*" in word or word.startswith("^") for word in words):
        plain = (word.strip("^*.") for word in itertools.takewhile(lambda w: "*" not in w, words))
        raise PerpetualError(
            f"{rule.pattern!r} would be taken letter by letter: a command is its leading words",
            hint=f"Whatever comes after them is meant, too: {' '.join(plain) or 'git push'!r};"
            " a whole line as it stands: allow line",
        )
    call, analysis = _refuse_unread(rule, settings)
    as_deny = Rule(id="", effect=RuleEffect.DENY, subject=rule.subject, pattern=rule.pattern)
    if standing((as_deny,), analysis, call) is not Standing.DENIED:
        raise PerpetualError(
            f"{rule.pattern!r} is not the beginning of one command, so it would never match",
            hint="Each part of a line is looked at alone: make a rule for each command",
        )


def _refuse_dead_path(pattern: str) -> None:
    usual = posixpath.normpath(pattern)
    if "{" in pattern or pattern.startswith("!"):
        raise PerpetualError(
            f"{pattern!r} would be taken letter by letter: only * ? and [abc] stand for others",
            hint="Make a rule for each: 'data/*.csv', 'data/*.tsv'",
        )
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


def _analysed(
    command: str, rule: Rule | None, settings: PermissionSettings
) -> tuple[ToolCall, Analysis]:
    project = Path(rule.project if rule and rule.project else "/project")
    call = ToolCall(tool="Bash", input={"command": command}, project=project)
    return call, analyse(call, settings)
