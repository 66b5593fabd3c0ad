"""
What of the terminal's environment stays behind when a daemon starts there.

Sessions of every project work in what the daemon was given. What says where its terminal stood (a
git hook, an activated environment) would lead all of them astray.
"""

import os
import shlex
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


_OF_A_CLAUDE = frozenset(
    {
        *("CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "AI_AGENT", "CLAUDE_CODE_ENTRYPOINT"),
        *("CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ATTENDED"),
        *("CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SSE_PORT"),
        *("CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_EXECPATH"),
    }
)
"""What Claude Code (2.1.332) tells its tools about itself: a daemon that one of them starts is no
part of that conversation."""
PROGRAMS = ("PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")
"""What says which programs are found: a session has them from the terminal of `pcc start`."""


def for_a_daemon(variables: Mapping[str, str], programs: Path) -> dict[str, str]:
    """
    The variables for a supervisor, and for all that it starts.

    Without an activated environment, which is one project's. Where that is PerpetualCC's own,
    `python` and `pip` would be ours in every project: in its place stands `programs`, a folder
    with `pcc` alone.
    """
    # A supervisor that a command inside a run starts must not look like part of it.
    left_out = {
        *(processes.VARIABLE, "VIRTUAL_ENV_PROMPT"),
        *PROGRAMS[1:],
        *_OF_A_REPOSITORY,
        *_OF_A_CLAUDE,
    }
    kept = {name: value for name, value in variables.items() if name not in left_out}
    return kept | _without_ours({"PATH": kept["PATH"]} if "PATH" in kept else {}, programs)


def for_a_session(variables: Mapping[str, str], programs: Path) -> dict[str, str]:
    """Those of `PROGRAMS`, with `programs` in the place of an environment of ours."""
    found = {name: value for name in PROGRAMS if (value := variables.get(name))}
    return _without_ours(found, programs)


def _without_ours(variables: dict[str, str], programs: Path) -> dict[str, str]:
    own = own_environment()
    if own is None:
        return variables
    kept = {name: value for name, value in variables.items() if not _is_same(value, own)}
    if "PATH" in kept:
        kept["PATH"] = os.pathsep.join(
            str(programs) if _is_same(place, own / "bin") else place
            for place in kept["PATH"].split(os.pathsep)
        )
    return kept


def offer_programs(programs: Path) -> None:
    """Make the folder that stands for ours in the PATH of sessions."""
    if own := own_environment():
        programs.mkdir(mode=0o700, exist_ok=True)
        program = programs / "pcc"
        program.unlink(missing_ok=True)
        program.touch(mode=0o700)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(own / "bin/pcc"))} "$@"\n', "utf-8")


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
