"""
The table of commands. A command's module is imported when the command is used, not before:
`pcc --help` and `pcc list` must cost no more than the terminal library itself.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEntry:
    """Where a command lives, and the one line that `pcc --help` shows."""

    module: str
    """Module below `perpetualcc.cli` whose `app` is a Typer app holding this command or group."""
    help: str
    panel: str


SESSIONS = "Sessions"
PEOPLE = "People"
PROJECT = "Project"
DAEMON = "Daemon"

# In the order people meet them.
COMMANDS: dict[str, CommandEntry] = {
    "init": CommandEntry(
        module="knowledge", help="Prepare a project: read its code, build its index", panel=PROJECT
    ),
    "search": CommandEntry(
        module="knowledge", help="Find the code that answers a question", panel=PROJECT
    ),
    "graph": CommandEntry(
        module="knowledge", help="Show what is near a file, a class or a function", panel=PROJECT
    ),
    "context": CommandEntry(
        module="knowledge", help="Show a file's imports, exports and callers", panel=PROJECT
    ),
}
