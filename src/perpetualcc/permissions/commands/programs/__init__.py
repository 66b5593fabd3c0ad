"""What tables cannot say about single programs. Importing this registers all of it."""

from perpetualcc.permissions.commands.programs import (
    builders,
    consoles,
    databases,
    debuggers,
    devices,
    file_servers,
    files,
    git_places,
    interpreters,
    load_tests,
    looks,
    network,
    packages,
    runners,
    shell_options,
    streams,
)

__all__ = [
    "builders",
    "consoles",
    "databases",
    "debuggers",
    "devices",
    "file_servers",
    "files",
    "git_places",
    "interpreters",
    "load_tests",
    "looks",
    "network",
    "packages",
    "runners",
    "shell_options",
    "streams",
]
