"""
Trust: what a project brings along that would run or loosen rules, and whether it has changed.

A repository's own `.claude` settings, hooks, `.mcp.json` and policy file count only after a
person has seen them (`pcc trust`). The record of that is kept by the caller, out of the
project's reach; here are only pure functions and the reading of the files.
"""

import hashlib
import json
import os
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WATCHED_FILES = (
    ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".perpetualcc/policy.toml",
    "CLAUDE.md", ".claude/CLAUDE.md",
)  # fmt: skip
WATCHED_FOLDERS = (".claude/hooks", ".claude/commands", ".claude/agents", ".claude/skills")
FILE_LIMIT = 1_000_000
"""Bytes of one file that are read; the hash covers its size as well."""
FOLDER_LIMIT = 500
"""Files of one folder that are read; more make the project untrustable."""

Files = Mapping[str, bytes]
"""Paths from the project, and what is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One thing of a project that would take effect."""

    file: str
    what: str
    """`hook`, `environment`, `server`, `permission`, `policy`, `instructions`, `setting`."""
    detail: str


def read_watched_files(project: Path) -> dict[str, bytes]:
    """What is there of the watched files. A symlink is read as what it leads to."""
    found: dict[str, bytes] = {}
    for name in _candidates(project):
        path = project / name
        try:
            if path.is_file():
                with path.open("rb") as file:
                    found[name] = file.read(FILE_LIMIT + 1)
        except OSError:
            found[name] = b"\0unreadable"
    return found


class WatchedFiles:
    """
    The watched files of projects, read again only when one of them may have changed.

    A file's change time cannot be set back by whoever writes it. One that changed just before it
    was read could change again within the same tick of the clock, so it is not remembered yet.
    """

    _TICK_NS = 50_000_000
    """Far above the resolution of change times: 10 ms on Linux, 1 ns on APFS."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Stamps, Mapping[str, bytes]]] = {}

    def read(self, project: Path) -> Files:
        """See `read_watched_files`."""
        stamps = _stamps(project)
        known = self._known.get(project)
        if known is not None and known[0] == stamps:
            return known[1]
        files = read_watched_files(project)
        settled = time.time_ns() - self._TICK_NS
        if all(stamp[-1] < settled for stamp in stamps.values()):
            self._known[project] = stamps, files
        else:
            self._known.pop(project, None)
        return files


def _candidates(project: Path) -> list[str]:
    """What is watched and may be there, as paths from the project."""
    names = list(WATCHED_FILES)
    for folder in WATCHED_FOLDERS:
        below = [
            f"{parent}/{name}"
            for parent, _, files in os.walk(f"{project}/{folder}")
            for name in files
        ]
        names += [os.path.relpath(path, project) for path in sorted(below)[:FOLDER_LIMIT]]
    return names


_Stamps = dict[str, tuple[int, int, int, int]]
"""Device, inode, size and time of change (ns), by path."""


def _stamps(project: Path) -> _Stamps:
    """The same as before: no watched file has been changed, made or removed."""
    stamps, base = {}, str(project)
    for name in _candidates(project):
        try:
            # At every tool call: plain text, because making a `Path` takes longer than the look.
            seen = os.stat(f"{base}/{name}")  # noqa: PTH116
        except OSError:
            continue
        stamps[name] = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_ctime_ns)
    return stamps


def content_hash(files: Files) -> str:
    """Changes when any name or content changes. Hexadecimal SHA-256."""
    digest = hashlib.sha256()
    for name in sorted(files):
        for part in (name.encode(), files[name]):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()


def is_trusted(files: Files, recorded: str | None) -> bool:
    """Whether a person trusted exactly this. A project that brings nothing needs no trust."""
    return not any(name for name in files) or content_hash(files) == recorded


def surfaces(files: Files) -> tuple[Surface, ...]:
    """What would run or loosen rules, for a person to read before saying yes."""
    return tuple(surface for name in sorted(files) for surface in _of_file(name, files[name]))


def _of_file(name: str, content: bytes) -> Iterator[Surface]:
    if name.endswith(("settings.json", "settings.local.json")):
        yield from _of_settings(name, _json(content))
    elif name == ".mcp.json":
        servers = _json(content).get("mcpServers")
        for server, spec in (servers if isinstance(servers, dict) else {}).items():
            yield Surface(file=name, what="server", detail=f"{server}: {_command(spec)}")
    elif name == ".perpetualcc/policy.toml":
        yield from _of_policy(name, content)
    elif name.startswith(".claude/hooks/"):
        yield Surface(file=name, what="hook", detail=f"{len(content)} bytes")
    else:
        yield Surface(file=name, what="instructions", detail=f"{len(content)} bytes")


def _of_policy(name: str, content: bytes) -> Iterator[Surface]:
    """Each key as it counts; a file that cannot be read, as it is."""
    text = content.decode("utf-8", "replace")
    try:
        section = tomllib.loads(text).get("permissions")
    except (tomllib.TOMLDecodeError, RecursionError):
        section = None
    if not isinstance(section, dict):
        yield Surface(file=name, what="policy", detail=text[:2_000])
        return
    for key, value in section.items():
        yield Surface(file=name, what="policy", detail=f"{key} = {value!r}"[:2_000])


def _json(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {"unreadable": True}
    return value if isinstance(value, dict) else {"unreadable": True}


def _of_settings(name: str, settings: Mapping[str, Any]) -> Iterator[Surface]:
    for key, value in settings.items():
        if key == "hooks":
            for command in _commands(value):
                yield Surface(file=name, what="hook", detail=command)
        elif key == "env" and isinstance(value, dict):
            for variable, text in value.items():
                yield Surface(file=name, what="environment", detail=f"{variable}={text}")
        elif key == "permissions":
            yield Surface(file=name, what="permission", detail=json.dumps(value)[:2_000])
        else:
            yield Surface(file=name, what="setting", detail=f"{key}: {json.dumps(value)[:500]}")


def _commands(value: Any, depth: int = 0) -> Iterator[str]:
    """Every `command` anywhere in a hooks table."""
    if depth > 8:
        return
    if isinstance(value, dict):
        if isinstance(value.get("command"), str):
            yield value["command"]
        for inner in value.values():
            yield from _commands(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands(inner, depth + 1)


def _command(spec: Any) -> str:
    if not isinstance(spec, dict):
        return repr(spec)[:200]
    words = [spec.get("command") or spec.get("url") or "?", *(spec.get("args") or [])]
    return " ".join(str(word) for word in words)[:500]
