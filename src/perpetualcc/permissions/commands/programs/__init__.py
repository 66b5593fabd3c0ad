"""What tables cannot say about single programs. Importing this registers all of it."""

from perpetualcc.permissions.commands.programs import (
    builders,
    databases,
    debuggers,
    devices,
    files,
    git_places,
    interpreters,
    load_tests,
    looks,
    network,
    packages,
    runners,
    streams,
)

__all__ = [
    "builders",
    "databases",
    "debuggers",
    "devices",
    "files",
    "git_places",
    "interpreters",
    "load_tests",
    "looks",
    "network",
    "packages",
    "runners",
    "streams",
]
