"""`pcc rehearse`: what the policy would do, without spending a token."""

from pathlib import Path
from typing import Annotated

import typer

from perpetualcc import config
from perpetualcc.cli.stage import own_environment, staged
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal import load_scenario

app = typer.Typer(rich_markup_mode=None)


@app.command()
def rehearse(
    ctx: typer.Context,
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="YAML file with the story")],
    project: Annotated[
        Path | None, typer.Option(help="Play it in a copy of this project [default: an empty one]")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="What Claude is asked for [default: the scenario's prompt]")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the file")] = False,
) -> None:
    """
    Play a scripted story on the real Claude Code, under your settings.

    Works in a copy: your project stays as it is. Afterwards the decisions are listed.

    Example: pcc rehearse scenario.yaml --project .
    """
    story = load_scenario(scenario)
    if check:
        print(f"{scenario}: {len(story.scenes)} scene(s), no mistakes")
        return
    prompt = task or story.prompt
    if not prompt:
        raise PerpetualError(
            "The scenario has no prompt", hint='Add one to the file, or give --task "…"'
        )
    if project is not None and not project.is_dir():
        raise PerpetualError(
            f"Project path '{project}' is not a directory", hint="Name an existing directory"
        )
    base = {**own_environment(), config.CONFIG_VARIABLE: str(config.config_path().absolute())}
    if ctx.obj.config is not None:
        base[config.CONFIG_VARIABLE] = str(ctx.obj.config.absolute())
    with staged(story, project, base=base) as stage:
        failed = stage.pcc(
            "start", str(stage.project), "--task", prompt, "--session-name", "rehearsal"
        )
        stage.pcc("status", "rehearsal", "--show-decisions")
        for mismatch in stage.server.mismatches:
            print(f"✗ {mismatch}")
        if failed or stage.server.mismatches:
            raise typer.Exit(1)
