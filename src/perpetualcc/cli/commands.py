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
    "start": CommandEntry(
        module="start", help="Start a supervised Claude Code session", panel=SESSIONS
    ),
    "perpetual": CommandEntry(
        module="perpetual", help="Start a session that hands over to fresh ones", panel=SESSIONS
    ),
    "list": CommandEntry(module="sessions", help="List sessions", panel=SESSIONS),
    "status": CommandEntry(module="sessions", help="Show one session in detail", panel=SESSIONS),
    "attach": CommandEntry(module="start", help="Watch a session live", panel=SESSIONS),
    "add": CommandEntry(module="sessions", help="Add a task to a session's queue", panel=SESSIONS),
    "pause": CommandEntry(
        module="sessions", help="Pause a session after its current operation", panel=SESSIONS
    ),
    "resume": CommandEntry(
        module="sessions", help="Resume a paused session, or try again", panel=SESSIONS
    ),
    "stop": CommandEntry(
        module="sessions", help="Stop a session, or one of its tasks", panel=SESSIONS
    ),
    "logs": CommandEntry(module="logs", help="Show a session's log", panel=SESSIONS),
    "report": CommandEntry(
        module="report", help="Tell what happened while you were away", panel=SESSIONS
    ),
    "dashboard": CommandEntry(
        module="dashboard", help="See and steer your sessions in a browser", panel=SESSIONS
    ),
    "devices": CommandEntry(
        module="devices", help="Phones and browsers that may open it: pair, revoke", panel=SESSIONS
    ),
    "pending": CommandEntry(module="people", help="List what waits for a person", panel=PEOPLE),
    "respond": CommandEntry(module="people", help="Answer what waits for a person", panel=PEOPLE),
    "decisions": CommandEntry(module="guard", help="What was decided, and why", panel=PEOPLE),
    "rules": CommandEntry(module="rules", help="Your own rules: list, add, remove", panel=PEOPLE),
    "trust": CommandEntry(
        module="guard", help="Let a project's own settings and hooks count", panel=PROJECT
    ),
    "doctor": CommandEntry(
        module="doctor", help="Check this machine, and prove what is enforced", panel=DAEMON
    ),
    "login": CommandEntry(
        module="login", help="Sign in to Claude, once, for the sessions", panel=DAEMON
    ),
    "demo": CommandEntry(
        module="demo", help="Play a real session: no account, no key", panel=PROJECT
    ),
    "rehearse": CommandEntry(
        module="rehearse", help="See what your policy would do, without tokens", panel=PROJECT
    ),
    "budget": CommandEntry(module="budget", help="Show and change what may be spent", panel=DAEMON),
    "config": CommandEntry(module="config", help="Show and change the settings", panel=DAEMON),
    "daemon": CommandEntry(
        module="daemon", help="Start, stop and look at the background process", panel=DAEMON
    ),
    "explain": CommandEntry(
        module="explain", help="Say how a tool call would be judged, and why", panel=PEOPLE
    ),
    "brain": CommandEntry(module="brain", help="Ask a brain what it would answer", panel=PROJECT),
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
    "learn": CommandEntry(
        module="learn", help="Corrected once, remembered for good", panel=PROJECT
    ),
    "memory": CommandEntry(
        module="memory", help="Search what happened and what works", panel=PROJECT
    ),
    "notifications": CommandEntry(
        module="notifications", help="List what was sent to people", panel=PEOPLE
    ),
    "notify": CommandEntry(module="notify", help="Send a test to every channel", panel=PEOPLE),
}
