"""
Static deny rules for a run's own settings: the layer behind the gate.

They come from the same data as the gate's judgement (`backstop` in `protected.toml`). The syntax
is Claude Code's: `//` starts an absolute path, `~/` a home, `**/` any place. A rule for a
directory covers what is below it, one for `Read` covers the tools that write, and only one for
`Edit` covers a shell's redirection (2.1.330).
"""

from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.settings import PermissionSettings

_SHELL_SPECIAL = frozenset("|;&<>$`()")


def deny_rules(settings: PermissionSettings) -> tuple[str, ...]:
    """Entries for `permissions.deny`, in a stable order."""
    backstop = load_table("protected")["backstop"]
    unread = [*backstop["read"], *settings.credential_paths]
    rules = [f"Read({_path(pattern)})" for pattern in unread]
    rules += [f"Edit({_path(pattern)})" for pattern in backstop["write"]]
    rules += [
        f"Bash({command}:*)"
        for command in settings.blocked_commands
        if _SHELL_SPECIAL.isdisjoint(command)
    ]
    return tuple(dict.fromkeys(rules))


def _path(pattern: str) -> str:
    """The place itself, and with it everything below."""
    if pattern.startswith("/"):
        return f"/{pattern}"
    return pattern if pattern.startswith("~") else f"**/{pattern}"
