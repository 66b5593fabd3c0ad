"""
What the shell offers for sessions, tasks, requests, rules and settings, as they are on disk.

Nothing is started for it, and no text is shown that Claude may have written: zsh evaluates what it
is offered. Whatever goes wrong shows as no suggestion, because a shell has no place for an error.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from perpetualcc.cli.statuses import SHOWN
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import SessionStatus

_MOST = 100
"""Sessions that are looked at, newest first."""
_FEW = 10
"""Conversations that are offered."""


def sessions(*statuses: SessionStatus) -> Callable[[Any, str], list[tuple[str, str]]]:
    """Names of those with one of these statuses, or of all; once something is typed, ids too."""

    def offered(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
        from perpetualcc.store.recorded import newest_sessions

        found = newest_sessions(_database(ctx), _MOST, statuses or SessionStatus)
        return [pair for session in found for pair in _offered(*session, incomplete)]

    return offered


def tasks(ctx: Any, incomplete: str) -> list[str]:
    """Ids of the tasks that the session has not finished."""
    from perpetualcc.store.recorded import open_tasks

    # While an option is completed, the arguments before it are words.
    session = ctx.params.get("session") or next(iter(ctx.args), "")
    found = open_tasks(_database(ctx), session, _MOST) if session else []
    return one_of(*found)(incomplete)


def snapshots(ctx: Any, incomplete: str) -> list[str]:
    """Of the session: ids of tasks, and what was made before something was put back."""
    from perpetualcc.store.recorded import snapshot_names

    session = ctx.params.get("session") or next(iter(ctx.args), "")
    found = snapshot_names(_database(ctx), session, _MOST) if session else []
    return one_of(*found)(incomplete)


def machines(incomplete: str) -> list[str]:
    """The hosts of the settings."""
    from perpetualcc.config.file import load_config

    try:
        hosts = load_config().machines.hosts
    except PerpetualError:
        hosts = ()
    return one_of(*hosts, "all")(incomplete)


def conversations(ctx: Any, incomplete: str) -> list[str]:
    """Of a person's with Claude Code in the project, the newest first."""
    import os

    from perpetualcc.claude.conversations import begun_in
    from perpetualcc.config import environment

    found = begun_in(Path(ctx.params.get("project") or os.curdir), environment())
    return one_of(*(one.id for one in islice(found, _FEW)))(incomplete)


def requests(ctx: Any, incomplete: str) -> list[str]:
    """Numbers of what waits for a person."""
    from perpetualcc.store.recorded import open_requests

    return one_of(*map(str, open_requests(_database(ctx), _MOST)))(incomplete)


def rules(ctx: Any, incomplete: str) -> list[str]:
    """Ids of a person's rules."""
    from perpetualcc.store.recorded import recorded

    try:
        found = recorded(_database(ctx)).rules
    except PerpetualError:
        return []
    return one_of(*(rule.id for rule in found))(incomplete)


def devices(ctx: Any, incomplete: str) -> list[str]:
    """Names of paired and invited browsers."""
    from perpetualcc.store.recorded import device_names

    return one_of(*device_names(_database(ctx), _MOST))(incomplete)


def settings(incomplete: str) -> list[tuple[str, str]]:
    """Keys of the configuration; once something is typed, also without their section."""
    from perpetualcc.config import file

    known = [(name, file.kind_name(kind)) for name, kind, _ in file.settings()]
    short = [(name.rpartition(".")[2], f"{name}: {kind}") for name, kind in known]
    return [one for one in known + short * bool(incomplete) if one[0].startswith(incomplete)]


def values(ctx: Any, incomplete: str) -> list[str]:
    """What a setting may be, where few words may stand."""
    from perpetualcc.config import file

    try:
        _, kind = file.resolve_key(ctx.params.get("key") or "")
    except PerpetualError:
        return []
    return one_of(*file.words_of(kind))(incomplete)


def worktrees(ctx: Any, incomplete: str) -> list[str]:
    """Names of those that the project has where Claude Code makes them."""
    from perpetualcc.domain.folders import WORKTREES, canonical

    # While an option is completed, the arguments before it are words.
    project = ctx.params.get("project") or next(iter(ctx.args), ".")
    try:
        found = [one.name for one in Path(f"{canonical(Path(project))}{WORKTREES}").iterdir()]
    except OSError:
        return []
    return one_of(*sorted(name for name in found if not name.startswith(".")))(incomplete)


def scenarios(incomplete: str) -> list[str]:
    """Those that come along; the shell itself adds files."""
    from perpetualcc.rehearsal.reader import shipped_names

    return one_of(*shipped_names())(incomplete)


def budgets(incomplete: str) -> list[str]:
    """Names of what may be spent."""
    from dataclasses import fields

    from perpetualcc.sessions.budget import BudgetLimits

    return one_of(*(one.name for one in fields(BudgetLimits)))(incomplete)


def one_of(*words: str) -> Callable[[str], list[str]]:
    """For a place where one of a few words stands."""

    def offered(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return offered


def _database(ctx: Any) -> Path:
    from perpetualcc import config

    return config.locate(ctx.find_root().params.get("data_dir")).database


def _offered(identity: str, name: str, status: str, incomplete: str) -> Iterator[tuple[str, str]]:
    _, word, _ = SHOWN[SessionStatus(status)]
    if " " not in name:
        yield name, f"{identity}, {word.lower()}"
    if incomplete or " " in name:
        yield identity, f"{name}, {word.lower()}"
