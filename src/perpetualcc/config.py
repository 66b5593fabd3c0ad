"""The only module that reads the environment. Nothing happens on import."""

import os
import shlex
from pathlib import Path

from perpetualcc.domain.locations import Locations

__all__ = ["Locations", "locate", "search_path", "supervisor_flags"]

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


def search_path() -> str:
    """The PATH of the person who types the command."""
    return os.environ.get("PATH", os.defpath)
