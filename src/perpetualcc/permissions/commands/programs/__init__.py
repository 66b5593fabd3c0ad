"""What tables cannot say about single programs. Importing this registers all of it."""

from perpetualcc.permissions.commands.programs import (
    databases,
    files,
    interpreters,
    network,
    packages,
    runners,
    streams,
)

__all__ = ["databases", "files", "interpreters", "network", "packages", "runners", "streams"]
