"""`pcc explain`: how a tool call would be judged, and by which rules. Nothing is run."""

import json
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import Assessment, Risk, ToolCall

if TYPE_CHECKING:
    from perpetualcc.permissions.settings import PermissionSettings

app = typer.Typer(rich_markup_mode=None)


@app.command()
def explain(
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

    Example: pcc explain bash 'git push --force'
    """
    from perpetualcc.permissions.calls import call_from_words  # noqa: PLC0415  # only when used

    if jsonl:
        judge_lines(project.absolute())
        return
    if tool is None or subject is None:
        raise PerpetualError(
            "There is nothing to judge", hint="pcc explain bash 'git push --force'"
        )
    judged = _judged(call_from_words(tool, subject, project.absolute()))
    print(json.dumps(_data(*judged), ensure_ascii=False) if as_json else _page(*judged))


def judge_lines(project: Path) -> None:
    """One JSON object a line in, one a line out. A line that cannot be read stops nothing."""
    from perpetualcc.permissions.calls import UnreadableLine, call_from_line  # noqa: PLC0415

    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            data = _data(*_judged(call_from_line(line, project)))
        except UnreadableLine as error:
            data = _unreadable(str(error))
        print(json.dumps(data))


def _unreadable(why: str) -> dict[str, Any]:
    reason = {"risk": Risk.MEDIUM, "rule": "unreadable-line", "part": "", "explanation": why}
    return {"risk": Risk.MEDIUM, "verdict": Verdict.ASK, "error": why, "reasons": [reason]}


@cache
def _settings() -> "PermissionSettings":
    """The configuration's; read once for however many lines."""
    from perpetualcc.config.file import load_config  # noqa: PLC0415  # not for --help

    return load_config().permissions


def _judged(call: ToolCall) -> tuple[Assessment, Verdict]:
    from perpetualcc.permissions.decision_engine import verdict_without_brain  # noqa: PLC0415
    from perpetualcc.permissions.risk_classifier import analyse  # noqa: PLC0415

    analysis = analyse(call, _settings())
    return analysis.assessment(), verdict_without_brain(analysis, _settings())


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
