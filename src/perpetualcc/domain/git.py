"""How we ask git: programs that a repository's own settings name are not run for us."""

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
