"""
Static deny rules for a run's own settings: the layer behind the gate.

They come from the same data as the gate's judgement. Nobody can approve what they deny while
the run lasts, so only places are listed that no task ever needs (`backstop` in the data).
The syntax is Claude Code's: `//` starts an absolute path, `~/` a home, `**/` any place. A rule
for a directory covers what is below it, and one for `Read` covers the tools that write as well
(2.1.330). Claude Code looks at every rule at every call, 10 µs each, so there is none twice.
"""

from collections.abc import Mapping
from typing import Any

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
            rules += [f"{tool}({_path(pattern)})" for tool in _tools(place)]
    rules += [f"Read({_path(pattern)})" for pattern in settings.credential_paths]
    rules += [
        f"Bash({command}:*)"
        for command in settings.blocked_commands
        if _SHELL_SPECIAL.isdisjoint(command)
    ]
    return tuple(dict.fromkeys(rules))


def _tools(place: Mapping[str, Any]) -> tuple[str, ...]:
    """`Edit` stops a shell's redirection too, where writing would let somebody in."""
    if place["read"] != "HIGH":
        return ("Edit",)
    return ("Read", "Edit") if place["name"] == "ssh-keys" else ("Read",)


def _path(pattern: str) -> str:
    """The place itself, and with it everything below."""
    if pattern.startswith("/"):
        return f"/{pattern}"
    return pattern if pattern.startswith("~") else f"**/{pattern}"
