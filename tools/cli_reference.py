"""`docs/cli.md`: every command with its arguments, options and example, from the parser itself."""

from collections.abc import Iterator
from typing import Any

import typer

from perpetualcc.cli.commands import PANELS
from perpetualcc.cli.main import app, load_command
from tools.marked import cell

_START = """# Commands

Data goes to standard output, everything else to standard error. Exit code 0: it worked; 1: an error, with a hint what to do; 2: it was typed wrong, whatever is there: a word lacks, is unknown, or contradicts another. Colours appear on a terminal only, and never with `NO_COLOR` set. What takes SESSION takes an id, its beginning (three characters or more), or a name.

Shell completion, for bash, zsh and fish, with your sessions, tasks and what waits: `pcc --install-completion`; `pcc --show-completion zsh` prints it for the shell that you name.
"""


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    lines = [_START, "## Global options", "", *_options(root)]
    for panel, names in PANELS.items():
        lines += [f"## {panel}", ""]
        for name in names:
            lines += _command(f"pcc {name}", load_command(name))
    return "\n".join(lines).rstrip() + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    """A command, or a group and then each of its commands."""
    about, example = _told(command)
    yield from [f"### `{name}`", "", about, ""]
    inner = getattr(command, "commands", None)
    if inner is not None:
        if command.invoke_without_command:
            yield from ["```", f"{name} [OPTIONS]", "```", "", *_options(command)]
        for one in (command for command in inner.values() if not command.hidden):
            yield from _command(f"{name} {one.name}", one)
        return
    yield from ["```", f"{name}{_usage(command)}", "```", ""]
    yield from [*_arguments(command), *_options(command)]
    if example:
        yield from [f"Example: `{example}`", ""]


def _told(command: Any) -> tuple[str, str]:
    """What the help says, and its example."""
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    examples = [part for part in paragraphs if part.startswith("Example: ")]
    about = [part for part in paragraphs if part not in examples]
    return "\n\n".join(about), "".join(examples).removeprefix("Example: ")


def _usage(command: Any) -> str:
    words = [_argument(p) for p in command.params if p.param_type_name == "argument"]
    return "".join(f" {word}" for word in words) + " [OPTIONS]"


def _argument(param: Any) -> str:
    name = (param.metavar or param.name).upper()
    return name if param.required else f"[{name}]"


def _arguments(command: Any) -> list[str]:
    found = [p for p in command.params if p.param_type_name == "argument"]
    rows = [f"| `{_argument(p)}` | {cell(p.help or '')} |" for p in found]
    return ["| argument | meaning |", "|---|---|", *rows, ""] if rows else []


def _options(command: Any) -> list[str]:
    found = [
        p
        for p in command.params
        if p.param_type_name == "option" and p.name != "help" and not p.hidden
    ]
    rows = [f"| {_names(p)} | {cell(p.help or '')}{_default(p)} |" for p in found]
    return ["| option | meaning |", "|---|---|", *rows, ""] if rows else []


def _names(param: Any) -> str:
    kind = "" if param.is_flag else f" {param.metavar}"
    names = ", ".join(f"`{name}{kind}`" for name in param.opts)
    return names + "".join(f" / `{name}`" for name in param.secondary_opts)


def _default(param: Any) -> str:
    if param.default in {None, "", False} or param.is_eager or "[default" in (param.help or ""):
        return ""
    shown = {True: param.opts[0]}.get(param.default, param.default)
    return f" (default: `{shown}`)"
