"""What a person sees of the worker: healthy, stuck, stopped, and how much waits."""

import time
from dataclasses import dataclass

from perpetualcc.domain.times import ago
from perpetualcc.learning.control import running_pid
from perpetualcc.learning.files import read_json
from perpetualcc.learning.install import (
    are_off,
    is_installed,
    is_plugin_enabled,
    trouble_with_hooks,
)
from perpetualcc.learning.places import Places
from perpetualcc.learning.queue import QueueReader, count

STUCK_SECONDS = 30.0
"""Without a heartbeat for so long a living worker is called stuck."""
BACKLOG = 1_000
"""So many waiting events are worth a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The worker at one moment."""

    pid: int | None
    is_alive: bool
    is_stuck: bool
    status: str
    processed: int
    """In its present life."""
    waiting: int
    heartbeat_age: float | None
    """Seconds; never negative, clocks jump."""
    current: str
    is_installed: bool
    trouble_with_hooks: str = ""
    """Why those of the settings do nothing, or not all, and what to type."""
    are_hooks_off: bool = False
    """Claude Code runs none: `disableAllHooks` in its settings."""
    is_plugin_enabled: bool = False
    """The plugin's hooks do the same."""
    is_stopped: bool = False
    """A person stopped it, and no engine starts it again."""

    @property
    def has_hooks(self) -> bool:
        return self.is_installed or self.is_plugin_enabled


def examine(places: Places) -> Health:
    """Look without touching anything."""
    beat = read_json(places.heartbeat) or {}
    pid = running_pid(places)
    at = beat.get("at")
    age = max(0.0, time.time() - at) if isinstance(at, int | float) else None
    alive = pid is not None
    return Health(
        pid=pid,
        is_alive=alive,
        is_stuck=alive and age is not None and age > STUCK_SECONDS,
        status=str(beat.get("status", "")),
        processed=count(beat.get("processed")),
        waiting=QueueReader(places).waiting(),
        heartbeat_age=age,
        current=_named(beat.get("current")),
        is_installed=is_installed(places),
        trouble_with_hooks=trouble_with_hooks(places),
        are_hooks_off=are_off(places),
        is_plugin_enabled=is_plugin_enabled(places),
        is_stopped=places.stopped.exists(),
    )


def describe(health: Health) -> str:
    """The lines of `pcc learn status` (seed 004, User Commands)."""
    age = "never" if health.heartbeat_age is None else ago(health.heartbeat_age)
    if health.is_stuck:
        lines = [f"🔴 Worker STUCK (last heartbeat {age})", "", f"   PID: {health.pid}"]
    elif health.is_alive:
        lines = ["🟢 Worker healthy", ""]
    else:
        lines = ["⚪ Worker not running", ""]
    lines += [
        f"   Status: {health.status if health.is_alive else 'stopped'}",
        f"   Queue size: {health.waiting:,} events"
        + (" (backlog)" if health.waiting > BACKLOG else ""),
        f"   Processed: {health.processed:,} events (this session)",
        f"   Last heartbeat: {age}",
        f"   Hooks: {_hooks(health)}",
    ]
    if health.is_stuck:
        lines += [f"   Current event: {health.current or 'none'}"]
    advice = _advice(health)
    return "\n".join([*lines, "", advice] if advice else lines)


def _hooks(health: Health) -> str:
    if health.trouble_with_hooks:
        return health.trouble_with_hooks
    if not health.has_hooks:
        return "not installed (pcc learn install)"
    whose = "installed" if health.is_installed else "the plugin's"
    return f"{whose}, but disableAllHooks is on" if health.are_hooks_off else whose


def _advice(health: Health) -> str:
    """What to type when not all is well."""
    if health.is_stuck:
        return "To force restart: pcc learn restart --force"
    if health.has_hooks and health.are_hooks_off:
        return "Nothing is captured: take disableAllHooks out of Claude Code's settings.json"
    if not health.is_alive and health.is_stopped and health.has_hooks:
        return "It was stopped. To start it: pcc learn restart"
    if not health.is_alive and health.waiting:
        return "To start it: pcc learn restart"
    if health.waiting > BACKLOG:
        return "If the queue does not get shorter: pcc learn logs, pcc learn restart"
    return ""


def _named(current: object) -> str:
    if not isinstance(current, dict):
        return ""
    return f"{current.get('kind', 'event')} {current.get('id', '')} in {current.get('project', '')}"
