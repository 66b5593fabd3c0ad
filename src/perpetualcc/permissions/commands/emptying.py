"""
What empties a directory before it fills it: `venv --clear src`, `pytest --basetemp=src`.

What builds make may go, what people wrote may not: the name of the directory tells.
"""

import posixpath
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.shell.script import UNKNOWN


def emptied(call: Call) -> Findings:
    """A finding for each directory that would be emptied and is no product of a build."""
    program = _programs().get(call.arguments.path)
    if program is None:
        return []
    words = [word.text for word in call.command.words[1:]]
    clears = program.get("clears", [])
    if clears and not any(word.partition("=")[0] in clears for word in words):
        return []
    into = list(_named(words, frozenset(program.get("into", ()))))
    if program.get("first"):
        into += [word.text for word in call.arguments.operands[:1]]
    return [
        call.finding(
            Risk.HIGH,
            "empties-directory",
            f"Empties {path.replace(UNKNOWN, '…')} before it fills it",
            EffectKind.DELETE,
        )
        for path in into
        if not _may_go(path, call)
    ]


def _named(words: list[str], options: frozenset[str]) -> Iterator[str]:
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if name in options:
            yield value if equals else following


def _may_go(path: str, call: Call) -> bool:
    location = call.judge.territory.locate(path, call.cwds)
    if location.zone is Zone.SCRATCH:
        return True
    is_inside = call.judge.territory.contains(location.path)
    name = posixpath.basename(posixpath.normpath(path))
    return is_inside and name in load_table("emptying")["products"]


@cache
def _programs() -> dict[str, dict[str, Any]]:
    return {
        name: program
        for program in load_table("emptying")["program"]
        for name in program["commands"]
    }
