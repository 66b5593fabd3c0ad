"""
What stands behind the gate: static deny rules and the operating system's sandbox.

Measured on Claude Code 2.1.330: the sandbox makes everything outside the working directory
read-only and cuts the network; `denyWrite` and `denyRead` want absolute paths (a relative one is
taken below the configuration directory); a denied directory cannot be opened again inside.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perpetualcc.domain.authority import Authority, AuthorityLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """The layers of one run."""

    deny: tuple[str, ...] = ()
    """Claude Code permission rules that hold whatever the gate says."""
    ask: tuple[str, ...] = ()
    """Rules that hold unless a person allowed the call; the gate alone is not enough."""
    sandbox: Mapping[str, Any] | None = None
    """Claude Code's sandbox settings; None: no sandbox."""
    sources: tuple[str, ...] = ("user",)
    """Settings files that Claude Code reads. A project's own only when it is trusted."""

    def settings(self) -> dict[str, Any]:
        """For Claude Code's `--settings`."""
        settings: dict[str, Any] = {"autoContinueAtUsageLimit": False}
        if self.deny or self.ask:
            settings["permissions"] = {"deny": list(self.deny), "ask": list(self.ask)}
        if self.sandbox is not None:
            settings["sandbox"] = dict(self.sandbox)
        return settings


def sandbox_for(
    authority: Authority, project: Path, unreadable: Sequence[Path]
) -> Mapping[str, Any]:
    """The sandbox that keeps an authority, as far as an operating system can."""
    filesystem = {"denyRead": [str(path) for path in unreadable]}
    if authority.level is AuthorityLevel.READ_ONLY:
        filesystem["denyWrite"] = [str(project)]
    elif authority.level is AuthorityLevel.ISOLATED_WRITES:
        filesystem["denyWrite"] = [str(path) for path in _beside(project, authority.writable)]
        filesystem["allowWrite"] = [str(path) for path in authority.writable]
    return {
        "enabled": True,
        "autoAllowBashIfSandboxed": False,
        "allowUnsandboxedCommands": False,
        "filesystem": filesystem,
    }


def _beside(directory: Path, writable: Sequence[Path]) -> Iterator[Path]:
    """What exists in `directory` and is neither writable nor on the way to what is."""
    if not any(path.is_relative_to(directory) for path in writable):
        yield directory
        return
    for child in sorted(directory.iterdir()):
        if child in writable:
            continue
        if child.is_dir() and any(path.is_relative_to(child) for path in writable):
            yield from _beside(child, writable)
        else:
            yield child


@cache
def why_no_sandbox() -> str:
    """Why this machine has no sandbox for Claude Code; empty when it has one."""
    if sys.platform == "darwin":
        return "" if shutil.which("sandbox-exec") else "sandbox-exec is missing"
    missing = [name for name in ("bwrap", "socat") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} missing: install the packages bubblewrap and socat"
    bwrap = shutil.which("bwrap") or ""
    tried = subprocess.run(
        [bwrap, "--ro-bind", "/", "/", "--unshare-net", "true"],
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    if tried.returncode:
        return f"bubblewrap does not work here: {tried.stderr.strip()[:200]}"
    return ""
