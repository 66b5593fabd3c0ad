"""
Which Claude Code runs, whether it is one, and whether it is signed in.

Standard library only: commands ask this too, and the SDK costs a second to import.
"""

import importlib.util
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from perpetualcc.domain.errors import MissingError, PerpetualError
from perpetualcc.domain.installing import pip_install

_NAME_IT = "Name it with: pcc config set claude.binary PATH, then: pcc daemon restart"
_ITS_NAME = "(Claude Code)"
"""What `claude --version` ends with: `2.1.330 (Claude Code)`."""
_VERSION = re.compile(r"(\d+)\.[\d.]+")
_OLDEST = 2
"""The SDK's own minimum is 2.0.0."""
_PATIENCE = 20.0
"""Seconds for one of its short commands; the first from a cold disk took two."""


def bundled_claude() -> Path:
    """
    The Claude Code binary that the SDK brings.

    Raises:
        PerpetualError: this platform's wheel has none.
    """
    found = importlib.util.find_spec("claude_agent_sdk")
    binary = Path((found and found.origin) or "claude_agent_sdk").parent / "_bundled" / "claude"
    if not os.access(binary, os.X_OK):
        raise MissingError(
            _what_is_missing(binary),
            hint="Reinstall it with: " + pip_install("--force-reinstall", "claude-agent-sdk"),
        )
    return binary


def chosen_claude(binary: Path | None) -> Path:
    """
    What runs: the one that the settings name, or else the SDK's.

    Raises:
        PerpetualError: it is not there, or is something else.
    """
    if binary is None:
        return bundled_claude()
    if not (binary.is_file() and os.access(binary, os.X_OK)):
        raise MissingError(_what_is_missing(binary), hint=_way_back(binary))
    said = _said(binary, "--version")
    if not said.strip().endswith(_ITS_NAME):
        told = f"it says {said.strip()[:60]!r}" if said.strip() else "it says nothing"
        raise PerpetualError(
            f"'{binary}' is not Claude Code: asked for its version, {told}", hint=_NAME_IT
        )
    if (found := _VERSION.match(said)) and int(found[1]) < _OLDEST:
        raise PerpetualError(
            f"'{binary}' is Claude Code {found[0]}, and {_OLDEST}.0.0 or newer is needed",
            hint=f"Update it: {shlex.quote(str(binary))} update. {_NAME_IT}",
        )
    return binary


def _what_is_missing(binary: Path) -> str:
    if binary.is_file():
        return f"Claude Code at '{binary}' may not be started: it is not executable"
    return f"Claude Code is not at '{binary}'"


def _way_back(binary: Path) -> str:
    return f"chmod u+x {shlex.quote(str(binary))}" if binary.is_file() else _NAME_IT


def signed_in_with(binary: Path, *, without: Iterable[str] = ()) -> str | None:
    """
    `api_key`, `oauth_token`, …; empty when not signed in, None when it does not say.

    `without` these variables of the environment: where they are not set.
    """
    here = {name: value for name, value in os.environ.items() if name not in set(without)}
    try:
        told = json.loads(_said(binary, "auth", "status", env=here))
        return str(told["authMethod"]) if told["loggedIn"] else ""
    except (ValueError, KeyError, TypeError, PerpetualError):
        return None


def _said(binary: Path, *words: str, env: Mapping[str, str] | None = None) -> str:
    try:
        return subprocess.run(
            [binary, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
            env=env,
        ).stdout
    except OSError as error:
        raise PerpetualError(
            f"'{binary}' cannot be started: {error.strerror}", hint=_NAME_IT
        ) from error
    except subprocess.TimeoutExpired as error:
        raise PerpetualError(
            f"'{binary}' does not answer {' '.join(words)!r} within {_PATIENCE:.0f} seconds",
            hint=_NAME_IT,
        ) from error
