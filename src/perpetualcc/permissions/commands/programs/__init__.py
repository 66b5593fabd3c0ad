"""What tables cannot say about single programs. Importing this registers all of it."""

from perpetualcc.permissions.commands.programs import (
    databases,
    network,
    files,
    interpreters,
    packages,
    runners,
    streams,
)

__all__ = ["databases", "network", "files", "interpreters", "packages", "runners", "streams"]
