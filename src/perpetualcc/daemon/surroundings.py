"""
What of the terminal's environment stays behind when a daemon starts there.

Sessions of every project work in what the daemon was given. What says where the terminal stands
(a git hook, an activated environment of ours) would lead all of them astray.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import perpetualcc
from perpetualcc.claude import processes

_OF_A_REPOSITORY = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"),
        *("GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_IMPLICIT_WORK_TREE", "GIT_SHALLOW_FILE"),
    }
)
"""Set by git for hooks, aliases and `rebase --exec` (git-rev-parse(1), --local-env-vars)."""


def for_a_daemon(variables: Mapping[str, str], programs: Path) -> dict[str, str]:
    """
    The variables for a supervisor, and for all that it starts.

    Where PerpetualCC's own environment is activated, `python` and `pip` would be ours in every
    project. In its place stands `programs`, a folder with `pcc` alone.
    """
    # A supervisor that a command inside a run starts must not look like part of it.
    left_out = {processes.VARIABLE, *_OF_A_REPOSITORY}
    own = own_environment()
    if own and _is_same(variables.get("VIRTUAL_ENV", ""), own):
        left_out |= {"VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"}
    kept = {name: value for name, value in variables.items() if name not in left_out}
    if own and "PATH" in kept:
        kept["PATH"] = os.pathsep.join(
            str(programs) if _is_same(place, own / "bin") else place
            for place in kept["PATH"].split(os.pathsep)
        )
    return kept


def offer_programs(programs: Path) -> None:
    """Make the folder that stands for ours in the PATH of sessions."""
    if own := own_environment():
        programs.mkdir(mode=0o700, exist_ok=True)
        link = programs / "pcc"
        link.unlink(missing_ok=True)
        link.symlink_to(own / "bin/pcc")


def own_environment() -> Path | None:
    """
    The virtual environment that `make install` made beside our code.

    None where PerpetualCC was installed into another: that may be a project's own.
    """
    place = Path(sys.prefix).resolve()
    source = Path(perpetualcc.__file__).resolve()
    is_beside = place.parent in source.parents and place not in source.parents
    return place if is_beside and sys.prefix != sys.base_prefix else None


def _is_same(written: str, place: Path) -> bool:
    return bool(written) and os.path.realpath(written) == os.path.realpath(place)
