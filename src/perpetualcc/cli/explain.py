"""`pcc explain`: how a tool call would be judged, and by which rules. Nothing is run."""

import json
import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, printable
from perpetualcc.cli.options import GlobalOptions, JsonOption, directory
from perpetualcc.domain.authority import Authority
from perpetualcc.domain.decisions import Advice, Verdict
from perpetualcc.domain.folders import canonical, expanded, home_of
from perpetualcc.domain.tools import Assessment, Risk, ToolCall

if TYPE_CHECKING:
    from perpetualcc.permissions.decision_engine import DecisionEngine
    from perpetualcc.permissions.project import ProjectStanding
    from perpetualcc.permissions.rules import Rule
    from perpetualcc.permissions.settings import PermissionSettings
    from perpetualcc.store.recorded import Recorded

app = typer.Typer(rich_markup_mode=None)


# The words of a command that is not in quotes are told apart from a slip below.
@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def explain(
    ctx: typer.Context,
    tool: Annotated[
        str | None, typer.Argument(help="bash, write, read, webfetch, … or any tool")
    ] = None,
    subject: Annotated[
        str | None, typer.Argument(help="The command, path or address; or the input as JSON")
    ] = None,
    project: Annotated[Path, typer.Option(help="The project's directory")] = Path(),
    as_json: JsonOption = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Judge one JSON object a line from standard input")
    ] = False,
) -> None:
    """
    Say how a tool call would be judged, and by which rules.

    Your own rules count (pcc rules), and a project's own policy as in a session: where it is
    stricter, always; where it is looser, when you trust the project.

    Example: pcc explain bash 'git push --force'
    """
    from perpetualcc.permissions.calls import call_from_words

    _refuse_loose_words(tool or "", subject or "", ctx.args)
    guards = Guards(ctx.obj)
    if jsonl:
        judge_lines(expanded(project).absolute(), guards)
        return
    if tool is not None and subject is None and " " in tool:
        given = f"pcc explain bash {shlex.quote(tool)}"
        raise Mistyped(f"Which tool would that be for? {tool!r} is no name of one", hint=given)
    if tool is None or subject is None:
        raise Mistyped("There is nothing to judge", hint="pcc explain bash 'git push --force'")
    call = call_from_words(tool, subject, directory(project))
    judged = judge(call, guards)
    if as_json:
        print_json(_data(judged))
    else:
        print(printable(_page(judged)))
        print("".join(f"\n{note}\n" for note in guards.notes), end="")


def _refuse_loose_words(tool: str, subject: str, more: Sequence[str]) -> None:
    """Judged is what stands in one argument: of `rm -rf --json x` no word may go to us."""
    if slips := [word for word in (tool, subject) if word.startswith("-")]:
        raise Mistyped(f"No such option: {slips[0]}", hint="pcc explain --help")
    if more:
        raise Mistyped(
            f"What is {more[0]!r}? A command of several words is one argument",
            hint=f"pcc explain {tool} {shlex.quote(' '.join((subject, *more)))}",
        )


def judge_lines(project: Path, guards: "Guards") -> None:
    """One JSON object a line in, one a line out. A line that cannot be read stops nothing."""
    from perpetualcc.permissions.calls import UnreadableLine, call_from_line

    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            data = _data(judge(call_from_line(line, project), guards))
        except UnreadableLine as error:
            data = _unreadable(str(error))
        print(json.dumps(data))


def _unreadable(why: str) -> dict[str, Any]:
    reason = {"risk": Risk.MEDIUM, "rule": "unreadable-line", "part": "", "explanation": why}
    return {"risk": Risk.MEDIUM, "verdict": Verdict.ASK, "error": why, "reasons": [reason]}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What a session in one project would be guarded with."""

    settings: "PermissionSettings"
    rules: "tuple[Rule, ...]"
    """Those that hold there, with the project's path as it was typed."""
    engine: "DecisionEngine"


class Guards:
    """The configuration, each project's own policy and a person's rules; each read once."""

    def __init__(self, options: GlobalOptions) -> None:
        self.notes: list[str] = []
        """What a person should know about the policy that counted."""
        self._options = options
        self._places: dict[Path, _Place] = {}

    @cached_property
    def _base(self) -> "PermissionSettings":
        from perpetualcc.config.file import load_config

        return load_config().permissions

    @cached_property
    def _recorded(self) -> "Recorded":
        from perpetualcc.store.recorded import recorded

        return recorded(self._options.locations.database)

    def as_made(self, rules: "tuple[Rule, ...]") -> "tuple[Rule, ...]":
        """The same rules in the words in which the person made them."""
        wanted = {rule.id for rule in rules}
        return tuple(rule for rule in self._recorded.rules if rule.id in wanted)

    def of(self, project: Path) -> _Place:
        if project not in self._places:
            self._places[project] = self._read(project)
        return self._places[project]

    def _read(self, project: Path) -> _Place:
        from perpetualcc.permissions.decision_engine import DecisionEngine
        from perpetualcc.permissions.project import with_policy_above

        # A session works in the project's canonical directory, and so do rules and trust.
        place = _canonical(project)
        outer = tuple(map(self._standing_alone, with_policy_above(place)))
        standing = replace(self._standing_alone(place), above=outer)
        for one in standing.with_policy():
            whose = "The project's own policy" if one is standing else f"The policy of {one.folder}"
            how = "counts" if one.trusted else "counts only where it is stricter (pcc trust)"
            self.notes.append(f"{whose} {how}.")
        rules = tuple(
            replace(rule, project=str(project)) if rule.project == str(place) else rule
            for rule in self._recorded.rules
            if rule.holds_in(place)
        )
        settings = standing.settings(self._base)
        engine = DecisionEngine(settings=settings, authority=Authority(), rules=rules)
        return _Place(settings=settings, rules=rules, engine=engine)

    def _standing_alone(self, folder: Path) -> "ProjectStanding":
        from perpetualcc.permissions.project import ProjectStanding
        from perpetualcc.permissions.trust import is_trusted, read_watched_files

        files, home, known = read_watched_files(folder), home_of(folder), self._recorded.trust
        at_home = None if home == folder else (read_watched_files(home), known.get(home))
        trusted = is_trusted(files, known.get(folder), at_home)
        return ProjectStanding(files=files, trusted=trusted, folder=folder)


def _canonical(project: Path) -> Path:
    """A line may name a project that no file system can hold."""
    try:
        return canonical(project)
    except (OSError, ValueError, RuntimeError):
        return project


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gate says of a call."""

    assessment: Assessment
    verdict: Verdict
    rules: "tuple[Rule, ...]"
    """Of the person's, those that decided."""
    advice: Advice | None
    """What the brain without AI would say; None where no brain is asked."""


def judge(call: ToolCall, guards: Guards) -> Judged:
    """As the gate of a session at level 3 does it, whose brain has no opinion."""
    from perpetualcc.brain.rules.permission import advise
    from perpetualcc.permissions.deciding_rules import deciding_rules
    from perpetualcc.permissions.decision_engine import Permit, decide
    from perpetualcc.permissions.risk_classifier import analyse

    place = guards.of(call.project)
    analysis = analyse(call, place.settings)
    permit, _ = place.engine.permit(analysis, call)
    ruled = permit is Permit.RULED or (permit is Permit.FORBIDDEN and not analysis.is_forbidden)
    assessment = analysis.assessment()
    is_for_brain = analysis.risk is Risk.MEDIUM and not analysis.is_guarded
    return Judged(
        assessment=assessment,
        verdict=decide(analysis, permit, None, place.settings).verdict,
        rules=guards.as_made(deciding_rules(place.rules, analysis, call)) if ruled else (),
        advice=advise(call, assessment) if is_for_brain else None,
    )


def _data(judged: Judged) -> dict[str, Any]:
    assessment = judged.assessment
    return {
        "risk": assessment.risk,
        "verdict": judged.verdict,
        "kind": assessment.kind,
        "rules": [{"id": rule.id, "explanation": rule.explain()} for rule in judged.rules],
        "reasons": [
            {"risk": r.risk, "rule": r.rule, "part": r.part, "explanation": r.explanation}
            for r in assessment.reasons
        ],
    }


_VERDICTS = {
    Verdict.ALLOW: "allow: it goes on without anyone",
    Verdict.ASK: "ask: a person decides",
    Verdict.DENY: "deny: the settings block it always",
}
_RULED = {
    Verdict.ALLOW: "allow: your own rules let it through",
    Verdict.DENY: "deny: your own rule blocks it",
}


def _page(judged: Judged) -> str:
    assessment, verdict = judged.assessment, judged.verdict
    said = (_RULED if judged.rules else _VERDICTS)[verdict]
    if judged.advice is not None and verdict is Verdict.ASK:
        who = "lets it through" if judged.advice.approve else "leaves it to a person"
        said = f"ask: the brain decides; the one without AI {who} ({judged.advice.reason})"
    lines = [f"Risk     {assessment.risk}", f"Verdict  {said}"]
    lines += [f"Rule     {rule.id}: {rule.explain()}" for rule in judged.rules]
    lines += [f"Kind     {assessment.kind}", ""]
    for reason in assessment.reasons:
        part = textwrap.shorten(reason.part.replace("\n", " "), 70, placeholder=" …")
        lines += [f"{reason.risk:<8} {part}", f"         {reason.explanation} [{reason.rule}]"]
    return "\n".join(lines)
