"""
Directories that are repositories of git by what lies in them, wherever they came from.

A clone never brings a `.git`, but a directory with a `HEAD`, `objects` and `refs` is one as well:
in it and below it, git runs what its `config` names, also when it only looks. One whose `HEAD` the
line itself writes is becoming one.
"""

import os
import posixpath
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.script import UNKNOWN


def in_bare_repository(call: Call, rule: CommandRule) -> Findings:
    """`git -C src/odd status`, `cd src/odd && git log`."""
    for cwd in call.cwds if rule.rule.startswith("git-") else ():
        place = cwd or "/"
        while place not in {"/", call.judge.territory.project} and UNKNOWN not in place:
            if os.path.lexists(f"{place}/.git"):
                break
            if _is_bare(place) or f"{place}/HEAD" in call.judge.files:
                why = f"{place} is a repository by itself, whose settings name what git runs"
                found = call.finding(Risk.MEDIUM, "bare-repository", why, EffectKind.EXECUTE)
                return [replace(found, is_guarded=True)]
            place = posixpath.dirname(place)
    return []


def _is_bare(place: str) -> bool:
    names = (f"{place}/HEAD", f"{place}/objects", f"{place}/refs")
    return all(map(os.path.lexists, names))
