"""
Our hooks in the user's Claude Code settings: added without touching the rest, removed to the byte.

A settings file that cannot be read as JSON, or not written, is left alone and said so.
"""

import base64
import contextlib
import hashlib
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.private_files import PRIVATE, write_whole
from perpetualcc.learning.files import read_json
from perpetualcc.learning.places import Places

EVENTS = {
    "SessionStart": "session_start.sh session_start",
    "UserPromptSubmit": "capture.sh prompt",
    "SessionEnd": "capture.sh session_end",
}
_MARK = "perpetualcc/learning/hooks/"
_PLUGIN = "pcc@"
"""How its name begins; behind it is the marketplace's."""
_TIMEOUT_SECONDS = 10


class SettingsUnreadable(PerpetualError):  # noqa: N818  # says what happened
    """The user's settings are not what Claude Code or we could change safely."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{str(path)!r} cannot be changed: {why}",
            hint="Mend the file (plain JSON, no comments, writable), then try again",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What an installation did."""

    settings: Path
    was_there: bool
    """The hooks were installed already."""


def hooks_directory() -> Path:
    """Where the scripts are: in the package, so that without it the hooks do nothing."""
    return Path(__file__).parent / "hooks"


def command(event: str) -> str:
    """
    The command line for Claude Code's settings.

    It asks for the script first: when our software is gone, it does nothing and says nothing.
    """
    script, kind = EVENTS[event].split()
    path = shlex.quote(str(hooks_directory() / script))
    return f"test ! -r {path} || exec bash {path} {kind}"


def install(places: Places) -> Installed:
    """
    Merge the hooks into settings.json. Twice is once; a moved package replaces its old hooks.

    Raises:
        SettingsUnreadable: nothing was changed.
    """
    before = _read(places.settings)
    settings = _parse(places.settings, before)
    if sorted(_commands(settings)) == sorted(command(event) for event in EVENTS):
        _prepare(places)
        return Installed(settings=places.settings, was_there=True)
    merged = _with_ours(places.settings, _without_ours(settings))
    after = _dump(merged, before)
    _prepare(places)
    earlier = _record(places)
    _remember(places, _record_of(before, settings, earlier) | {"after": _digest(after)})
    try:
        _write(places.settings, after)
    except SettingsUnreadable:
        _remember(places, earlier)
        raise
    return Installed(settings=places.settings, was_there=False)


def is_installed(places: Places) -> bool:
    """Whether hooks of ours are in the settings now: a person may have taken them out by hand."""
    try:
        return bool(_commands(_parse(places.settings, _read(places.settings))))
    except SettingsUnreadable:
        return False


def trouble_with_hooks(places: Places) -> str:
    """
    Why hooks that were installed do nothing, and what to type; empty when they work, or are none.

    Those of an installation that has moved say nothing themselves.
    """
    try:
        found = _commands(_parse(places.settings, _read(places.settings)))
    except SettingsUnreadable as error:
        return f"{error.message}; {error.hint}" if _record(places) else ""
    if not found or sorted(found) == sorted(command(event) for event in EVENTS):
        return ""
    return (
        f"the hooks in '{places.settings}' are not all there, or of another installation:"
        " pcc learn install"
    )


def is_plugin_enabled(places: Places) -> bool:
    """Whether Claude Code has our plugin for this user, which brings the same hooks."""
    try:
        plugins = _parse(places.settings, _read(places.settings)).get("enabledPlugins")
    except SettingsUnreadable:
        return False
    named = plugins.items() if isinstance(plugins, dict) else ()
    return any(name.startswith(_PLUGIN) and enabled is True for name, enabled in named)


def are_off(places: Places) -> bool:
    """Whether Claude Code is told to run no hooks at all, ours among them."""
    try:
        return _parse(places.settings, _read(places.settings)).get("disableAllHooks") is True
    except SettingsUnreadable:
        return False


def uninstall(places: Places) -> bool:
    """
    Take the hooks out: byte for byte when nobody changed the file since, else only ours.

    Returns whether there was anything to take. What was learned stays. Raises `SettingsUnreadable`.
    """
    now = _read(places.settings)
    is_there = now is not None and _take_out(places.settings, now, _record(places))
    _remember(places, {})
    return is_there


def _take_out(path: Path, now: bytes, record: dict[str, Any]) -> bool:
    if record.get("after") == _digest(now):
        if not record.get("had"):
            path.resolve().unlink()
            return True
        if isinstance(record.get("before"), str):
            _write(path, base64.b64decode(record["before"]))
            return True
    settings = _parse(path, now)
    if not _commands(settings):
        return False
    _write(path, _dump(_without_ours(settings), now))
    return True


def _prepare(places: Places) -> None:
    """Let the worker be started again; what waits is as good as new to who watches the queue."""
    places.make()
    if places.stopped.exists():
        places.stopped.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.utime(places.queue)


def _record(places: Places) -> dict[str, Any]:
    return read_json(places.home / "installed.json") or {}


def _record_of(
    before: bytes | None, settings: dict[str, Any], earlier: dict[str, Any]
) -> dict[str, Any]:
    """
    What the file was without us. After a person changed a file that has our hooks, nobody has it.
    """
    if before is None or not _commands(settings):
        original = None if before is None else base64.b64encode(before).decode()
        return {"version": 1, "had": before is not None, "before": original}
    if earlier.get("after") == _digest(before):
        return earlier
    return {"version": 1, "had": True, "before": None}


def _remember(places: Places, record: dict[str, Any]) -> None:
    path = places.home / "installed.json"
    if record:
        write_whole(path, json.dumps(record) + "\n", durable=True)
    else:
        path.unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsUnreadable(path, error.strerror or str(error)) from error


def _parse(path: Path, data: bytes | None) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        settings = json.loads(data.decode("utf-8-sig"))
        json.dumps(settings, allow_nan=False)  # NaN, 1e400: written again it would be no JSON
    except (ValueError, RecursionError) as error:
        raise SettingsUnreadable(path, f"it is not JSON ({error})") from error
    if not isinstance(settings, dict):
        raise SettingsUnreadable(path, "it is not a JSON object")
    return settings


def _with_ours(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or any(not isinstance(hooks.get(e, []), list) for e in EVENTS):
        raise SettingsUnreadable(path, "its hooks have an unknown shape")
    ours = {
        event: [
            *hooks.get(event, []),
            {
                "hooks": [
                    {"type": "command", "command": command(event), "timeout": _TIMEOUT_SECONDS}
                ]
            },
        ]
        for event in EVENTS
    }
    return {**settings, "hooks": {**hooks, **ours}}


def _without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    kept = {event: _kept(groups) for event, groups in hooks.items()}
    kept = {event: groups for event, groups in kept.items() if groups or not hooks[event]}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    if not kept and hooks:
        return rest
    return {**settings, "hooks": kept}


def _kept(groups: Any) -> Any:
    """Without our commands, and without a group that had nothing else."""
    if not isinstance(groups, list):
        return groups
    kept = []
    for group in groups:
        entries = _entries(group)
        theirs = [entry for entry in entries if not _is_ours(entry)]
        if theirs or not entries:
            kept.append({**group, "hooks": theirs} if theirs != entries else group)
    return kept


def _entries(group: Any) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, dict) and _MARK in str(entry.get("command"))


def _commands(settings: dict[str, Any]) -> list[str]:
    """Our commands that are in it, as often as they are."""
    hooks = settings.get("hooks")
    events = hooks.values() if isinstance(hooks, dict) else []
    groups = [group for one in events if isinstance(one, list) for group in one]
    entries = [entry for group in groups for entry in _entries(group)]
    return [str(entry["command"]) for entry in entries if _is_ours(entry)]


def _dump(settings: dict[str, Any], like: bytes | None) -> bytes:
    """JSON in the manner of the file it replaces: its indentation, its last line's end."""
    text = (like or b"{\n  \n}\n").decode("utf-8-sig")
    second = text.splitlines()[1] if len(text.splitlines()) > 1 else "  "
    indent = second[: len(second) - len(second.lstrip())] or "  "
    dumped = json.dumps(settings, indent=indent, ensure_ascii=not _is_text(settings))
    return (dumped + ("\n" if text.endswith("\n") else "")).encode()


def _is_text(settings: dict[str, Any]) -> bool:
    """Half a character can stand in JSON as an escape only."""
    try:
        json.dumps(settings, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    target = path.resolve()
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        write_whole(target, data, mode=mode)
    except OSError as error:
        raise SettingsUnreadable(path, error.strerror or str(error)) from error
