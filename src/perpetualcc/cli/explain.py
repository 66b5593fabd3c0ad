"""`pcc explain`: how a tool call would be judged, and by which rules. Nothing is run."""

import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import Assessment, Risk, ToolCall

if TYPE_CHECKING:
    from perpetualcc.permissions.settings import PermissionSettings

app = typer.Typer(rich_markup_mode=None)


@app.command()
def explain(
    ctx: typer.Context,
    tool: Annotated[
        str | None, typer.Argument(help="bash, write, read, webfetch, … or any tool")
    ] = None,
    subject: Annotated[
        str | None, typer.Argument(help="The command, path or address; or the input as JSON")
    ] = None,
    project: Annotated[Path, typer.Option(help="The project's directory")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Judge one JSON object a line from standard input")
    ] = False,
) -> None:
    """
    Say how a tool call would be judged, and by which rules.

    A project's own policy counts as it would in a session: where it is stricter, always; where it
    is looser, when you trust the project.

    Example: pcc explain bash 'git push --force'
    """
    from perpetualcc.permissions.calls import call_from_words  # noqa: PLC0415  # only when used

    settings = _Settings(ctx.obj)
    if jsonl:
        judge_lines(project.absolute(), settings)
        return
    if tool is None or subject is None:
        raise PerpetualError(
            "There is nothing to judge", hint="pcc explain bash 'git push --force'"
        )
    call = call_from_words(tool, subject, project.absolute())
    judged = _judged(call, settings)
    if as_json:
        print(json.dumps(_data(*judged), ensure_ascii=False))
    else:
        print(_page(*judged))
        print("".join(f"\n{note}\n" for note in settings.notes), end="")


def judge_lines(project: Path, settings: "_Settings") -> None:
    """One JSON object a line in, one a line out. A line that cannot be read stops nothing."""
    from perpetualcc.permissions.calls import UnreadableLine, call_from_line  # noqa: PLC0415

    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            data = _data(*_judged(call_from_line(line, project), settings))
        except UnreadableLine as error:
            data = _unreadable(str(error))
        print(json.dumps(data))


def _unreadable(why: str) -> dict[str, Any]:
    reason = {"risk": Risk.MEDIUM, "rule": "unreadable-line", "part": "", "explanation": why}
    return {"risk": Risk.MEDIUM, "verdict": Verdict.ASK, "error": why, "reasons": [reason]}


class _Settings:
    """The configuration's, with what each project's own policy makes of them; read once."""

    def __init__(self, options: GlobalOptions) -> None:
        self.notes: list[str] = []
        """What a person should know about the policy that counted."""
        self._options = options
        self._base: PermissionSettings | None = None
        self._known: dict[Path, PermissionSettings] = {}

    def of(self, project: Path) -> "PermissionSettings":
        if project not in self._known:
            self._known[project] = self._read(project)
        return self._known[project]

    def _read(self, project: Path) -> "PermissionSettings":
        from perpetualcc.config.file import load_config  # noqa: PLC0415  # not for --help
        from perpetualcc.permissions.project import ProjectStanding  # noqa: PLC0415
        from perpetualcc.permissions.trust import read_watched_files  # noqa: PLC0415

        if self._base is None:
            self._base = load_config().permissions
        standing = ProjectStanding(files=read_watched_files(project), trusted=False)
        if not standing.has_policy:
            return self._base
        standing = replace(standing, trusted=self._is_trusted(project))
        how = "counts" if standing.trusted else "counts only where it is stricter (pcc trust)"
        self.notes.append(f"The project's own policy {how}.")
        return standing.settings(self._base)

    def _is_trusted(self, project: Path) -> bool:
        """What the engine would say; when it cannot be asked, nothing is trusted."""
        try:
            with connect(self._options) as daemon:
                return bool(daemon.call("trust.show", project=str(project.resolve()))["trusted"])
        except PerpetualError:
            return False


def _judged(call: ToolCall, settings: _Settings) -> tuple[Assessment, Verdict]:
    from perpetualcc.permissions.decision_engine import verdict_without_brain  # noqa: PLC0415
    from perpetualcc.permissions.risk_classifier import analyse  # noqa: PLC0415

    own = settings.of(call.project)
    analysis = analyse(call, own)
    return analysis.assessment(), verdict_without_brain(analysis, own)


def _data(assessment: Assessment, verdict: Verdict) -> dict[str, Any]:
    return {
        "risk": assessment.risk,
        "verdict": verdict,
        "kind": assessment.kind,
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


def _page(assessment: Assessment, verdict: Verdict) -> str:
    lines = [f"Risk     {assessment.risk}", f"Verdict  {_VERDICTS[verdict]}"]
    if assessment.risk is Risk.MEDIUM and verdict is Verdict.ASK:
        lines[-1] = "Verdict  ask: the brain has an opinion; without one a person decides"
    lines += [f"Kind     {assessment.kind}", ""]
    for reason in assessment.reasons:
        part = textwrap.shorten(reason.part.replace("\n", " "), 70, placeholder=" …")
        lines += [f"{reason.risk:<8} {part}", f"         {reason.explanation} [{reason.rule}]"]
    return "\n".join(lines)
