"""
The configuration file: read once, checked, and told about with the line and the nearest key.

Each section is a frozen dataclass, defined by the capability that uses it; its fields are the
keys, their defaults the defaults, and the strings under them the documentation.
"""

import difflib
import hashlib
import json
import os
import re
import shlex
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from perpetualcc.brain.settings import BrainSettings
from perpetualcc.config import CONFIG_LIMIT, CONFIG_VARIABLE, config_path, is_config_named
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import expanded
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.goals.claims import CheckSettings
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.human.settings import HumanSettings
from perpetualcc.knowledge.settings import KnowledgeSettings
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.sessions.handover.thresholds import HandoverSettings
from perpetualcc.sessions.settings import LimitSettings, LoadSettings, SessionSettings
from perpetualcc.sessions.stuck import StuckSettings

_ORIGIN = re.compile(
    r"https://(?!(?:localhost|127\.[\d.]+)(?::|$))"
    r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::(?!443$)[1-9]\d{0,4})?"
)
"""As browsers write it: small letters, no path, no usual port. No name of this machine's own page,
which has no https and would be refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeSettings:
    """`[claude]`: which Claude Code runs, and how."""

    binary: str = ""
    """Path of the executable; empty: the one that comes with the Claude Agent SDK."""
    model: str = ""
    """Model that Claude Code uses; empty: its own default."""

    @property
    def path(self) -> Path | None:
        return expanded(Path(self.binary)) if self.binary else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardSettings:
    """`[dashboard]`: how browsers elsewhere reach the page of `pcc dashboard`."""

    address: str = ""
    """Such as `https://box.example.ts.net`: under it a proxy on this machine passes them on to
    port 8420 of this machine. Empty: nobody from elsewhere is let in."""

    def __post_init__(self) -> None:
        if self.address and not _ORIGIN.fullmatch(self.address):
            raise PerpetualError(
                f"'dashboard.address' is no https address of a host: {self.address!r}",
                hint="Such as: pcc config set dashboard.address https://box.example.ts.net",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """`[daemon]`: what the background process does to the machine."""

    keep_awake: bool = True
    """Keep the machine from falling asleep by itself while sessions work, and, unless it runs on
    its battery, while work goes on by itself within a day. Closing the lid still does what it
    did."""


_HOST = re.compile(r"(ssh://)?[A-Za-z0-9_][\w.+-]*(@[\w.-]+|@\[[\w:%.]+\])?(:\d+)?")
"""What `ssh` takes for a destination, and nothing that it takes for an option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSettings:
    """`[machines]`: where else you have sessions, for `pcc machines` and `pcc on all`."""

    hosts: tuple[str, ...] = ()
    """As you would type them behind `ssh`: names of your `~/.ssh/config`, or `USER@HOST`."""

    def __post_init__(self) -> None:
        for host in self.hosts:
            if host in {"all", "here"} or not _HOST.fullmatch(host):
                raise PerpetualError(
                    f"{host!r} is no host for ssh", hint="pcc machines add alice@build.example.com"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration: one frozen value per section."""

    sessions: SessionSettings = field(default_factory=SessionSettings)
    claude: ClaudeSettings = field(default_factory=ClaudeSettings)
    brain: BrainSettings = field(default_factory=BrainSettings)
    knowledge: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    human: HumanSettings = field(default_factory=HumanSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    load: LoadSettings = field(default_factory=LoadSettings)
    stuck: StuckSettings = field(default_factory=StuckSettings)
    checks: CheckSettings = field(default_factory=CheckSettings)
    notifications: NotificationSettings = field(default_factory=NotificationSettings)
    handover: HandoverSettings = field(default_factory=HandoverSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    machines: MachineSettings = field(default_factory=MachineSettings)


class ConfigError(PerpetualError):
    """The file says something that cannot be used: which key, on which line."""

    def __init__(self, path: Path, line: int | None, problem: str, hint: str) -> None:
        where = f"'{path}'" + ("" if line is None else f", line {line}")
        self.problem = problem
        """The message without the place."""
        super().__init__(f"{problem} ({where})", hint=hint)


def load_config(path: Path | None = None) -> Config:
    """
    The configuration; defaults where the file, or a key, is missing.

    `path` need not exist; without it the file in use is read.

    Raises:
        ConfigError: no TOML, an unknown key, a wrong type, with the line and the nearest key.
        PerpetualError: a file that a person named is not there.
    """
    must_exist = path is None and is_config_named()
    path = path or config_path()
    try:
        text = _read(path).decode("utf-8-sig")  # some editors begin with a mark
    except FileNotFoundError:
        if must_exist:
            raise _no_file(path) from None
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            path, None, f"The configuration cannot be read: {error}", _EDIT
        ) from error
    return parse_config(text, path)


def _read(path: Path) -> bytes:
    if path.samefile(os.devnull):
        return b""
    told = read_regular(path, CONFIG_LIMIT + 1)
    if len(told) > CONFIG_LIMIT:
        raise OSError(f"It has more than {CONFIG_LIMIT} bytes: {path}")
    return told


def digests(config: Config) -> dict[str, str]:
    """By section, without those that are as by default; equal for equal settings."""
    sections = ((one.name, getattr(config, one.name)) for one in fields(config))
    return {
        name: hashlib.sha256(repr(section).encode()).hexdigest()[:16]
        for name, section in sections
        if section != type(section)()
    }


def parse_config(text: str, path: Path) -> Config:
    """The same from its text; `path` names it in errors."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond all limits
        raise ConfigError(path, None, f"The configuration is no TOML: {error}", _EDIT) from error
    source = _Source(path, text)
    config: Config = _section(Config, data, (), source)
    _refuse_useless(config.permissions, source)
    return config


def _refuse_useless(permissions: PermissionSettings, source: "_Source") -> None:
    if permissions == PermissionSettings():
        return
    # Judging costs each command some 40 ms of imports, and the defaults need none.
    from perpetualcc.permissions.setting_checks import (  # noqa: PLC0415
        UselessEntry,
        refuse_useless,
    )

    try:
        refuse_useless(permissions)
    except UselessEntry as error:
        raise source.error(
            ("permissions", error.key), error.message, error.hint or _EDIT
        ) from error


def _no_file(path: Path) -> PerpetualError:
    return PerpetualError(
        f"Configuration file '{path}' does not exist",
        hint=f"Name another one, or none (--config, {CONFIG_VARIABLE}), or write it:"
        f" pcc --config {shlex.quote(str(path))} config set …",
    )


_EDIT = "Correct the file, or begin again with: pcc config reset"


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    text: str

    def line_of(self, keys: tuple[str, ...]) -> int | None:
        """The line of a key, counted from 1: in its section, or as a dotted key."""
        section: str = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                section = header[1].strip()
                if section == ".".join(keys):
                    return number
            elif assigned := re.match(r"\s*([\w.\"-]+)\s*=", line):
                name = f"{section}.{assigned[1]}" if section else assigned[1]
                if name.replace('"', "") == ".".join(keys):
                    return number
        return None

    def error(self, keys: tuple[str, ...], problem: str, hint: str) -> ConfigError:
        return ConfigError(self.path, self.line_of(keys), problem, hint)


def _section(kind: Any, data: Mapping[str, Any], keys: tuple[str, ...], source: _Source) -> Any:
    hints = typing.get_type_hints(kind)
    known = [one.name for one in fields(kind) if _is_setting(one)]
    values = {}
    for name, value in data.items():
        here = (*keys, name)
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {'.'.join((*keys, close[0]))!r}?" if close else ""
            raise source.error(
                here,
                f"Unknown key {'.'.join(here)!r}",
                hint or f"Known here: {', '.join(known)}",
            )
        values[name] = _value(hints[name], value, here, source)
    try:
        return kind(**values)
    except PerpetualError as error:  # values that do not go together
        raise source.error(keys, error.message, error.hint or _EDIT) from error


def _is_setting(one: "Field[Any]") -> bool:
    """Some fields are for tests and callers: they say so in their metadata."""
    return bool(one.init and one.metadata.get("is_setting", True))


def _value(kind: Any, value: Any, keys: tuple[str, ...], source: _Source) -> Any:
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise source.error(keys, f"{'.'.join(keys)!r} is a section", f"[{'.'.join(keys)}]")
        return _section(kind, value, keys, source)
    converted = _converted(kind, value)
    if converted is _WRONG:
        raise source.error(
            keys,
            f"{'.'.join(keys)!r} must be {kind_name(kind)}, not {value!r}",
            f"pcc config set {'.'.join(keys)} …",
        )
    return converted


_WRONG = object()


def _converted(kind: Any, value: Any) -> Any:
    """The value as a field of that type; `_WRONG` when it cannot be."""
    if isinstance(kind, types.UnionType):
        fitting = (_converted(one, value) for one in typing.get_args(kind))
        return next((one for one in fitting if one is not _WRONG), _WRONG)
    if typing.get_origin(kind) is tuple:
        fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return tuple(value) if fits else _WRONG
    if kind is Path:
        return expanded(Path(value)) if isinstance(value, str) else _WRONG
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value) if value in list(kind) else _WRONG
    if isinstance(value, bool) and kind is not bool:
        return _WRONG
    if kind in {int, float, timedelta}:
        return _number(kind, value)
    return value if isinstance(value, kind) else _WRONG


_LARGEST = 1e12
"""Larger than any count, size or number of seconds that makes sense, and no type minds it."""


def _number(kind: Any, value: Any) -> Any:
    """No setting means anything below zero, and nothing is waited for without a moment."""
    wanted = int if kind is int else int | float
    if not isinstance(value, wanted) or not 0 <= value <= _LARGEST:
        return _WRONG
    if kind is timedelta and not value:
        return _WRONG
    return timedelta(seconds=value) if kind is timedelta else kind(value)


def kind_name(kind: Any) -> str:
    """A type in the words of a person."""
    if typing.get_origin(kind) is tuple:
        return "a list of texts"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return f"one of {', '.join(kind)}"
    if kind is timedelta:
        return "a number of seconds above 0"
    names = {
        bool: "true or false",
        int: "a whole number from 0 on",
        float: "a number from 0 on",
        str: "a text",
    }
    return names.get(kind, "a path" if kind is Path else str(kind))


def words_of(kind: Any) -> tuple[str, ...]:
    """The words of a type that has few; empty for any other."""
    if kind is bool:
        return ("true", "false")
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def settings(kind: Any = Config, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every key with its type and default, in the order of the sections."""
    hints = typing.get_type_hints(kind)
    defaults = kind()
    for one in filter(_is_setting, fields(kind)):
        name = f"{prefix}{one.name}"
        if is_dataclass(hints[one.name]):
            yield from settings(hints[one.name], f"{name}.")
        else:
            yield name, hints[one.name], getattr(defaults, one.name)


def value_of(config: Config, name: str) -> Any:
    """The value of a dotted key."""
    value: Any = config
    for part in name.split("."):
        value = getattr(value, part)
    return value


def resolve_key(name: str) -> tuple[str, Any]:
    """
    A key and its type from what a person types: `sessions.max_concurrent`, or just
    `max_concurrent` where that is unique.

    Raises:
        PerpetualError: no such key, or several.
    """
    known = {key: kind for key, kind, _ in settings()}
    found = [key for key in known if key == name] or [
        key for key in known if key.rpartition(".")[2] == name
    ]
    if len(found) == 1:
        return found[0], known[found[0]]
    if found:
        raise PerpetualError(
            f"Several keys are called {name!r}", hint=f"One of: {', '.join(found)}"
        )
    short = {key.rpartition(".")[2]: key for key in known}
    close = difflib.get_close_matches(name, [*known, *short], n=1)
    raise PerpetualError(
        f"No key is called {name!r}",
        hint=f"Did you mean {short.get(close[0], close[0])!r}?"
        if close
        else "See: pcc config show",
    )


def parse_value(kind: Any, text: str) -> Any:
    """
    What a person types, as a value of that type.

    Raises:
        PerpetualError: it is none.
    """
    if typing.get_origin(kind) is tuple:
        return _list(text)
    text = _unquoted(text)
    if kind is bool and text.lower() in {"true", "false", "yes", "no", "on", "off"}:
        return text.lower() in {"true", "yes", "on"}
    if isinstance(kind, type) and issubclass(kind, StrEnum) and text in list(kind):
        return text
    if kind is timedelta:
        kind = float
    for number in (int, float):
        if kind is number or (isinstance(kind, types.UnionType) and number in kind.__args__):
            try:
                return number(text)
            except ValueError:
                break
    if kind in {str, Path} or isinstance(kind, types.UnionType):
        return text
    raise PerpetualError(f"{text!r} is not {kind_name(kind)}")


def _list(text: str) -> list[str]:
    """Separated by commas, or as `pcc config get` and the file have it."""
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    for read in (json.loads, _toml_value):
        try:
            found = read(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return found
    raise PerpetualError(f"{text!r} is no list of texts", hint="""Write a, b or '["a", "b"]'""")


def _toml_value(text: str) -> Any:
    return tomllib.loads(f"value = {text}")["value"]


def _unquoted(text: str) -> str:
    """A text as `pcc config get` prints it."""
    if len(text) < 2 or not text.startswith('"'):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, str) else text
