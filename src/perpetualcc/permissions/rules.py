"""
Rules that a person made: listed, explained and removed with `pcc rules`.

A rule allows or denies one kind of thing, one command prefix, one whole line, or one path pattern.
Denying always wins. HIGH is never allowed by a rule that does not say so itself.

Denying takes a rule in its widest sense, allowing in its narrowest: a command is denied however
it is spelled, and allowed as it is written; a path is denied to any part of a call that reads or
writes it, and allowed to one that writes nothing else.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from perpetualcc.domain.folders import home_of
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.effects import Analysis, EffectKind, Finding
from perpetualcc.permissions.path_patterns import starts, touches
from perpetualcc.permissions.spellings import is_spelling_of


class RuleEffect(StrEnum):
    """What a rule does."""

    ALLOW = "allow"
    DENY = "deny"


class RuleSubject(StrEnum):
    """What a rule is about."""

    KIND = "kind"
    """The kind of an assessment, such as `git commit`."""
    COMMAND = "command"
    """The leading words of a command: `docker compose` covers `docker compose up`."""
    LINE = "line"
    """A whole command line and where it runs, as `line_of` has it: nothing more, nowhere else."""
    PATH = "path"
    """A pattern over canonical paths, from the rule's project or else the call's: `docs/*.md`.
    Reading is denied, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, as a person made it."""

    id: str
    effect: RuleEffect
    subject: RuleSubject
    pattern: str
    includes_high: bool = False
    """A person said in so many words that HIGH is meant too."""
    project: str = ""
    """The project it holds for, the folders in it, and both in its worktrees; empty for all."""
    note: str = ""

    def holds_in(self, project: Path) -> bool:
        """Whether what is done in `project` is done where this rule holds."""
        return not self.project or any(
            place.is_relative_to(self.project) for place in (project, home_of(project))
        )

    def root(self, call: ToolCall) -> str:
        """Where a relative pattern starts: at the rule's project, as it is in a worktree."""
        if not self.project:
            return str(call.project)
        if call.project.is_relative_to(self.project):
            return self.project
        below = home_of(call.project).relative_to(self.project)
        return str(call.project).removesuffix(f"/{below}")

    def explain(self) -> str:
        """One sentence for `pcc rules`."""
        where = f"in {self.project}" if self.project else "everywhere"
        high = ", even where it is HIGH" if self.includes_high else ""
        does = {RuleEffect.ALLOW: "Allows", RuleEffect.DENY: "Denies"}[self.effect]
        return f"{does} {self.subject} {self.pattern!r} {where}{high}"


class Standing(StrEnum):
    """What the rules together say about a call."""

    SILENT = "silent"
    ALLOWED = "allowed"
    DENIED = "denied"


def standing(rules: Sequence[Rule], analysis: Analysis, call: ToolCall) -> Standing:
    """A deny of any part denies; an allow must cover every part that is not LOW."""
    mine = [rule for rule in rules if rule.holds_in(call.project)]
    denies = [rule for rule in mine if rule.effect is RuleEffect.DENY]
    if any(_denies(rule, f, call) for rule in denies for f in analysis.findings):
        return Standing.DENIED
    allows = [rule for rule in mine if rule.effect is RuleEffect.ALLOW]
    weighty = [finding for finding in analysis.findings if finding.risk is not Risk.LOW]
    is_moved = call.cwd is not None or any(_moves(finding) for finding in analysis.findings)
    if weighty and all(
        any(_allows(rule, f, call, is_moved=is_moved) for rule in allows) for f in weighty
    ):
        return Standing.ALLOWED
    return Standing.SILENT


def line_of(call: ToolCall, home: Path) -> str | None:
    """
    What a command line is as a whole, from the project `home`: `cd web && rm -rf dist`, however it
    came to be in `web`. None for what a line does not say all of, and for what runs elsewhere.
    """
    command, place = call.input.get("command"), home_of(call.cwd or call.project)
    is_said = call.tool == "Bash" and _SAID.issuperset(call.input) and isinstance(command, str)
    if not is_said or not place.is_relative_to(home):
        return None
    below, line = str(place.relative_to(home)), str(command).strip()
    return line if below == "." else f"cd {shlex.quote(below)} && {line}"


_SHELLS = frozenset({"Bash", "Monitor"})
_SAID = frozenset({"command", "description", "timeout", "run_in_background"})
"""What a call has that does the same as another with the same line."""


def _moves(finding: Finding) -> bool:
    return bool(finding.words) and finding.words[0].text in {"cd", "pushd", "popd"}


def _allows(rule: Rule, finding: Finding, call: ToolCall, *, is_moved: bool) -> bool:
    is_within = finding.risk is not Risk.HIGH or rule.includes_high
    # `./deploy.sh` is another file in another folder.
    is_another = is_moved and rule.subject is RuleSubject.COMMAND and _is_near(finding)
    return is_within and not finding.forbidden and not is_another and _covers(rule, finding, call)


def _is_near(finding: Finding) -> bool:
    """It runs a file that is named from where it runs."""
    return finding.rule.startswith("script") and not finding.words[0].text.startswith("/")


def _denies(rule: Rule, finding: Finding, call: ToolCall) -> bool:
    if rule.subject is RuleSubject.PATH:
        return any(touches(e, rule.pattern, rule.root(call)) for e in finding.effects)
    if rule.subject is RuleSubject.COMMAND and is_spelling_of(rule.pattern, finding.words):
        return True
    if rule.subject is RuleSubject.KIND and _begins_alike(rule.pattern, finding.kind):
        return True
    return _covers(rule, finding, call)


def _begins_alike(pattern: str, kind: str) -> bool:
    """Of rules made before a kind that is cut ended in a mark (`domain.texts.apart`)."""
    is_cut = len(pattern) == len(kind) == _CUT and kind[-_MARK] == "…" != pattern[-_MARK]
    return is_cut and kind[:-_MARK] == pattern[:-_MARK]


_CUT, _MARK = 60, 9
"""Characters of a kind that is cut, and of the mark at its end."""


def _covers(rule: Rule, finding: Finding, call: ToolCall) -> bool:
    if rule.subject is RuleSubject.KIND:
        return finding.kind == rule.pattern
    if rule.subject is RuleSubject.COMMAND:
        words, pattern = finding.part.split(), rule.pattern.split()
        is_command = bool(finding.words) or call.tool in _SHELLS
        return is_command and bool(pattern) and words[: len(pattern)] == pattern
    if rule.subject is RuleSubject.LINE:
        home = Path(rule.project) if rule.project else home_of(call.project)
        return line_of(call, home) == rule.pattern.strip()
    writes = [
        path
        for effect in finding.effects
        if effect.kind in {EffectKind.WRITE, EffectKind.DELETE}
        for path in (effect.target, *effect.also)
    ]
    return bool(writes) and all(
        ".." not in path.split("/")
        and any(fnmatchcase(path, p) for _, p in starts(rule.pattern, rule.root(call), path))
        for path in writes
    )
