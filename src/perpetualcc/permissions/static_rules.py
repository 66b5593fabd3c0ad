"""
Static deny rules for a run's own settings: the layer behind the gate.

They come from the same data as the gate's judgement. Nobody can approve what they deny while
the run lasts, so only places are listed that no task ever needs (`backstop` in the data).
The syntax is Claude Code's: `//` starts an absolute path, `~/` a home, `**/` any place.
"""

from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.settings import PermissionSettings

_SHELL_SPECIAL = frozenset("|;&<>$`()")


def deny_rules(settings: PermissionSettings) -> tuple[str, ...]:
    """Entries for `permissions.deny`, in a stable order."""
    rules: list[str] = []
    for place in load_table("protected")["place"]:
        if not place.get("backstop", False):
            continue
        for pattern in place["patterns"]:
            tools = ("Read", "Edit") if place["read"] == "HIGH" else ("Edit",)
            rules += [f"{tool}({path})" for tool in tools for path in _paths(pattern)]
    for pattern in settings.credential_paths:
        rules += [f"{tool}({path})" for tool in ("Read", "Edit") for path in _paths(pattern)]
    rules += [
        f"Bash({command}:*)"
        for command in settings.blocked_commands
        if _SHELL_SPECIAL.isdisjoint(command)
    ]
    return tuple(dict.fromkeys(rules))


def _paths(pattern: str) -> tuple[str, str]:
    """The place itself, and everything below it."""
    if pattern.startswith("/"):
        path = f"/{pattern}"
    elif pattern.startswith("~"):
        path = pattern
    else:
        path = f"**/{pattern}"
    return path, f"{path}/**"
