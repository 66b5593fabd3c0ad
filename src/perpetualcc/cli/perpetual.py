"""`pcc perpetual`: a session without an end of context (seed 001)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.options import (
    TAKES_WORDS,
    ClaudeModelOption,
    DetachOption,
    NameOption,
    ProjectArgument,
    TaskOption,
    WorktreeOption,
    refuse_words,
)
from perpetualcc.cli.start import begin
from perpetualcc.cli.worktree import worktree_of
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.sessions.handover.thresholds import HandoverSettings, perpetual_from

app = typer.Typer(rich_markup_mode=None)


@app.command(context_settings=TAKES_WORDS)
def perpetual(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    project: ProjectArgument = Path(),
    task: TaskOption = None,
    claude_model: ClaudeModelOption = None,
    warn_tokens: Annotated[
        int | None,
        typer.Option(help="Ask Claude to hand over from here on [default: the configuration's]"),
    ] = None,
    hard_tokens: Annotated[
        int | None, typer.Option(help="Hand over without asking [default: the configuration's]")
    ] = None,
    warn_minutes: Annotated[
        float | None, typer.Option(help="The same by time [default: the configuration's]")
    ] = None,
    hard_minutes: Annotated[
        float | None, typer.Option(help="The same by time [default: the configuration's]")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Ask a person after so many [default: unlimited]")
    ] = None,
    resume_from: Annotated[
        int | None,
        typer.Option(help="Begin with what this iteration of an earlier session left"),
    ] = None,
    detach: DetachOption = False,
    session_name: NameOption = "",
    worktree: WorktreeOption = "",
) -> None:
    """
    Start a session that hands its work over to fresh ones, before a context is full.

    Touch .claude-handover/trigger.flag in the project to hand over at once.

    Example: pcc perpetual ./api --task "Build the authentication system" --hard-minutes 40
    """
    refuse_words(ctx, project)
    if task is None and resume_from is None:
        raise Mistyped("There is nothing to do", hint='Say what: --task "…"')
    chosen = {
        "warn_tokens": warn_tokens,
        "hard_tokens": hard_tokens,
        "warn_minutes": warn_minutes,
        "hard_minutes": hard_minutes,
        "max_iterations": max_iterations,
        "resume_from": resume_from,
    }
    options: dict[str, Any] = {
        "perpetual": {name: value for name, value in chosen.items() if value is not None},
        "claude_model": claude_model,
    }
    _check_what_was_typed(options["perpetual"])
    if worktree:
        project = worktree_of(project, worktree)
    begin(ctx.obj, project, task, options, name=session_name or worktree, detach=detach)


def _check_what_was_typed(asked: dict[str, Any]) -> None:
    """Whatever the configuration says: the other number of a pair follows the one that is given."""
    try:
        perpetual_from(asked, HandoverSettings())
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint) from None
