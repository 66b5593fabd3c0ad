"""`pcc doctor`: what is here, what is enforced, and how that is known."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from perpetualcc import __version__, config
from perpetualcc.claude.layers import why_no_sandbox
from perpetualcc.cli.connection import locations
from perpetualcc.cli.look import coloured
from perpetualcc.daemon.state import read_status
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(rich_markup_mode=None)

Finding = tuple[bool, str]


@app.command()
def doctor(
    ctx: typer.Context,
    prove: Annotated[
        bool, typer.Option("--prove", help="Run the canary: see that a refusal refuses")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Output as JSON")] = False,
) -> None:
    """
    Check this machine; with --prove see on the real Claude Code what is enforced.

    Example: pcc doctor --prove
    """
    proofs = list(_prove()) if prove else []
    findings = [*_look(ctx), *proofs]
    if as_json:
        told = [{"is_well": is_well, "finding": text} for is_well, text in findings]
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        for is_well, text in findings:
            print(f"{coloured('✓', 'green') if is_well else coloured('✗', 'red')} {text}")
    if not (prove or as_json):
        print("\nTo see on the real Claude Code what is enforced: pcc doctor --prove")
    if not all(is_well for is_well, _ in proofs):
        raise typer.Exit(1)


def _look(ctx: typer.Context) -> Iterator[Finding]:
    yield True, f"PerpetualCC {__version__}"
    try:
        from perpetualcc.claude.adapter import bundled_claude  # noqa: PLC0415  # costs a second

        yield True, f"Claude Code: {bundled_claude()}"
    except PerpetualError as error:
        yield False, error.message
    try:
        config.check_config()
        yield True, f"Configuration: {config.config_path()}"
    except PerpetualError as error:
        yield False, error.message
    yield True, f"Daemon: {read_status(locations(ctx.obj)).phase.value}"
    missing = why_no_sandbox()
    yield not missing, f"Sandbox: {missing or 'available'}"


def _prove() -> Iterator[Finding]:
    """Every layer on its own, on the real Claude Code with a scripted model."""
    from perpetualcc.claude.adapter import bundled_claude  # noqa: PLC0415  # costs a second
    from perpetualcc.daemon.canary import Canary  # noqa: PLC0415  # same

    with tempfile.TemporaryDirectory(prefix="pcc-doctor-") as folder:
        canary = Canary(config.locate(Path(folder)).prepare())
        for proof in asyncio.run(canary.prove(bundled_claude())):
            yield proof.holds, f"{proof.name}: {proof.why}"
