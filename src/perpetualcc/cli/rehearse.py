"""`pcc rehearse`: what the policy would do, without spending a token."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from perpetualcc import config
from perpetualcc.cli import completion
from perpetualcc.cli.options import GlobalOptions, directory
from perpetualcc.cli.stage import Stage, staged
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical, home_of
from perpetualcc.permissions.rules import Rule, RuleSubject
from perpetualcc.permissions.trust import content_hash, is_trusted, read_watched_files
from perpetualcc.rehearsal import load_scenario
from perpetualcc.store.recorded import Recorded, record, recorded

app = typer.Typer(rich_markup_mode=None)


@app.command()
def rehearse(
    ctx: typer.Context,
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="YAML file with the story, or demo, question, limit or parallel",
            autocompletion=completion.scenarios,
        ),
    ],
    project: Annotated[
        Path | None, typer.Option(help="Play it in a copy of this project [default: an empty one]")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="What Claude is asked for [default: the scenario's prompt]")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the file")] = False,
) -> None:
    """
    Play a scripted story on the real Claude Code, under your settings and your own rules.

    Works in a copy: your project stays as it is, and what you trust of it is trusted there.
    You answer what is asked, here; where there is no terminal, a question ends it with code 1.
    Afterwards the decisions are listed.

    Example: pcc rehearse scenario.yaml --project .
    """
    story = load_scenario(scenario)
    if check:
        print(story.summary)
        return
    prompt = task or story.prompt
    if not prompt:
        raise PerpetualError(
            "The scenario has no prompt", hint='Add one to the file, or give --task "…"'
        )
    project = None if project is None else directory(project)
    config.check_config()
    base = config.environment()
    if (settings := config.config_path()).exists():
        base[config.CONFIG_VARIABLE] = str(settings)
    with staged(story, project, base=base) as stage:
        take_along(ctx.obj, stage, project)
        failed = stage.pcc(
            *("start", str(stage.project), "--task", prompt, "--session-name", "rehearsal"),
            is_answered=True,
        )
        stage.pcc("status", "rehearsal", "--show-decisions")
        for mismatch in stage.server.mismatches:
            print(f"✗ {mismatch}")
        if failed or stage.server.mismatches:
            raise typer.Exit(1)


def take_along(options: GlobalOptions, stage: Stage, project: Path | None) -> None:
    """A person's rules, and their trust in the project, as they would count in it."""
    known = recorded(options.locations.database)
    there = None if project is None else canonical(project)
    here = canonical(stage.project)
    rules = [_moved(rule, there, here) for rule in known.rules]
    trust = _trusted(known, there, here)
    if rules or trust:
        database = config.locate(stage.data).database
        asyncio.run(record(database, Recorded(rules=tuple(rules), trust=trust), SystemClock()))


def _trusted(known: Recorded, there: Path | None, here: Path) -> dict[Path, str]:
    """What is trusted of the project, also as a worktree of one, is trusted of the copy."""
    if there is None:
        return {}
    files, home = read_watched_files(there), home_of(there)
    at_home = None if home == there else (read_watched_files(home), known.trust.get(home))
    is_known = bool(files) and is_trusted(files, known.trust.get(there), at_home)
    return {here: content_hash(files)} if is_known else {}


def _moved(rule: Rule, there: Path | None, here: Path) -> Rule:
    """What a rule says of the project, it says of the copy."""
    if there is None:
        return rule
    if rule.project and rule.holds_in(there):
        if rule.subject is RuleSubject.PATH and rule.project != str(there):
            rule = replace(rule, pattern=str(Path(rule.project, rule.pattern)))
        rule = replace(rule, project=str(here))
    if rule.pattern.startswith(f"{there}/"):
        rule = replace(rule, pattern=f"{here}{rule.pattern.removeprefix(str(there))}")
    return rule
