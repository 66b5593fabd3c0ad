"""
Before `[permissions]` of the configuration counts: that each entry of its lists does something,
and not everything.

Judged by the very code that would use it, so that what is refused here could never have mattered.
"""

import re
from collections.abc import Callable

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import blocked_patterns, blocking
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.settings import PermissionSettings, leaves_project
from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.urls import judge_url

_PROJECT = "/project"


class UselessEntry(PerpetualError):  # noqa: N818  # named like what a person reads
    """An entry of a list does nothing, or everything."""

    def __init__(self, key: str, entry: str, why: str, hint: str) -> None:
        self.key, self.entry = key, entry
        super().__init__(f"{entry!r} in 'permissions.{key}' {why}", hint=hint)


def refuse_useless(settings: PermissionSettings) -> None:
    """
    Raises:
        UselessEntry: the first entry, beside the defaults, that cannot mean what a person wants.
    """
    usual = PermissionSettings()
    for key, check in _CHECKS.items():
        for entry in (one for one in getattr(settings, key) if one not in getattr(usual, key)):
            if why := check(entry):
                raise UselessEntry(key, entry, why, _HINTS[key])


def is_useful(key: str, entry: str) -> bool:
    """Whether an entry of this list means something, and not everything."""
    return not _CHECKS[key](entry)


def _directory(entry: str) -> str:
    if leaves_project(entry):
        return "is no directory below the project: it would be all of it, or nothing in it"
    if set("*?[") & set(entry):
        return "is a pattern, and directories are named literally"
    safe = PermissionSettings(safe_directories=(entry,))
    written = Territory(_PROJECT, safe).write(f"{_PROJECT}/{entry}/file", (_PROJECT,), "")
    return "" if written.risk is Risk.LOW else "has no effect: that place is guarded"


def _command(entry: str) -> str:
    patterns = blocked_patterns((entry,))
    script = read_script(entry, home="/", project=_PROJECT, cwds=(_PROJECT,))
    blocked = any(blocking(command, patterns) for command in script.commands)
    return "" if blocked and not script.problems else "blocks nothing, not even itself"


def _credential(entry: str) -> str:
    parts = entry.strip("/").split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        return "matches no path: paths have no empty, '.' or '..' parts"
    return "" if re.search(r"\w", entry) else "names no place in particular"


def _exception(entry: str) -> str:
    if not entry.strip() or "/" in entry:
        return "matches no file: it is compared with the name alone"
    return "" if re.search(r"\w", entry) else "names no file in particular"


def _host(entry: str) -> str:
    is_name = re.fullmatch(r"[\w.-]+", entry) is not None
    found = judge_url(f"https://{entry}/", "", (entry,)) if is_name else None
    return "" if found and found.rule == "address-trusted" else "trusts no host"


_CHECKS: dict[str, Callable[[str], str]] = {
    "safe_directories": _directory,
    "blocked_commands": _command,
    "credential_paths": _credential,
    "credential_exceptions": _exception,
    "trusted_hosts": _host,
}
_HINTS = {
    "safe_directories": "Name directories of the project, such as src/ or docs/guides/",
    "blocked_commands": "The beginning of one command or pipe, such as 'git push' or 'curl | sh'",
    "credential_paths": "A file name or a path, such as *.token, ~/vault or config/keys",
    "credential_exceptions": "A file name, such as .env.ci or *.example.pem",
    "trusted_hosts": "Exact names of hosts on the internet, in small letters, such as "
    "docs.python.org; services of this machine or network are always asked about",
}
