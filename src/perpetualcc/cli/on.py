"""`pcc on`: a command on another machine, or on all of them."""

import json
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import coloured, print_json
from perpetualcc.cli.other_machines import Said, ask_all, type_on
from perpetualcc.cli.typist import only_a_person
from perpetualcc.config.file import MachineSettings, load_config

app = typer.Typer(rich_markup_mode=None)

ALL = "all"
_LOOKS = ("list", "pending", "report", "decisions", "notifications", "doctor")
"""What may be typed for all machines at once: it changes nothing."""


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def on(
    ctx: typer.Context,
    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help="As behind ssh: a name of your ~/.ssh/config, or USER@HOST; or all",
            autocompletion=completion.machines,
        ),
    ],
    words: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND", help="What you would type behind pcc if you were there"),
    ],
) -> None:
    """
    Type a command on another machine, by ssh: paths and sessions are those of that machine.

    With `all` it is typed here and on every machine of `pcc machines`, at once, if it only looks:
    list, pending, report, decisions, notifications, doctor.

    Example: pcc on box attach my-session
    """
    only_a_person("works on other machines")
    if machine == ALL:
        raise typer.Exit(_on_all(ctx, words))
    raise typer.Exit(type_on(MachineSettings(hosts=(machine,)).hosts[0], words))


def _on_all(ctx: typer.Context, words: list[str]) -> int:
    if words[0] not in _LOOKS:
        raise Mistyped(
            f"{words[0]!r} is for one machine at a time", hint=f"For all: {', '.join(_LOOKS)}"
        )
    answers = ask_all(ctx.obj, load_config().machines.hosts, words)
    if "--json" in words:
        print_json({answer.host: _data(answer) for answer in answers})
    else:
        print("\n\n".join(map(_shown, answers)))
    return int(any(answer.code for answer in answers))


def _shown(answer: Said) -> str:
    told = f"{answer.problem.message}\n{answer.problem.hint}" if answer.problem else answer.shown
    return f"{coloured(f'── {answer.host}', 'dim')}\n{told.strip()}"


def _data(answer: Said) -> Any:
    """What it answered, or an object with the `error` alone."""
    if answer.problem:
        return {"error": answer.problem.message}
    try:
        return json.loads(answer.output)
    except (ValueError, RecursionError):
        return {"error": answer.in_short}
