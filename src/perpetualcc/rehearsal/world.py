"""A world of its own for a Claude Code process: home, configuration, and the scripted model."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perpetualcc.rehearsal.scenario import Scenario

# Not secrets: any text of the right form will do, the scripted model does not look.
API_KEY = "sk-ant-api03-rehearsal-000000000000000000000000"
OAUTH_TOKEN = "sk-ant-oat01-rehearsal-000000000000000000000000"  # noqa: S105  # not a secret
_INHERITED = ("ANTHROPIC_", "CLAUDE", "DISABLE_", "AWS_BEARER_TOKEN_BEDROCK", "HTTP_PROXY")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An isolated environment for Claude Code."""

    set: Mapping[str, str]
    """Variables to set."""
    unset: tuple[str, ...]
    """Variables of the surrounding environment that must not reach Claude Code."""

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment, built from `base` (the process's own by default)."""
        outside = os.environ if base is None else base
        kept = {name: text for name, text in outside.items() if not is_claudes(name)}
        return {**kept, **self.set}

    @property
    def overlay(self) -> dict[str, str]:
        """
        For a spawner that can only add variables, as the Claude SDK: what is to go is emptied.

        Claude Code takes an empty variable for an absent one (measured on 2.1.330).
        """
        return {**dict.fromkeys(self.unset, ""), **self.set}


def claude_environment(
    server_url: str, home: Path, *, subscription: bool = False, signed_in: bool = True
) -> dict[str, str]:
    """
    Variables that put a Claude Code process into a world of its own.

    `home` receives all its files; the real `~/.claude` is neither read nor written. With
    `subscription` it believes to be signed in to claude.ai, else to use an API key.
    """
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    variables = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        # Sockets and outputs of background tasks go to /tmp without it.
        "CLAUDE_CODE_TMPDIR": str(scratch),
        "ANTHROPIC_BASE_URL": server_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    if not signed_in:
        return variables
    if subscription:
        return variables | {"CLAUDE_CODE_OAUTH_TOKEN": OAUTH_TOKEN}
    return variables | {"ANTHROPIC_API_KEY": API_KEY}


def isolated_world(server_url: str, home: Path, *, subscription: bool = False) -> World:
    """The same variables, with the names of those to remove from this process's environment."""
    return World(
        set=claude_environment(server_url, home, subscription=subscription),
        unset=tuple(sorted(name for name in os.environ if is_claudes(name))),
    )


def is_claudes(name: str) -> bool:
    """Whether a variable would steer Claude Code."""
    return name.upper().startswith(_INHERITED)


def lay_out_files(scenario: Scenario, project: Path) -> list[Path]:
    """
    Write the files that a scenario starts with; returns those that were written.

    What exists already is left as it is: a rehearsal in somebody's project overwrites nothing.
    """
    written = []
    for name, content in scenario.files.items():
        path = project / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            written.append(path)
    return written
