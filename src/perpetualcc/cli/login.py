"""`pcc login`: sign in to Claude with the Claude Code that PerpetualCC runs."""

import subprocess
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None)


@app.command(context_settings={"ignore_unknown_options": True})
def login(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OPTION", help="Passed on to Claude Code: --console, --sso, --email ADDRESS"
        ),
    ] = None,
) -> None:
    """
    Sign in to Claude, once. It is Claude Code's own login: it shows an address to open.

    Example: pcc login
    """
    from perpetualcc.claude.binary import chosen_claude
    from perpetualcc.config.file import load_config

    binary = chosen_claude(load_config().claude.path)
    raise typer.Exit(subprocess.call([binary, "auth", "login", *(words or [])]))
