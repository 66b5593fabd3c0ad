"""
The table of commands. A command's module is imported when the command is used, not before:
`pcc --help` and `pcc list` must cost no more than the terminal library itself.
"""

from collections.abc import Mapping
from typing import NamedTuple


class CommandEntry(NamedTuple):
    """Where a command lives, and the one line that `pcc --help` shows."""

    module: str
    """Module below `perpetualcc.cli` whose `app` is a Typer app holding this command or group."""
    help: str


PANELS: Mapping[str, Mapping[str, CommandEntry]] = {
    "To begin with": {
        "demo": CommandEntry("demo", "Play a real session: no account, no key"),
        "doctor": CommandEntry("doctor", "Check this machine, and prove what is enforced"),
        "login": CommandEntry("login", "Sign in to Claude, once, for the sessions"),
    },
    "Sessions": {
        "start": CommandEntry("start", "Start a supervised Claude Code session"),
        "perpetual": CommandEntry("perpetual", "Start a session that hands over to fresh ones"),
        "list": CommandEntry("sessions", "List sessions"),
        "status": CommandEntry("sessions", "Show one session in detail"),
        "attach": CommandEntry("start", "Watch a session live"),
        "open": CommandEntry("open", "Go on with one yourself, in Claude Code"),
        "say": CommandEntry("say", "Say something to a Claude at work"),
        "add": CommandEntry("sessions", "Add a task to a session's queue"),
        "pause": CommandEntry("sessions", "Pause a session after its current operation"),
        "resume": CommandEntry("sessions", "Resume a paused session, or try again"),
        "stop": CommandEntry("sessions", "Stop a session, or one of its tasks"),
        "logs": CommandEntry("logs", "Show a session's log"),
        "worktrees": CommandEntry("worktrees", "What worktrees are left, and which may go"),
        "diff": CommandEntry("diff", "Show what a session, or a task, has changed"),
        "undo": CommandEntry("undo", "Put the files back as they were before it"),
        "review": CommandEntry("review", "Show what a session made in its worktree"),
        "accept": CommandEntry("accept", "Merge it into the main working tree"),
        "discard": CommandEntry("discard", "Throw it away, and be able to bring it back"),
        "report": CommandEntry("report", "Tell what happened while you were away"),
        "dashboard": CommandEntry("dashboard", "See and steer your sessions in a browser"),
        "devices": CommandEntry("devices", "Phones and browsers that may open it: pair, revoke"),
        "machines": CommandEntry("machines", "What your sessions on other machines are at"),
        "on": CommandEntry("on", "Type a command on another machine, or on all of them"),
    },
    "People": {
        "pending": CommandEntry("people", "List what waits for a person"),
        "respond": CommandEntry("people", "Answer what waits for a person"),
        "decisions": CommandEntry("guard", "What was decided, and why"),
        "rules": CommandEntry("rules", "Your own rules: list, add, remove"),
        "explain": CommandEntry("explain", "Say how a tool call would be judged, and why"),
        "notifications": CommandEntry("notifications", "List what was sent to people"),
        "notify": CommandEntry("notify", "Send a test to every channel"),
    },
    "Project": {
        "trust": CommandEntry("guard", "Let a project's own settings and hooks count"),
        "rehearse": CommandEntry("rehearse", "See what your policy would do, without tokens"),
        "brain": CommandEntry("brain", "Ask a brain what it would answer"),
        "init": CommandEntry("knowledge", "Prepare a project: read its code, build its index"),
        "search": CommandEntry("knowledge", "Find the code that answers a question"),
        "graph": CommandEntry("knowledge", "Show what is near a file, a class or a function"),
        "context": CommandEntry("knowledge", "Show a file's imports, exports and callers"),
        "learn": CommandEntry("learn", "Corrected once, remembered for good"),
        "memory": CommandEntry("memory", "Search what happened and what works"),
    },
    "Daemon": {
        "budget": CommandEntry("budget", "Show and change what may be spent"),
        "config": CommandEntry("config", "Show and change the settings"),
        "daemon": CommandEntry("daemon", "Start, stop and look at the background process"),
    },
}
"""In the order in which people meet them."""

COMMANDS = {name: entry for panel in PANELS.values() for name, entry in panel.items()}
