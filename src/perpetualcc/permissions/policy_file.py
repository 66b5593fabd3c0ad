"""
A project's own policy, `.perpetualcc/policy.toml`.

It can always make things stricter. What makes them looser counts only when a person trusts
exactly this file (`trust`), since an agent can write it. Of a file with a mistake all that is
stricter still holds (`policy_salvage`), and nothing goes on without a person.
"""

import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.permissions.policy_salvage import entries_that_hold
from perpetualcc.permissions.setting_checks import UselessEntry, refuse_useless
from perpetualcc.permissions.settings import PermissionSettings, leaves_project

POLICY_FILE = ".perpetualcc/policy.toml"
"""Where it is, from the project."""
UNREADABLE = b"\0unreadable"
"""Stands for the content of a file that is there and cannot be read."""
UNREADABLE_WHY = "it is there and cannot be read"
_LARGEST = 100_000
"""Bytes. Anybody may have written it, and it is read again with each change."""
_DOTS = 500
"""On a line; reading a key takes the square of its dots."""
_MOST_ENTRIES, _LONGEST_ENTRY = 500, 500
"""Each is tried, to see whether it does something."""
_LISTS = (
    "safe_directories",
    "blocked_commands",
    "credential_paths",
    "credential_exceptions",
    "trusted_hosts",
)


class UnreadablePolicy(PerpetualError):  # noqa: N818  # named like what a person reads
    """The policy file of a project is not what it should be."""

    def __init__(self, why: str, where: str = POLICY_FILE) -> None:
        self.why = why
        meanwhile = (
            "until it is mended what it forbids holds, and a person decides the rest, LOW too"
        )
        super().__init__(
            f"{where} has a mistake: {why}; until it is mended {meanwhile}",
            hint="See docs/permissions.md, 'A project's policy'",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPolicy:
    """What `[permissions]` of the file says. None: nothing."""

    auto_approve_low_risk: bool | None = None
    safe_directories: tuple[str, ...] | None = None
    blocked_commands: tuple[str, ...] = ()
    credential_paths: tuple[str, ...] = ()
    credential_exceptions: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()


def parse_policy(content: bytes) -> ProjectPolicy:
    """
    Read the file.

    Raises:
        UnreadablePolicy: too much, not TOML, an unknown key, a wrong type, or a directory outside;
            with the line where one can be named.
    """
    if content == UNREADABLE:
        raise UnreadablePolicy(UNREADABLE_WHY)
    if len(content) > _LARGEST:
        raise UnreadablePolicy(f"more than {_LARGEST:,} bytes")
    if any(line.count(b".") > _DOTS for line in content.splitlines()):
        raise UnreadablePolicy(f"a line with more than {_DOTS} dots")
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number beyond all limits
        raise UnreadablePolicy(str(error)) from error
    try:
        return _policy(data)
    except _Mistake as mistake:
        line = _line_of(content, mistake.key, mistake.entry)
        raise UnreadablePolicy(f"{mistake}{line and f' (line {line})'}") from mistake


class _Mistake(Exception):  # noqa: N818  # what a person reads is the error made of it
    """What is wrong, and the key and the entry that it is about."""

    def __init__(self, why: str, key: str = "", entry: str = "") -> None:
        super().__init__(why)
        self.key, self.entry = key, entry


def _line_of(content: bytes, key: str, entry: str) -> int:
    """Of the first such entry from the key on, or of the key; 0 where it is on none."""
    lines = content.decode("utf-8", "replace").splitlines()
    first = next((at for at, line in enumerate(lines) if key and key in line), -1)
    texts = enumerate(lines[first:], start=first)
    return next((at for at, line in texts if entry and entry in line), first) + 1


def _policy(data: dict[str, Any]) -> ProjectPolicy:
    section = data.get("permissions", {})
    if not isinstance(section, dict) or set(data) - {"permissions"}:
        other = next((key for key in data if key != "permissions"), "permissions")
        raise _Mistake("only a table [permissions] is known", other)
    if unknown := sorted(set(section) - {"auto_approve_low_risk", *_LISTS}):
        raise _Mistake(f"there is no key {', '.join(unknown)}", unknown[0])
    _refuse_useless(section)
    return ProjectPolicy(**{key: _value(key, value) for key, value in section.items()})


def what_holds(content: bytes) -> ProjectPolicy:
    """Of a file with a mistake: what can be read of it that makes things stricter."""
    return ProjectPolicy(auto_approve_low_risk=False, **entries_that_hold(content))


def _refuse_useless(section: dict[str, Any]) -> None:
    """What was meant to be stricter and does nothing would be missed by whoever relies on it."""
    lists = {key: _value(key, section[key]) for key in _LISTS if key in section}
    if sum(map(len, lists.values())) > _MOST_ENTRIES:
        raise _Mistake(f"more than {_MOST_ENTRIES} entries")
    long = (one for entries in lists.values() for one in entries if len(one) > _LONGEST_ENTRY)
    if (entry := next(long, None)) is not None:
        key = next(key for key, entries in lists.items() if entry in entries)
        raise _Mistake(f"an entry with more than {_LONGEST_ENTRY} characters", key, entry)
    try:
        _checked(tuple(lists.items()))
    except UselessEntry as error:
        raise _Mistake(error.message, error.key, error.entry) from error


@lru_cache(maxsize=64)
def _checked(lists: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    refuse_useless(PermissionSettings(**dict(lists)))  # type: ignore[arg-type]


def _value(key: str, value: Any) -> Any:
    if key == "auto_approve_low_risk":
        if not isinstance(value, bool):
            raise _Mistake(f"{key!r} is not true or false", key)
        return value
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _Mistake(f"{key!r} is not a list of texts", key)
    outside = [item for item in value if key == "safe_directories" and leaves_project(item)]
    if outside:
        raise _Mistake(
            f"a safe directory is below the project, not {outside[0]!r}", key, outside[0]
        )
    return tuple(value)


def seen_from(inner: PurePosixPath, policy: ProjectPolicy) -> ProjectPolicy:
    """What the policy of a folder says to one who works in a folder below it."""
    if policy.safe_directories is None:
        return policy
    paths = map(PurePosixPath, policy.safe_directories)
    return replace(
        policy,
        safe_directories=tuple(
            "." if inner.is_relative_to(path) else str(path.relative_to(inner))
            for path in paths
            if inner.is_relative_to(path) or path.is_relative_to(inner)
        ),
    )


def apply_policy(
    settings: PermissionSettings, policy: ProjectPolicy, *, is_trusted: bool
) -> PermissionSettings:
    """The settings for this project: stricter always, looser only when it is trusted."""
    stricter = replace(
        settings,
        auto_approve_low_risk=settings.auto_approve_low_risk
        and policy.auto_approve_low_risk is not False,
        blocked_commands=_both(settings.blocked_commands, policy.blocked_commands),
        credential_paths=_both(settings.credential_paths, policy.credential_paths),
        safe_directories=_kept(settings.safe_directories, policy.safe_directories),
    )
    if not is_trusted:
        return stricter
    return replace(
        stricter,
        safe_directories=policy.safe_directories
        if policy.safe_directories is not None
        else settings.safe_directories,
        credential_exceptions=_both(settings.credential_exceptions, policy.credential_exceptions),
        trusted_hosts=_both(settings.trusted_hosts, policy.trusted_hosts),
    )


def _both(some: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))


def _kept(mine: tuple[str, ...], theirs: tuple[str, ...] | None) -> tuple[str, ...]:
    """Of the user's safe directories those that the project calls safe too."""
    if theirs is None:
        return mine
    named = {PurePosixPath(directory) for directory in theirs}
    if PurePosixPath() in named:
        return mine
    return tuple(directory for directory in mine if PurePosixPath(directory) in named)
