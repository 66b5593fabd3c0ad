"""`pcc rules import`: what a person has allowed in Claude Code, as rules of theirs here."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.explain import Guards, judge
from perpetualcc.cli.look import fit, one_line, print_json
from perpetualcc.cli.options import GlobalOptions, JsonOption, directory
from perpetualcc.cli.results import ask
from perpetualcc.cli.typist import only_a_person
from perpetualcc.config import claude_directory
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.texts import counted, first_few
from perpetualcc.domain.tools import Risk, ToolCall

_LONGEST = 1_000_000
"""Bytes of a settings file."""
_NAMED = 5
_BASH = re.compile(r"Bash\((?P<said>.*)\)", re.DOTALL)
_ANY = re.compile(r"(?::\*|\s+\*)\Z")
"""Whatever follows: `npm run test:*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry of `permissions.allow`, and what it is here."""

    said: str
    project: Path | None
    """None: everywhere."""
    subject: str = ""
    """Of the rule; empty: there is none like it."""
    pattern: str = ""
    risk: Risk = Risk.MEDIUM

    @property
    def becomes_a_rule(self) -> bool:
        return bool(self.subject) and self.risk is Risk.MEDIUM

    @property
    def rule(self) -> dict[str, Any]:
        place = None if self.project is None else str(self.project)
        return {
            "effect": "allow",
            "subject": self.subject,
            "pattern": self.pattern,
            "project": place,
        }


def import_rules(
    ctx: typer.Context,
    project: Annotated[Path, typer.Argument(help="Whose .claude/settings.local.json")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be made")] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Make rules of what you have allowed in Claude Code, after asking.

    From ~/.claude/settings.json they hold everywhere, from the project's settings.local.json there.
    What goes on anyway needs none, and what is HIGH gets none.

    Example: pcc rules import ./api
    """
    only_a_person("makes rules")
    place = directory(project)
    own, local = claude_directory() / "settings.json", place / ".claude" / "settings.local.json"
    known = _known(ctx.obj)
    found = [
        entry
        for file, where in ((own, None), (local, place))
        for entry in _entries(file, where, place, Guards(ctx.obj))
    ]
    new = [one for one in found if one.becomes_a_rule and tuple(one.rule.values()) not in known]
    if as_json:
        print_json({"rules": [one.rule for one in new], "others": _others(found)})
    else:
        _tell(found, new, (own, local))
    if not new or dry_run:
        return
    if not yes:
        ask(f"Make {counted(len(new), 'rule')}?", "No rule was made")
    with connect(ctx.obj) as daemon:
        for one in new:
            note = f"from Claude Code: {one.said}"
            daemon.call("rule.add", **one.rule, includes_high=False, note=note)
    if not as_json:
        print(f"Made {counted(len(new), 'rule')}. See them, and take them back: pcc rules list")


def _known(options: GlobalOptions) -> set[tuple[str | None, ...]]:
    with connect(options) as daemon:
        return {
            (one["effect"], one["subject"], one["pattern"], one["project"] or None)
            for one in daemon.call("rule.list")
        }


def _entries(file: Path, project: Path | None, place: Path, guards: Guards) -> Iterator[_Entry]:
    for said in dict.fromkeys(_allowed(file)):
        yield _read(said, project, place, guards)


def _allowed(file: Path) -> Sequence[str]:
    """Raises PerpetualError for a file that says nothing that can be read."""
    try:
        told = json.loads(read_regular(file, _LONGEST))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise PerpetualError(f"'{file}' cannot be read: {why}") from error
    permissions = told.get("permissions") if isinstance(told, dict) else None
    allowed = permissions.get("allow") if isinstance(permissions, dict) else None
    return [one for one in allowed if isinstance(one, str)] if isinstance(allowed, list) else ()


def _read(said: str, project: Path | None, place: Path, guards: Guards) -> _Entry:
    if found := _BASH.fullmatch(said):
        return _of_command(said, found["said"].strip(), project, place, guards)
    if said.startswith("mcp__") and said.count("__") > 1 and "*" not in said:
        judged = judge(ToolCall(tool=said, input={}, project=place), guards).assessment
        kind, risk = judged.kind, judged.risk
        return _Entry(said=said, project=project, subject="kind", pattern=kind, risk=risk)
    return _Entry(said=said, project=project)


def _of_command(said: str, words: str, project: Path | None, place: Path, guards: Guards) -> _Entry:
    from perpetualcc.permissions.rule_checks import refuse_dead
    from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject

    beginning = _ANY.sub("", words)
    subject = RuleSubject.LINE if beginning == words else RuleSubject.COMMAND
    if not beginning or "*" in beginning:
        return _Entry(said=said, project=project)
    rule = Rule(id="", effect=RuleEffect.ALLOW, subject=subject, pattern=beginning)
    try:
        refuse_dead(rule, guards.of(place).settings)
    except PerpetualError:
        return _Entry(said=said, project=project)
    lines = [beginning] if subject is RuleSubject.LINE else [beginning, f"{beginning} x"]
    calls = [ToolCall(tool="Bash", input={"command": line}, project=place) for line in lines]
    risk = max((judge(call, guards).assessment.risk for call in calls), key=list(Risk).index)
    return _Entry(said=said, project=project, subject=subject.value, pattern=beginning, risk=risk)


def _others(found: Sequence[_Entry]) -> dict[str, list[str]]:
    """Entries that get no rule, by why."""
    like = [one for one in found if one.subject]
    return {
        "go_on_anyway": [one.said for one in like if one.risk is Risk.LOW],
        "high": [one.said for one in like if one.risk is Risk.HIGH],
        "nothing_like_it": [one.said for one in found if not one.subject],
    }


_WHY = {
    "go_on_anyway": "LOW as they are, and need none",
    "high": "HIGH, and stay yours to decide; for one of them: pcc rules add allow line '…' --high",
    "nothing_like_it": "not said so here; see: pcc rules add --help",
}


def _tell(found: Sequence[_Entry], new: Sequence[_Entry], files: Sequence[Path]) -> None:
    if not found:
        print(f"Nothing is allowed in {' or '.join(str(one) for one in files)}")
        return
    for one in new:
        where = "everywhere" if one.project is None else f"in {one.project}"
        print(fit(f"allow {one.subject} {one_line(one.pattern)!r} {where}", 160))
    old = sum(one.becomes_a_rule for one in found) - len(new)
    if old:
        print(f"{counted(old, 'rule')} of these you have already")
    for name, entries in _others(found).items():
        if entries:
            few = first_few([fit(one, 60) for one in entries], _NAMED)
            print(f"{len(entries)} {_WHY[name]}: {few}")
