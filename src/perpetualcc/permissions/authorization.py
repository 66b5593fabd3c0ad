"""
Authorization levels: what a task may touch, whatever the risk is (seed 003, FR-3).

                          LEVEL 1   LEVEL 2              LEVEL 3
    read                  yes       yes                  yes
    write, delete         no        below named places   yes
    run a build or code   no        in the sandbox       yes
    network               as `allow_network` says, on every level

An authority is a value that comes from outside; nothing here can widen it.
"""

import re

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.permissions.effects import Analysis, Effect, EffectKind
from perpetualcc.permissions.paths import Territory, contains
from perpetualcc.permissions.shell.directories import join
from perpetualcc.permissions.shell.script import PIPE, UNKNOWN

_HARMLESS = re.compile(rf"/dev/(?:null|stdin|stdout|stderr|tty|fd/(?:\d+|{UNKNOWN}{PIPE}))")

_BESIDE_THE_SANDBOX = frozenset({"REPL", "PowerShell", "Computer"})
"""Tools that run code where no sandbox is: it is around the shell's commands alone."""


def overreach(
    analysis: Analysis, authority: Authority, territory: Territory, *, is_sandboxed: bool
) -> str:
    """Why `authority` does not cover the first effect it does not; empty: it covers all of them."""
    writable = tuple(
        path
        for directory in authority.writable
        if (path := join(territory.project, str(directory), home=territory.home))
    )
    for effect in analysis.effects:
        if why := _refusal(effect, authority, writable, is_sandboxed=is_sandboxed):
            return why
    return ""


def _refusal(
    effect: Effect, authority: Authority, writable: tuple[str, ...], *, is_sandboxed: bool
) -> str:
    if effect.kind is EffectKind.NETWORK and not authority.allow_network:
        return "this task has no network"
    if authority.level is AuthorityLevel.FULL or effect.kind in {
        EffectKind.READ,
        EffectKind.NETWORK,
    }:
        return ""
    if _HARMLESS.fullmatch(effect.target):
        return ""
    if authority.level is AuthorityLevel.READ_ONLY:
        return "this task may only read (level 1)"
    if effect.kind is EffectKind.EXECUTE and effect.target in _BESIDE_THE_SANDBOX:
        return "this task may run code only in the sandbox (level 2)"
    if effect.kind is EffectKind.EXECUTE or not effect.target.startswith("/"):
        return "" if is_sandboxed else "this task may run code only in the sandbox (level 2)"
    if UNKNOWN in effect.target or not any(contains(d, effect.target) for d in writable):
        return f"this task may write only below {', '.join(writable) or 'nothing'} (level 2)"
    return ""
