"""
Static rules for a run's own settings: the layer behind the gate.

They come from the same data as the gate's judgement (`backstop` in `protected.toml`). The syntax
is Claude Code's: `//` starts an absolute path, `~/` a home, `**/` is below the project only. A
rule for a directory covers what is below it, and only one for `Edit` covers a shell's redirection
(2.1.330).
"""

from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.settings import PermissionSettings

_SHELL_SPECIAL = frozenset("|;&<>$`()")


def deny_rules(settings: PermissionSettings) -> tuple[str, ...]:
    """What stays undone whoever allows it: entries for `permissions.deny`, in a stable order."""
    rules = [f"Edit({place})" for place in load_table("protected")["backstop"]["write"]]
    rules += [
        f"Bash({command}:*)"
        for command in settings.blocked_commands
        if _SHELL_SPECIAL.isdisjoint(command)
    ]
    return tuple(dict.fromkeys(rules))


def ask_rules(settings: PermissionSettings) -> tuple[str, ...]:
    """What only a person may allow: entries for `permissions.ask`, in a stable order."""
    places = load_table("protected")["backstop"]["read"]
    places = [*places, *map(_rooted, settings.credential_paths)]
    return tuple(dict.fromkeys(f"Read({place})" for place in places))


def _rooted(pattern: str) -> str:
    """A pattern of ours in Claude Code's syntax: the place itself, and with it all below."""
    if pattern.startswith("/"):
        return f"/{pattern}"
    return pattern if pattern.startswith("~") else f"//**/{pattern}"
