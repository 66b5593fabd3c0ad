"""How we ask git: programs that a repository brings, or that its own settings name, are not run."""

import os
from pathlib import Path

from perpetualcc.domain.folders import above, outside

_TRANSPORTS = ("", "ext.", "file.", "git.", "http.", "https.", "ssh.")
GIT = (
    "git",
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"),
    # What is missing in a partial clone would be fetched, by whatever program its remote names.
    *(word for one in _TRANSPORTS for word in ("-c", f"protocol.{one}allow=never")),
)
"""The first words of a command. Only what compares files still needs `without_filters`."""

OWN_FILTERS = (
    *("config", "--show-scope", "--name-only", "--null"),
    *("--get-regexp", r"^filter\..*\.(clean|smudge|process)$"),
)
"""Lists what `without_filters` reads."""

_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""Of the variables for git: the person's settings. The others lead to another repository."""


def git_environment(place: Path) -> dict[str, str]:
    """For git that is asked about a folder: it is the one of the system, or of the person."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept = {name: os.environ[name] for name in _KEPT & os.environ.keys()}
    path = outside(own.get("PATH", os.defpath), (place, *above(place))[-1])
    return {**own, **kept, "PATH": path}


def without_filters(listed: str) -> tuple[str, ...] | None:
    """
    More words behind `GIT`, so that no filter of the repository's own settings is run on its files.

    `listed`: what `OWN_FILTERS` printed. None: one has a name that cannot be said in an option.
    """
    fields = listed.split("\0")
    own = {
        name.removeprefix("filter.").rpartition(".")[0]
        for scope, name in zip(fields[::2], fields[1::2], strict=False)
        if scope in {"local", "worktree"}
    }
    if any("=" in name for name in own):
        return None
    return tuple(
        word
        for name in sorted(own)
        for key in ("clean=", "smudge=", "process=", "required=false")
        for word in ("-c", f"filter.{name}.{key}")
    )
