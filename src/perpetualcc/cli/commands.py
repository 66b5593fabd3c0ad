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
    "learn": CommandEntry(
        module="learn", help="Corrected once, remembered for good", panel=PROJECT
    ),
}
