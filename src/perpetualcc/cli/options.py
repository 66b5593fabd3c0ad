"""The global options, as every command finds them in `ctx.obj`, and those that several have."""

import shlex
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from perpetualcc.cli import completion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.config import locate
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical, expanded, is_folder
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.session_status import SessionStatus


def session_argument(*statuses: SessionStatus, or_else: str = "") -> Any:
    """
    Any session may be typed; those with one of these statuses are offered, or all.

    `or_else`: which one is meant where none is (`which_session`).
    """
    typed = "Id, three characters of its beginning or more, or a name"
    return typer.Argument(
        metavar="SESSION",
        help=f"{typed} [default: {or_else}]" if or_else else typed,
        show_default=False,
        autocompletion=completion.sessions(*statuses),
    )


LookedAtArgument = Annotated[str | None, session_argument(or_else="the only one that is not over")]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", help="Only this session", autocompletion=completion.sessions()),
]
ProjectArgument = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project's directory")]
TaskOption = Annotated[str | None, typer.Option(help="What to do")]
ClaudeModelOption = Annotated[
    str | None, typer.Option(help="Model that Claude Code uses [default: the configuration's]")
]
NameOption = Annotated[
    str, typer.Option(help="A name for this session; one that is over gives it up")
]
WorktreeOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Work in this git worktree of the project, made if it is not there",
        autocompletion=completion.worktrees,
    ),
]
DetachOption = Annotated[bool, typer.Option("--detach", "-d", help="Start in the background")]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Go on, live")]
JsonOption = Annotated[bool, typer.Option("--json", help="Output as JSON")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only print what would be done")]


TAKES_WORDS: dict[Any, Any] = {"allow_extra_args": True}
"""Of a command that begins work in a project: more words than that are told of by us."""


def refuse_words(ctx: typer.Context, project: Path) -> None:
    """
    Raises Mistyped for words that no option takes, whatever they are.

    They are not taken for the task: `pcc start *` would set an agent to work on a file's name.
    """
    if ctx.args:
        words = " ".join(ctx.args)
        again = f"{ctx.command_path} {shlex.quote(str(project))} --task {shlex.quote(words)}"
        raise Mistyped(f"{words!r} belongs to no option", hint=f"As the task: {again}")
    if " " in str(project) and not is_folder(expanded(project)):
        raise Mistyped(
            f"{str(project)!r} is no project's directory",
            hint=f"As the task: {ctx.command_path} --task {shlex.quote(str(project))}",
        )


def directory(project: Path) -> Path:
    """The one name of a project's directory. Raises PerpetualError when it is none."""
    place = canonical(project)
    if not is_folder(place):
        raise PerpetualError(
            f"Project path '{project}' is not a directory", hint="Name an existing directory"
        )
    return place


class Group(TyperGroup):
    """Commands of one kind. Nothing typed is not a mistake: the help goes to standard output."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not (args or self.invoke_without_command or ctx.resilient_parsing):
            print(ctx.get_help())
            ctx.exit()
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with its first sentence, whole, over two lines where it is long."""
        rows = [
            (name, command.get_short_help_str(limit=1000))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class ListingGroup(Group):
    """Typed alone, with or without `--json`, it is its `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and set(args) <= {"--json"}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


class Detail(Enum):
    """How much is shown of what happens."""

    QUIET = auto()
    """What needs a person, problems and the end."""
    NORMAL = auto()
    VERBOSE = auto()
    """Every event, those without a line of their own as data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalOptions:
    """What was typed before the command."""

    config: Path | None = None
    data_dir: Path | None = None
    verbose: bool = False
    quiet: bool = False
    staged: bool = False
    """A rehearsal: no other terminal knows of this daemon, so nobody can answer from one."""

    @property
    def locations(self) -> Locations:
        return locate(self.data_dir)

    @property
    def detail(self) -> Detail:
        if self.quiet:
            return Detail.QUIET
        return Detail.VERBOSE if self.verbose else Detail.NORMAL
