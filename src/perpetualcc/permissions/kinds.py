"""
Which kinds of calls there are, for a rule that names one.

Kinds are no closed list: a program that nobody knows has one, and so has each task of a project.
What is not listed here must be what its own words are judged as.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.commands.knowledge import Entry, knowledge
from perpetualcc.permissions.commands.programs.databases import destroying
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.script import Problem

_FIXED = frozenset({
    "computed command", "container mount", "database change", "direction-characters", "empty",
    "function", "git discard", "given shell", "kill all", "kill computed", "not judged", "nothing",
    "prints secret", "raw socket", "read", "read broad", "read unknown path", "script written",
    "secret leaves", "unseen skill", *Problem,
})  # fmt: skip
_OPEN = re.compile(r"fetch [^\s/]+|set \w+|tool \S+|malformed \S+|blocked \S.*")
"""Named after a host, a variable, a tool or an entry of the settings."""
_ENDINGS = frozenset({"inline", "upload"})
"""After a program: code on its command line, and what it sends."""
_EFFECTS = frozenset({EffectKind.WRITE, EffectKind.NETWORK, EffectKind.EXECUTE})
"""What calls do is no kind: it says too little."""
_PLAIN = re.compile(r"[\w.+@:/-]+( [\w.+@:/-]+)*")
"""What a person types; programs of other names have kinds that nobody could foresee."""
_UNKNOWN = frozenset({
    "computed-command", "nothing", "unknown-command", Problem.SYNTAX.name.lower(),
})  # fmt: skip
_CONSOLES = frozenset({"sql", "sql-file"})
"""Handlers of programs whose kinds go on with what a statement does."""
_TASKS = ("frobnicate", "-t frobnicate", "frobnicate.sh", "./cmd/frobnicate")
"""Names that nothing is known about, as a program takes them."""


def is_kind(pattern: str, settings: PermissionSettings) -> bool:
    """Whether a finding may be called so."""
    first = pattern.partition(" ")[0]
    if not pattern.isprintable() or pattern != pattern.strip():
        return False
    if pattern in _EFFECTS or _kind_of_tool(pattern):
        return False
    if _is_of_no_program(pattern):
        return True
    is_known = _is_known(first, settings)
    if not is_known and _PLAIN.fullmatch(pattern) is None:
        return True
    return _is_judged_so(pattern, settings) or (is_known and _is_of_program(pattern, settings))


def unknown_program(pattern: str, settings: PermissionSettings) -> str:
    """The program that a rule is about, when nothing is known about it: a typo perhaps."""
    first = pattern.partition(" ")[0]
    if "/" in pattern or _is_of_no_program(pattern):  # what lies in the project has its own name
        return ""
    return "" if _is_known(first, settings) else first


def _is_of_no_program(pattern: str) -> bool:
    return pattern in _FIXED or _is_place(pattern) or _OPEN.fullmatch(pattern) is not None


def _is_known(program: str, settings: PermissionSettings) -> bool:
    return all(one.rule not in _UNKNOWN for one in findings_of(program, settings))


def instead_of(pattern: str, effect: str, settings: PermissionSettings) -> str:
    """What would match, for who typed what is no kind."""
    if kind := _kind_of_tool(pattern):
        is_own = kind.startswith("tool ")
        return f"Perhaps {kind!r}" if is_own else f"See its kinds with: pcc explain {pattern} …"
    if pattern.partition(" ")[0] in {*_EFFECTS, "read"}:
        return "Such as 'write project', 'write .md safe', 'read ssh-keys' or 'fetch example.org'"
    owns = [one.kind for one in findings_of(pattern, settings)]
    own = max((one for one in owns if one and pattern.startswith(f"{one} ")), default="")
    if own and pattern.isprintable():
        return f"That is of the kind {own!r}; or pcc rules add {effect} command {pattern!r}"
    return "See the kind of a call with: pcc explain bash 'git push'"


def highest_risk(kind: str, settings: PermissionSettings) -> Risk:
    """Of a call that has this kind, as far as its name tells."""
    does, _, what = kind.partition(" ")
    if does in {"read", "write"} and (place := _places().get(what)):
        return Risk(place[does])
    found = [
        one.risk
        for line in (kind, f"{kind} x")
        for one in findings_of(line, settings)
        if one.kind == kind
    ]
    own, _, option = kind.rpartition(" ")
    found += _risks_of_option(own, option) if own and option.startswith("-") else []
    return max(found, key=lambda risk: risk.rank, default=Risk.LOW)


def findings_of(command: str, settings: PermissionSettings) -> tuple[Finding, ...]:
    call = ToolCall(tool="Bash", input={"command": command}, project=Path("/project"))
    return analyse(call, settings).findings


def _is_judged_so(pattern: str, settings: PermissionSettings) -> bool:
    # A script's kind is its name and then its path: `setup bin/setup`.
    lines = (pattern, f"{pattern} x", pattern.partition(" ")[2])
    return any(one.kind == pattern for line in lines if line for one in findings_of(line, settings))


def _is_of_program(pattern: str, settings: PermissionSettings) -> bool:
    """Whether a known program's kinds go on so: with a task, a statement, an option."""
    owns = {one.kind for one in findings_of(pattern, settings)}
    return any(
        _goes_on(own, pattern.removeprefix(f"{own} "), settings)
        for own in owns
        if own and pattern.startswith(f"{own} ")
    )


def _goes_on(own: str, rest: str, settings: PermissionSettings) -> bool:
    if rest in _ENDINGS:
        return True
    entries = _entries(own)
    if rest.startswith("-"):
        passed_on = findings_of(f"{own} . -- {rest}", settings)
        return not {Risk.MEDIUM, Risk.HIGH}.isdisjoint(_risks_of_option(own, rest)) or any(
            one.kind == f"{own} {rest}" for one in passed_on
        )
    if any(entry.rule is not None and entry.rule.handler in _CONSOLES for entry in entries):
        is_mongo = own.startswith("mongo")
        return rest.isalpha() if is_mongo else destroying(f"{rest} x;") == rest
    options = (name for one in entries for name, rule in one.options.items() if rule.role == "task")
    lines = (*_TASKS, *(f"{name} frobnicate" for name in options))
    tasks = (task for line in lines for task in findings_of(f"{own} {line}", settings))
    return any(task.kind.startswith(f"{own} frobnicate") for task in tasks)


def _risks_of_option(own: str, name: str) -> list[Risk]:
    """What the option `name` of the command `own` means, with one value or another."""
    rules = [entry.options[name] for entry in _entries(own) if name in entry.options]
    meanings = (one for rule in rules for one in (rule, *(meant for _, meant in rule.by_value)))
    return [one.risk for one in meanings if one.risk is not None]


def _entries(path: str) -> list[Entry]:
    """What is known about a program and the words after it."""
    first, *words = path.split()
    entry = knowledge().program(first)
    found = accumulate(words, lambda at, word: at and at.child(word), initial=entry)
    return [one for one in found if one is not None]


@cache
def _places() -> Mapping[str, Mapping[str, Any]]:
    own = {"name": "configured-credential", "read": Risk.HIGH, "write": Risk.HIGH}
    return {place["name"]: place for place in (*load_table("protected")["place"], own)}


def _is_place(pattern: str) -> bool:
    does, _, what = pattern.partition(" ")
    *suffix, where = what.split(" ")
    if does not in {"read", "write"} or len(suffix) > 1:
        return False
    is_zone = does == "write" and where in {zone.name.lower() for zone in Zone}
    if suffix:
        return is_zone and re.fullmatch(r"\.\S{1,6}", suffix[0]) is not None
    return is_zone or where in _places()


@cache
def _kind_of_tool(name: str) -> str:
    """The kind of a tool of Claude Code or of a server; empty for a name of none."""
    if " " in name:
        return ""
    found = analyse(ToolCall(tool=name, input={}, project=Path("/project")), PermissionSettings())
    is_tool = all(one.rule != "unknown-tool" for one in found.findings)
    return found.findings[0].kind if is_tool else ""
