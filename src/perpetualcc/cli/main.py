"""`pcc`: global options, lazy commands, and errors that say what to do."""

import importlib
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer import completion

from perpetualcc import __version__
from perpetualcc.cli.commands import COMMANDS, PANELS, CommandEntry
from perpetualcc.cli.ending import Mistyped, leave_after, with_our_errors
from perpetualcc.cli.narrow_help import use_narrow_help
from perpetualcc.cli.options import GlobalOptions, Group
from perpetualcc.cli.plain_values import use_plain_values
from perpetualcc.cli.streams import give_up_output
from perpetualcc.cli.zsh_completion import use_our_zsh
from perpetualcc.config import use_config

_SHELLS = ("bash", "zsh", "fish", "pwsh", "powershell")
_COMPLETION = {
    "--install-completion": completion.install_callback,
    "--show-completion": completion.show_callback,
}
"""Each ends the program."""


class _Commands(Group):
    """Lists commands from a table and imports one when it is run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`--show-completion bash` names the shell; alone it is the one that asks, if one does."""
        option, named = [*args, "", ""][:2]
        if option in _COMPLETION and named not in {"", *_SHELLS} and not named.startswith("-"):
            raise Mistyped(
                f"There is no completion for {named!r}", hint=f"The shells are {', '.join(_SHELLS)}"
            )
        for option, shell in pairwise(args):
            if option in _COMPLETION and shell in _SHELLS:
                _COMPLETION[option](ctx, self.params[0], shell)
            if option in _COMPLETION and not shell.startswith("-"):
                raise Mistyped(f"There is no completion for {shell!r}", hint=", ".join(_SHELLS[:3]))
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else _listed(cmd_name, entry)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, *rest = args
        if name in COMMANDS:
            return name, load_command(name), rest
        if not ctx.resilient_parsing:
            close = _alike(name)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return None, None, rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section a panel, in the order in which people meet them."""
        for panel, commands in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, entry.help) for name, entry in commands.items()])


def _alike(word: str) -> list[str]:
    from difflib import get_close_matches  # slow to import, wanted after a slip

    return get_close_matches(word, COMMANDS, n=1)


def _listed(name: str, entry: CommandEntry) -> Any:
    """What the help page needs of a command, without its module."""
    stub = typer.Typer(rich_markup_mode=None)
    stub.command(name=name, help=entry.help)(lambda: None)
    command = typer.main.get_command(stub)
    command.name = name
    return command


def load_command(name: str) -> Any:
    """Import the module of a command and build the command."""
    module = importlib.import_module(f"perpetualcc.cli.{COMMANDS[name].module}")
    command = typer.main.get_command(_alone(module.app, name))
    command.name = name
    _make_alike(command)
    return command


def _alone(app: typer.Typer, name: str) -> typer.Typer:
    """The command of this name without those of its module, or the whole group of that name."""
    for found in app.registered_commands:
        if name == (found.name or getattr(found.callback, "__name__", None)):
            app = typer.Typer(rich_markup_mode=None, add_completion=False)
            app.registered_commands.append(found)
            break
    return app


_KINDS = {"Path": "PATH", "int": "NUMBER", "float": "NUMBER"}


def _no_type(**_: Any) -> str:
    """`SESSION <str>`: a type of Python's tells a person nothing."""
    return ""


def _in_usage(param: Any) -> str:
    name: str = param.metavar if param.required else f"[{param.metavar}]"
    return name if param.nargs == 1 else f"{name}..."


def _make_alike(command: Any) -> None:
    """One look for the help of all commands, whichever way their module made them."""
    command.rich_markup_mode = None
    command.params = [p for p in command.params if not p.name.endswith("_completion")]
    for param in command.params:
        if param.param_type_name == "argument":
            param.metavar = (param.metavar or param.name).upper()
            param.display_type_rich = _no_type
            param._usage_display_name = partial(_in_usage, param)  # noqa: SLF001  # else `{PROJECT}`
        elif not (param.is_flag or param.metavar):
            shown = str(param.type_descriptor.annotation)
            param.metavar = next((_KINDS[kind] for kind in _KINDS if kind in shown), "TEXT")
    for inner in getattr(command, "commands", {}).values():
        _make_alike(inner)


app = typer.Typer(
    cls=_Commands,
    name="pcc",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pcc {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Config file [default: ~/.perpetualcc/config.toml]"),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Data directory [default: ~/.perpetualcc/data]"),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="While watching: show every event")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="While watching: show what needs you, and the end"),
    ] = False,
    staged: Annotated[bool, typer.Option("--staged", hidden=True)] = False,
    version: Annotated[  # noqa: ARG001  # its callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show version")
    ] = False,
) -> None:
    """
    Keeps Claude Code working around the clock, and explains every decision it takes.

    New here? pcc doctor, pcc login, pcc start ./project --task "…"
    """
    if verbose and quiet:
        raise typer.BadParameter("--verbose and --quiet contradict each other")
    use_config(config)
    ctx.obj = GlobalOptions(
        config=config, data_dir=data_dir, verbose=verbose, quiet=quiet, staged=staged
    )


def main() -> None:
    """Run `pcc`. A `PerpetualError` becomes two lines and exit code 1."""
    leave_after(lambda: run_alone(app, "pcc"))


def run_alone(command: typer.Typer, name: str) -> None:
    """Run a command line under its own name, with our errors."""
    with_our_errors(lambda: _run(command, name))


def _run(command: typer.Typer, name: str) -> Any:
    use_plain_values()
    use_narrow_help()
    use_our_zsh()
    code: Any = 0
    try:
        cast("Any", typer.main.get_command(command)).main(prog_name=name, standalone_mode=True)
    except SystemExit as ended:
        code = ended.code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()
    return code


if __name__ == "__main__":
    main()
