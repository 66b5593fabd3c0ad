"""`pcc doctor`: what is here, what is enforced, and how that is known."""

import asyncio
from collections.abc import Iterator
from typing import Annotated

import typer

from perpetualcc import config
from perpetualcc.claude.binary import chosen_claude
from perpetualcc.claude.scratch import scratch
from perpetualcc.cli.checkup import Finding, what_is_good_to_have, what_is_needed
from perpetualcc.cli.look import coloured, hung, print_json
from perpetualcc.cli.options import JsonOption
from perpetualcc.config.file import load_config
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(rich_markup_mode=None)


@app.command()
def doctor(
    ctx: typer.Context,
    prove: Annotated[
        bool, typer.Option("--prove", help="Run the canary: see that a refusal refuses")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Check this machine; with --prove see on the real Claude Code what is enforced.

    Exit code 1 when something fails without which nothing works.

    Example: pcc doctor --prove
    """
    places = ctx.obj.locations
    needed = [*what_is_needed(places), *(_prove() if prove else [])]
    findings = [*needed, *what_is_good_to_have(ctx.obj)]
    if as_json:
        told = [{"is_well": is_well, "finding": text} for is_well, text in findings]
        print_json(told)
    else:
        for is_well, text in findings:
            sign = coloured("✓", "green") if is_well else coloured("✗", "red")
            print(hung(f"{sign} {text}"))
    if not (prove or as_json):
        print("\nTo see on the real Claude Code what is enforced: pcc doctor --prove")
    if not all(is_well for is_well, _ in needed):
        raise typer.Exit(1)


def _prove() -> Iterator[Finding]:
    """Every layer on its own, on the real Claude Code with a scripted model."""
    from perpetualcc.daemon.canary import Canary  # costs a second

    try:
        binary = chosen_claude(load_config().claude.path)
    except PerpetualError as error:
        yield False, f"Nothing can be proved: {error.message}"
        return
    with scratch("doctor") as folder:
        canary = Canary(config.locate(folder).prepare())
        for proof in asyncio.run(canary.prove(binary)):
            yield proof.holds, f"{proof.name}: {proof.why}"
