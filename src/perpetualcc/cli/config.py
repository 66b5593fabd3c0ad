"""`pcc config`: show the settings, change one, go back to the defaults."""

import fcntl
import json
import os
import shlex
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc import config
from perpetualcc.cli import completion
from perpetualcc.cli.connection import restart_command
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json
from perpetualcc.cli.options import JsonOption, ListingGroup
from perpetualcc.cli.streams import remedy
from perpetualcc.cli.typist import no_run_of_ours
from perpetualcc.config import file
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import expanded
from perpetualcc.domain.private_files import write_whole

app = typer.Typer(
    help="Show and change the settings; alone it shows them.",
    cls=ListingGroup,
    add_completion=False,
    rich_markup_mode=None,
)

KeyArgument = Annotated[
    str,
    typer.Argument(
        metavar="KEY",
        help="Such as sessions.max_concurrent, or max_concurrent",
        autocompletion=completion.settings,
    ),
]

_CHANGES = "changes the settings"


@app.command()
@app.command("list", hidden=True)  # as other programs call it
def show(
    as_json: JsonOption = False,
) -> None:
    """
    Show every setting; those that differ from the default are marked.

    Example: pcc config show
    """
    path = config.config_path()
    current = file.load_config(path)
    found = [(name, file.value_of(current, name), default) for name, _, default in file.settings()]
    if as_json:
        print_json({name: json.loads(_shown(name, value)) for name, value, _ in found})
        return
    print(f"# {path}{'' if path.exists() else ' (not written yet: these are the defaults)'}")
    for name, value, default in found:
        mark = "" if value == default else f"   # default: {_toml(default)}"
        print(f"{name} = {_shown(name, value)}{mark}")


@app.command()
def get(
    key: KeyArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Output as JSON, with its full name")
    ] = False,
) -> None:
    """
    Print one setting.

    Example: pcc config get max_concurrent
    """
    name, _ = _resolved(key)
    value = _shown(name, file.value_of(file.load_config(config.config_path()), name))
    if as_json:
        print_json({name: json.loads(value)})
    else:
        print(value)


# A negative number is a value that makes no sense, not an option.
@app.command("set", context_settings={"ignore_unknown_options": True})
def set_value(
    ctx: typer.Context,
    key: KeyArgument,
    value: Annotated[
        str,
        typer.Argument(
            metavar="VALUE",
            help='Lists: a, b or \'["a", "b"]\'',
            autocompletion=completion.values,
        ),
    ],
) -> None:
    """
    Change one setting; the rest of the file, comments too, stays as it is.

    Example: pcc config set max_concurrent 8
    """
    no_run_of_ours(ctx.obj, _CHANGES)
    name, kind = _resolved(key)
    default = shlex.quote(_toml(file.value_of(file.Config(), name)).strip('"'))
    with _typed(f"pcc config set {name} {default}"):
        wanted = file.parse_value(kind, value)
    if name in {_SECRET, _ADDRESSES} and "…" in value:
        raise PerpetualError(
            f"'…' is what is shown instead of the value of {name!r}",
            hint="Give the value itself, or where it is: env:NAME",
        )
    change(config.config_path(), name, wanted)
    _warn_of_nothing(name, wanted)
    print(f"{name} = {_shown(name, file.value_of(file.load_config(config.config_path()), name))}")
    _say_when(ctx, name)


@app.command()
def reset(
    ctx: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="Only this one", autocompletion=completion.settings),
    ] = None,
) -> None:
    """
    Go back to the defaults; the old file is kept beside the new one.

    Example: pcc config reset max_concurrent
    """
    no_run_of_ours(ctx.obj, _CHANGES)
    path = config.config_path()
    if key is not None:
        name, _ = _resolved(key)
        change(path, name, None)
        print(f"{name} is back at its default")
        _say_when(ctx, name)
    elif path.exists():
        kept = path.with_suffix(".toml.old")
        path.replace(kept)
        print(f"Back at the defaults; the old settings are in {kept}")
        _say_when(ctx, "")
    else:
        print("The settings are the defaults already")


@app.command("path")
def show_path() -> None:
    """
    Print where the settings are.

    Example: ${EDITOR:-vi} "$(pcc config path)"
    """
    print(config.config_path())


@app.command()
def brain(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="BRAIN",
            help="none, claude, gemini or ollama",
            autocompletion=completion.one_of("none", "claude", "gemini", "ollama"),
        ),
    ],
    model: Annotated[str | None, typer.Option(help="Model of the brain")] = None,
    key: Annotated[
        str | None, typer.Option(help="API key as env:NAME or keyring:NAME [default: asked for]")
    ] = None,
    check: Annotated[bool, typer.Option(help="See whether it answers")] = True,
) -> None:
    """
    Choose the brain for new sessions; asks for its key, and sees whether it answers.

    Example: pcc config brain ollama --model deepseek-coder:33b
    """
    from perpetualcc.brain.factory import check_brain
    from perpetualcc.claude.completion import ClaudeCompletion

    no_run_of_ours(ctx.obj, _CHANGES)
    path = config.config_path()
    _, kind = file.resolve_key("brain.type")
    with _typed("pcc config brain claude"):
        wanted = {"brain.type": file.parse_value(kind, name)}
    if model is not None and name != "none":
        wanted[f"brain.{name}.model"] = model
    if name == "gemini":
        wanted[_SECRET] = key or _asked_key()
    if check:
        with _tried(path, wanted) as draft:
            check_brain(
                file.load_config(draft).brain,
                environment=config.environment(),
                open_claude=ClaudeCompletion,
            )
    for setting, value in wanted.items():
        change(path, setting, value)
    print(f"New sessions have the brain: {'rules, no AI' if name == 'none' else name}")
    _say_when(ctx, "brain.type")


def _say_when(ctx: typer.Context, name: str) -> None:
    """From when on a changed setting counts: the engine reads them once, a session keeps some."""
    if name in _AT_ONCE:
        return
    what = "for sessions that begin after" if name in _KEPT else "from"
    again = restart_command(ctx.obj)
    print(f"It counts {what} the next start of the engine: {again}")


def _asked_key() -> str:
    """From the keyboard, unseen, or a line of input; kept in the system's key store, if any."""
    from perpetualcc.brain.keys import store_key

    if sys.stdin.isatty():
        typed: str = typer.prompt("API key", hide_input=True)
    else:
        typed = sys.stdin.readline().strip()
    if not typed:
        raise PerpetualError(
            "There is no API key", hint="Say where it is: pcc config brain gemini --key env:NAME"
        )
    if typed.startswith(("env:", "keyring:")):
        return typed
    try:
        return store_key("gemini", typed)
    except PerpetualError:
        print("There is no key store here: the key goes into the file, which only you can read")
        return typed


@contextmanager
def _tried(path: Path, wanted: dict[str, Any]) -> Iterator[Path]:
    """A copy of the configuration with the changes, to try them out."""
    from perpetualcc.claude.scratch import scratch

    with scratch("config") as folder:
        draft = folder / "config.toml"
        if path.exists():
            draft.write_bytes(path.read_bytes())
        for setting, value in wanted.items():
            change(draft, setting, value)
        yield draft


def change(path: Path, name: str, value: Any) -> None:
    """
    Write one key (None: remove it), atomically, and only if the result can be used.

    `value`: or what makes it of what is written by now; nobody else writes meanwhile.
    """
    with _one_at_a_time(path.resolve().parent):
        _change_alone(path, name, value() if callable(value) else value)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Of two who write at once none undoes the other's change; where there are no locks, it may."""
    with ExitStack() as held:
        with suppress(OSError):  # whoever cannot write here is told so by the write
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _change_alone(path: Path, name: str, value: Any) -> None:
    import tomlkit  # it costs a tenth of a second, and only writing needs it

    mistake = _mistake_in(path)
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig") if path.exists() else "")
    except (OSError, ValueError):
        if mistake is None:
            raise
        raise mistake from None
    *sections, key = name.split(".")
    table: Any = document
    for section in sections:
        table = table.setdefault(section, tomlkit.table())
        if mistake is not None and not isinstance(table, MutableMapping):
            raise mistake
    if value is None:
        table.pop(key, None)
        _leave_out_empty(document, sections)
    else:
        table[key] = value
    written = tomlkit.dumps(document)
    alone = "" if value is None else f"{name} = {tomlkit.item(value).as_string()}"
    _refuse_unusable(written, path, mistake, alone)
    try:
        write_whole(path.resolve(), written)  # of a link, the file that it leads to
    except OSError as error:
        raise PerpetualError(
            f"'{path}' cannot be written: {error.strerror}", hint=remedy(error)
        ) from error


def _leave_out_empty(document: MutableMapping[str, Any], sections: list[str]) -> None:
    """The sections that the last key has left, from the innermost; not one with a remark in it."""
    for depth in range(len(sections), 0, -1):
        *outer, name = sections[:depth]
        around: Any = document
        for section in outer:
            around = around[section]
        if around[name].as_string().strip():
            return
        around.pop(name)


def _mistake_in(path: Path) -> file.ConfigError | None:
    """What is wrong with the file before it is changed: the change may mend just that."""
    try:
        file.load_config(path)
    except file.ConfigError as error:
        return error
    return None


def _refuse_unusable(
    written: str, path: Path, mistake: file.ConfigError | None, alone: str
) -> None:
    """
    Without a line, unless it was wrong before: the new value is in nobody's file.

    What is as wrong `alone`, with nothing else in the file, is a slip of the fingers.
    """
    error = _problem_of(written, path)
    if error is None:
        return
    if mistake is not None and mistake.problem == error.problem:
        raise mistake from error
    slip = _problem_of(alone, path)
    kind = Mistyped if slip is not None and slip.problem == error.problem else PerpetualError
    raise kind(f"{error.problem}; '{path}' stays as it is", hint=error.hint) from error


def _problem_of(text: str, path: Path) -> file.ConfigError | None:
    try:
        file.parse_config(text, path)
    except file.ConfigError as error:
        return error
    return None


_PATHS = frozenset({"claude.binary"})
"""Settings that name a file of this machine."""


def _warn_of_nothing(name: str, value: Any) -> None:
    """A path may be made later; until then nothing starts."""
    if name in _PATHS and value and not expanded(Path(value)).is_file():
        print(f"Warning: there is no file {str(value)!r} now", file=sys.stderr)


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _toml(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


_KEPT = frozenset(
    {
        *("brain.type", "brain.confidence_threshold"),
        *("handover.warn_tokens", "handover.hard_tokens"),
        *("handover.warn_minutes", "handover.hard_minutes"),
    }
)
"""What a session keeps from when it began."""
_AT_ONCE = frozenset({"machines.hosts"})
"""What commands read, and the engine does not."""
_ADDRESSES = "notifications.urls"
"""They hold passwords and tokens."""
_SECRET = "brain.gemini.api_key"  # noqa: S105  # the setting's name


@contextmanager
def _typed(right: str) -> Iterator[None]:
    """A value or a key that is none is a slip of the fingers."""
    try:
        yield
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint or f"Such as: {right}") from None


def _resolved(key: str) -> tuple[str, Any]:
    with _typed("pcc config show"):
        return file.resolve_key(key)


def _shown(name: str, value: Any) -> str:
    """A key is never printed; where it is kept may be."""
    if name == _ADDRESSES:
        return _toml(_hidden(value))
    is_key = name == _SECRET and not str(value).startswith(("env:", "keyring:"))
    return '"…"' if is_key and value else _toml(value)


def _hidden(addresses: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        one if one.startswith("env:") else f"{one.partition('://')[0]}://…" for one in addresses
    )
