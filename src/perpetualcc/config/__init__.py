"""
Where the configuration comes from: the only package that reads the environment. Nothing happens
on import, and what reads the file is not imported before there is one.
"""

import os
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import expanded
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations

CONFIG_VARIABLE = "PERPETUALCC_CONFIG"
"""Path of the configuration file, when it is not the usual one. `--config` sets it."""

_STEERING = ("ANTHROPIC_", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_")
_NAMED = re.compile(r"""["']env:(\w+)["']""")
"""A variable that the configuration names: a key, or an address for notifications."""
CONFIG_LIMIT = 10_000_000
"""Bytes of a configuration file; a longer one is refused."""
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})

DEFAULT_CONFIG = Path("~/.perpetualcc/config.toml")
DEFAULT_DATA = Path("~/.perpetualcc/data")


def locate(data_dir: Path | None = None) -> Locations:
    """
    The locations below `data_dir`; without one below `~/.perpetualcc/data`.

    Raises:
        PerpetualError: there is no home, and each folder that one stands in would have its own.
    """
    if data_dir is None and not expanded(DEFAULT_DATA).is_absolute():
        raise PerpetualError("There is no home directory here", hint="export HOME=DIRECTORY")
    return Locations(data=Path(os.path.abspath(expanded(data_dir or DEFAULT_DATA))))  # noqa: PTH100  # symlinks stay as typed


def config_path() -> Path:
    """The configuration file, absolute: the named one, or the usual one, which need not exist."""
    return expanded(Path(os.environ.get(CONFIG_VARIABLE) or DEFAULT_CONFIG)).absolute()


def is_config_named() -> bool:
    """True when somebody chose the file: then it must be there to be read."""
    return bool(os.environ.get(CONFIG_VARIABLE))


def use_config(path: Path | None) -> None:
    """
    Settle on the file of `--config`, else of the variable, else the usual one.

    Absolute in the environment: a daemon that this process starts works in another directory.
    """
    if path is not None:
        os.environ[CONFIG_VARIABLE] = str(path)
    if is_config_named():
        os.environ[CONFIG_VARIABLE] = str(config_path())


def supervisor_flags() -> list[str]:
    """
    Flags for a supervisor that a command starts, from `PERPETUALCC_SUPERVISOR`.

    For tests and debugging: `PERPETUALCC_SUPERVISOR="--idle-exit 1" pcc list`.
    """
    return shlex.split(os.environ.get("PERPETUALCC_SUPERVISOR", ""))


def environment() -> dict[str, str]:
    """What this process was started with: where `env:NAME` keys are looked up."""
    return dict(os.environ)


def of_this_terminal(names: Iterable[str]) -> dict[str, str]:
    """Those of the variables that are set, and are text that can be sent."""
    found = {name: os.environ.get(name, "") for name in names}
    return {
        name: value
        for name, value in found.items()
        if value and value == value.encode("utf-8", "ignore").decode("utf-8")
    }


def resolve(written: str) -> str:
    """The value itself, or what the environment variable of `env:NAME` holds; empty if unset."""
    if not written.startswith("env:"):
        return written
    return os.environ.get(written.removeprefix("env:"), "")


def claude_directory() -> Path:
    """Where Claude Code keeps its own files."""
    return expanded(Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"))


def steering() -> dict[str, str]:
    """
    What of the environment steers Claude Code and us, each value as a digest: for comparing only.

    A session gets the daemon's environment, which is that of the command that started it.
    """
    import hashlib  # noqa: PLC0415  # most commands compare nothing

    named = _named()
    found = {
        name: value
        for name, value in os.environ.items()
        if value and (name.startswith(_STEERING) or name.upper() in _PROXIES or name in named)
    }
    found[CONFIG_VARIABLE] = str(config_path())  # the usual one too: another may be in use
    return {
        name: hashlib.sha256(os.fsencode(value)).hexdigest()[:16] for name, value in found.items()
    }


def _named() -> set[str]:
    """Variables that the file names; it is not parsed: the supervisor reads it too."""
    with suppress(OSError):
        text = read_regular(config_path(), CONFIG_LIMIT).decode(errors="replace")
        return set(_NAMED.findall(text))
    return set()


def settings_digests() -> dict[str, str]:
    """Of what is in the file now, by section, for comparing only; empty for the defaults."""
    if not (is_config_named() or config_path().exists()):
        return {}
    from perpetualcc.config.file import digests, load_config  # noqa: PLC0415  # most have no file

    return digests(load_config())


def user_configuration() -> Path:
    """Where programs keep their configuration (XDG Base Directory; a relative one counts not)."""
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".config"


def search_path() -> str:
    """The PATH of the person who types the command."""
    return os.environ.get("PATH", os.defpath)


def check_config() -> None:
    """Raises PerpetualError when the file has a mistake, or was named and is not there."""
    if is_config_named() or config_path().exists():
        from perpetualcc.config.file import load_config  # noqa: PLC0415  # most have no file

        load_config()
