"""The only module that reads the environment. Nothing happens on import."""

import os
import shlex
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from perpetualcc.domain.locations import Locations
from perpetualcc.sessions.settings import SessionSettings

__all__ = ["Locations", "locate", "search_path", "supervisor_flags"]

CONFIG_VARIABLE = "PERPETUALCC_CONFIG"
"""Path of the configuration file, for a daemon that a command with `--config` starts."""

DEFAULT_DATA = Path("~/.perpetualcc/data")


def locate(data_dir: Path | None = None) -> Locations:
    """The locations below `data_dir`; without one below `~/.perpetualcc/data`."""
    return Locations(data=Path(os.path.abspath((data_dir or DEFAULT_DATA).expanduser())))  # noqa: PTH100  # symlinks stay as typed


def supervisor_flags() -> list[str]:
    """
    Flags for a supervisor that a command starts, from `PERPETUALCC_SUPERVISOR`.

    For tests and debugging: `PERPETUALCC_SUPERVISOR="--idle-exit 1" pcc list`.
    """
    return shlex.split(os.environ.get("PERPETUALCC_SUPERVISOR", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeConfig:
    """`[claude]`: which Claude Code runs."""

    binary: str = ""
    """Path of the executable; empty: the one that comes with the Claude Agent SDK."""

    @property
    def path(self) -> Path | None:
        return Path(self.binary).expanduser() if self.binary else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanConfig:
    """`[human]`: how long a running Claude waits for a person."""

    hold_seconds: float = 300.0
    """After that the run ends and the session waits as a row, for days if need be."""

    @property
    def hold(self) -> timedelta:
        return timedelta(seconds=self.hold_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration: one frozen value per section."""

    sessions: SessionSettings = field(default_factory=SessionSettings)
    claude: ClaudeConfig = field(default_factory=ClaudeConfig)
    human: HumanConfig = field(default_factory=HumanConfig)


def load_config() -> Config:
    return Config()


def search_path() -> str:
    """The PATH of the person who types the command."""
    return os.environ.get("PATH", os.defpath)
