"""
Trust: what a project brings along that would run or loosen rules, and whether it has changed.

A repository's own `.claude` settings, hooks, `.mcp.json` and policy file count only after a
person has seen them (`pcc trust`). The record of that is kept by the caller, out of the
project's reach; here are only pure functions and the reading of the files.
"""

import hashlib
import json
import os
import re
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import above
from perpetualcc.domain.foreign_files import is_there, read_regular
from perpetualcc.permissions.policy_file import POLICY_FILE, UNREADABLE, parse_policy

INSTRUCTIONS = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
"""What Claude Code (2.1.330) reads as a project's instructions: words, and nothing that runs."""
WATCHED_FILES = (
    ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", POLICY_FILE,
    *INSTRUCTIONS,
)  # fmt: skip
WATCHED_FOLDERS = tuple(
    f".claude/{name}"
    for name in ("hooks", "commands", "agents", "skills", "rules", "output-styles", "workflows")
)
FILE_LIMIT = 1_000_000
"""Bytes of one file that are read; a longer one makes the project untrustable."""
FOLDER_LIMIT = 500
"""Files of one folder that are read; more make the project untrustable."""
PROJECT_LIMIT = 50_000_000
"""Bytes of all of them together."""
_TOO_MUCH = ".claude/"
"""Stands for the files that are left out for that."""
MATTER_LIMIT = 10_000
"""Characters of a front matter that are read as YAML; a longer one is shown as it is."""
DETAIL_LIMIT = 20_000
"""Characters of one surface that are shown; it is said how many are not."""

Files = Mapping[str, bytes]
"""Paths from the project, and what is in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One thing of a project that would take effect."""

    file: str
    what: str
    """
    `hook`, `environment`, `server`, `permission`, `command`, `policy`, `instructions`, `setting`,
    `mistake`: why a policy cannot be read, or `limit`: why the project cannot be trusted.
    """
    detail: str


def read_watched_files(project: Path) -> dict[str, bytes]:
    """What is there of the watched files. A symlink is read as what it leads to."""
    return _read(project, _candidates(project))


def _read(project: Path, names: Iterable[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    total = 0
    for name in names:
        if total > PROJECT_LIMIT:
            found[_TOO_MUCH] = b""
            break
        path = project / name
        try:
            if name.endswith("/"):
                found[name] = b""
            elif path.is_file():
                found[name] = read_regular(path, FILE_LIMIT + 1)
            elif name == POLICY_FILE and is_there(str(path)):
                found[name] = UNREADABLE
        except OSError:
            found[name] = UNREADABLE
        total += len(found.get(name, b""))
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
    is_there = os.path.isdir(f"{project}/.claude")  # noqa: PTH112  # as in `_stamps`
    for folder in WATCHED_FOLDERS if is_there else ():
        names += _below(f"{project}/{folder}", folder)
    return names


def _below(place: str, folder: str) -> list[str]:
    """
    The files below a folder, as Claude Code finds them: also behind links, each directory once.

    A folder that holds more than `FOLDER_LIMIT` is named itself, with a slash.
    """
    found: list[str] = []
    seen = set[tuple[int, int]]()
    # At every tool call: plain text, as in `_stamps`.
    for parent, folders, files in os.walk(place, followlinks=True):
        try:
            here = os.stat(parent)  # noqa: PTH116
        except OSError:
            continue
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        found += [f"{folder}{parent[len(place) :]}/{name}" for name in files]
        if len(found) + len(seen) + len(folders) > FOLDER_LIMIT:
            return [f"{folder}/"]
        folders.sort()  # which of two links to one directory comes first must not change
    return sorted(found)


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
            if name == POLICY_FILE and is_there(f"{base}/{name}"):
                stamps[name] = (0, 0, 0, 0)
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


def limits_passed(files: Files) -> tuple[Surface, ...]:
    """What is too much to look at: whatever was recorded, such a project is not trusted."""
    return tuple(
        Surface(file=name, what="limit", detail=what)
        for name, content in sorted(files.items())
        if (what := _excess(name, content))
    )


def _excess(name: str, content: bytes) -> str:
    if name == _TOO_MUCH:
        return f"more than {PROJECT_LIMIT:,} bytes"
    if name.endswith("/"):
        return f"more than {FOLDER_LIMIT} files"
    return f"more than {FILE_LIMIT} bytes" if len(content) > FILE_LIMIT else ""


def is_trusted(
    files: Files, recorded: str | None, at_home: tuple[Files, str | None] | None = None
) -> bool:
    """
    Whether a person trusted exactly this. A project that brings nothing needs no trust.

    `at_home`: the same two of the project that a worktree is one of. Trust in that is trust in a
    worktree that brings nothing else.
    """
    if not files:
        return True
    if recorded == content_hash(files) and not limits_passed(files):
        return True
    return at_home is not None and files.items() <= at_home[0].items() and is_trusted(*at_home)


def surfaces(files: Files) -> tuple[Surface, ...]:
    """What would run or loosen rules, for a person to read before saying yes."""
    found = (one for name in sorted(files) for one in _of_file(name, files[name]))
    return (*limits_passed(files), *(replace(one, detail=_shown(one.detail)) for one in found))


def instructions(files: Files) -> str:
    """
    The text of a project's own instructions; empty when it has none. Without NUL characters, which
    no argument of a process can hold.
    """
    found = (files[name] for name in INSTRUCTIONS if files.get(name, UNREADABLE) != UNREADABLE)
    texts = (content.replace(b"\0", b"\xff").decode("utf-8", "replace") for content in found)
    return "\n\n".join(filter(None, map(str.strip, texts)))


def instructions_above(project: Path) -> str:
    """Those of the folders of its repository that the project is in, the nearest first."""
    return "\n\n".join(
        f"From {folder}, which this project is a part of:\n\n{text}"
        for folder in above(project.resolve())
        if (text := instructions(_read(folder, INSTRUCTIONS)))
    )


def servers_above(project: Path, files: Files) -> tuple[str, ...]:
    """
    Names in the `.mcp.json` of the directories above, which nobody saw, and not in the project's.

    Where a project's own settings count, Claude Code (2.1.330) starts the servers of all of them.
    """
    found: dict[str, None] = {}
    for directory in project.resolve().parents:
        try:
            found |= dict.fromkeys(_servers(read_regular(directory / ".mcp.json")))
        except OSError:
            continue
    own = _servers(files.get(".mcp.json", b"{}"))
    return tuple(name for name in found if name not in own)


def _servers(content: bytes) -> dict[str, Any]:
    servers = _json(content).get("mcpServers")
    return servers if isinstance(servers, dict) else {}


def _shown(detail: str) -> str:
    more = len(detail) - DETAIL_LIMIT
    return f"{detail[:DETAIL_LIMIT]} … {more} more characters" if more > 0 else detail


def _of_file(name: str, content: bytes) -> Iterator[Surface]:
    if _excess(name, content):
        return
    if name in {".claude/settings.json", ".claude/settings.local.json"}:
        yield from _of_settings(name, _json(content))
    elif name == ".mcp.json":
        for server, spec in _servers(content).items():
            yield Surface(file=name, what="server", detail=f"{server}: {_command(spec)}")
    elif name == POLICY_FILE:
        yield from _of_policy(name, content)
    elif name.startswith(".claude/hooks/"):
        yield Surface(file=name, what="hook", detail=f"{len(content)} bytes")
    else:
        yield from _of_text(name, content.decode("utf-8", "replace"))
        yield Surface(file=name, what="instructions", detail=f"{len(content)} bytes")


_MATTER = re.compile(r"\A\ufeff?\s*---[^\n]*\n(.*?)(?:^---|\Z)", re.DOTALL | re.MULTILINE)
EXECUTED = re.compile(r"!`[^`]*`|^[ \t]*(`{3,}|~{3,})!.*?(?:\1|\Z)", re.DOTALL | re.MULTILINE)
"""What Claude Code runs when it reads a command or a skill: !`…` and a block marked with `!`."""
_WORDS_ONLY = frozenset({"name", "description", "model", "color", "argument-hint", "version"})
"""Keys of a front matter that loosen and run nothing; any other is shown."""
_KINDS = {
    "hooks": "hook", "mcpServers": "server", "permissionMode": "permission",
    "allowed-tools": "permission", "tools": "permission",
}  # fmt: skip


def _of_text(name: str, text: str) -> Iterator[Surface]:
    """What the front matter of an agent, command or skill sets, and what its text would run."""
    if matter := _MATTER.match(text):
        yield from _of_matter(name, matter[1])
    for found in EXECUTED.finditer(text):
        yield Surface(file=name, what="command", detail=found[0].strip())


def _of_matter(name: str, text: str) -> Iterator[Surface]:
    """As it is written: what one reader of YAML makes of it need not be what another does."""
    keys = _keys(text) if len(text) <= MATTER_LIMIT else {""}
    if not keys <= _WORDS_ONLY:
        kind = next((kind for key, kind in _KINDS.items() if key in keys), "setting")
        yield Surface(file=name, what=kind, detail=text.strip())


def _keys(text: str) -> set[str]:
    """
    Of the mapping that it is; an empty one where it is none.

    Its nodes only: values made of a few aliases of aliases take gigabytes.
    """
    import yaml  # noqa: PLC0415  # not for each tool call

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {""}
    if not isinstance(root, yaml.MappingNode):
        return {""}
    return {str(key.value) if isinstance(key, yaml.ScalarNode) else "" for key, _ in root.value}


def _of_policy(name: str, content: bytes) -> Iterator[Surface]:
    """Each key as it counts; a file with a mistake, as it is, and the mistake."""
    try:
        parse_policy(content)
    except PerpetualError as error:
        yield Surface(file=name, what="policy", detail=content.decode("utf-8", "replace"))
        yield Surface(file=name, what="mistake", detail=error.message)
        return
    for key, value in tomllib.loads(content.decode("utf-8")).get("permissions", {}).items():
        yield Surface(file=name, what="policy", detail=f"{key} = {value!r}")


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
            yield Surface(file=name, what="permission", detail=json.dumps(value))
        else:
            yield Surface(file=name, what="setting", detail=f"{key}: {json.dumps(value)}")


def _commands(value: Any) -> Iterator[str]:
    """Every hook of a hooks table: its command, or all of it where it has none."""
    listed = value.values() if isinstance(value, dict) else [value]
    groups = (one for found in listed for one in (found if isinstance(found, list) else [found]))
    for group in groups:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for hook in hooks if isinstance(hooks, list) else [group]:
            is_plain = isinstance(hook, dict) and hook.keys() <= {"type", "command", "timeout"}
            command = hook.get("command") if is_plain else None
            yield command if isinstance(command, str) else json.dumps(hook)


def _command(spec: Any) -> str:
    """What starts a server, and what else is said of it."""
    if not isinstance(spec, dict):
        return repr(spec)
    args = spec.get("args")
    words = [
        spec.get("command") or spec.get("url") or "?",
        *(args if isinstance(args, list) else ()),
    ]
    more = {key: spec[key] for key in spec if key not in {"command", "url", "args", "type"}}
    return " ".join(map(str, words)) + (f" {json.dumps(more)}" if more else "")
