"""
A project's own policy, `.perpetualcc/policy.toml`.

It can always make things stricter. What makes them looser counts only when a person trusts
exactly this file (`trust`), since an agent can write it.
"""

import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.permissions.setting_checks import UselessEntry, refuse_useless
from perpetualcc.permissions.settings import PermissionSettings, leaves_project

POLICY_FILE = ".perpetualcc/policy.toml"
"""Where it is, from the project."""
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

    def __init__(self, why: str) -> None:
        meanwhile = "until it is mended a person is asked about LOW, too"
        super().__init__(
            f"{POLICY_FILE} has a mistake: {why}; {meanwhile}",
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
        UnreadablePolicy: too much, not TOML, an unknown key, a wrong type, or a directory outside.
    """
    if len(content) > _LARGEST:
        raise UnreadablePolicy(f"more than {_LARGEST:,} bytes")
    if any(line.count(b".") > _DOTS for line in content.splitlines()):
        raise UnreadablePolicy(f"a line with more than {_DOTS} dots")
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadablePolicy(str(error)) from error
    section = data.get("permissions", {})
    if not isinstance(section, dict) or set(data) - {"permissions"}:
        raise UnreadablePolicy("only a table [permissions] is known")
    if unknown := set(section) - {"auto_approve_low_risk", *_LISTS}:
        raise UnreadablePolicy(f"there is no key {', '.join(sorted(map(str, unknown)))}")
    _refuse_useless(section)
    return ProjectPolicy(**{key: _value(key, value) for key, value in section.items()})


def _refuse_useless(section: dict[str, Any]) -> None:
    """What was meant to be stricter and does nothing would be missed by whoever relies on it."""
    lists = {key: _value(key, section[key]) for key in _LISTS if key in section}
    if sum(map(len, lists.values())) > _MOST_ENTRIES:
        raise UnreadablePolicy(f"more than {_MOST_ENTRIES} entries")
    if any(len(entry) > _LONGEST_ENTRY for entries in lists.values() for entry in entries):
        raise UnreadablePolicy(f"an entry with more than {_LONGEST_ENTRY} characters")
    try:
        _checked(tuple(lists.items()))
    except UselessEntry as error:
        raise UnreadablePolicy(error.message) from error


@lru_cache(maxsize=64)
def _checked(lists: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    refuse_useless(PermissionSettings(**dict(lists)))  # type: ignore[arg-type]


def _value(key: str, value: Any) -> Any:
    if key == "auto_approve_low_risk":
        if not isinstance(value, bool):
            raise UnreadablePolicy(f"{key!r} is not true or false")
        return value
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise UnreadablePolicy(f"{key!r} is not a list of texts")
    if key == "safe_directories" and any(leaves_project(item) for item in value):
        raise UnreadablePolicy("a safe directory is below the project")
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
