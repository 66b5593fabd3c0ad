"""
What empties a directory before it fills it: `venv --clear src`, `pytest --basetemp=src`.

What builds make may go, what people wrote may not: the name of the directory tells.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from typing import Any

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone, contains
from perpetualcc.permissions.shell.script import UNKNOWN

_PIECES = re.compile(r"[,{}]|(?<=\w)=(?=[\w.]+=)")
_INNER = re.compile(r"[\"']?([\w.]+)[\"']?\s*[:=]\s*[\"']?([^\"']*)[\"']?")

_REPORT = re.compile(r"^(?:html|xml|json|lcov|annotate|markdown):")
"""`--cov-report html:DIR`."""


def emptied(call: Call) -> Findings:
    """A finding for each directory that would be emptied and is no product of a build."""
    return [finding for program in _called(call) for finding in _emptied_by(program, call)]


def _emptied_by(program: Mapping[str, Any], call: Call) -> Findings:
    words = [word.text for word in call.command.words[1:]]
    given = {word.partition("=")[0] for word in words}
    is_told = not given.isdisjoint(program.get("clears", ()))
    always = program.get("always", "clears" not in program)
    if not (is_told or always) or not given.isdisjoint(program.get("keeps", ())):
        return []
    into = list(_named(words, frozenset(program.get("into", ()))))
    if always == "below" and not is_told:
        into = [path for path in into if _is_below(path, call)]
    if program.get("first"):
        into += [word.text for word in call.arguments.operands[:1]]
    told = call.judge.environment(call.command.assignments)
    into += [one.value.text for one in told if one.name in program.get("variables", ())]
    return [
        call.finding(
            Risk(program.get("risk", "HIGH")),
            "empties-directory",
            f"Empties {path.replace(UNKNOWN, '…')}, or fills it anew",
            EffectKind.DELETE,
        )
        for path in dict.fromkeys(into)
        if not (may_go(path, program, call) or (not path and "risk" in program))
    ]


def _called(call: Call) -> Sequence[Mapping[str, Any]]:
    """`vite build`, also where the tables of commands know no more than `vite`."""
    path = call.arguments.path
    programs = _programs().get(path.partition(" ")[0])
    if programs is None:
        return ()
    said = {word.text for word in call.arguments.operands}
    names = [name for name in programs if _is_called(name, path, said)]
    return programs[max(names, key=len)] if names else ()


def _is_called(name: str, path: str, said: set[str]) -> bool:
    return name == path or (
        name.startswith(f"{path} ") and said.issuperset(name.removeprefix(path).split())
    )


def _named(words: list[str], options: frozenset[str]) -> Iterator[str]:
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if name.strip() in options:
            yield _REPORT.sub("", value.strip() if equals else following)
        elif "=" in value or "{" in word:  # `--override-ini=cache_dir=src`, and settings as JSON
            found = (_INNER.fullmatch(piece) for piece in _PIECES.split(word))
            yield from (one[2] for one in found if one and options & {one[1], f"--{one[1]}"})


def _is_below(path: str, call: Call) -> bool:
    """What lies elsewhere is left alone, unless an option says otherwise."""
    territory = call.judge.territory
    place = territory.locate(path, call.cwds).path
    return any(cwd is None or contains(cwd, place) for cwd in call.cwds or (territory.project,))


def may_go(path: str, program: Mapping[str, Any], call: Call) -> bool:
    """Whether what is there was made by a build, as far as its name says."""
    territory = call.judge.territory
    location = territory.locate(path, call.cwds)
    if location.zone is Zone.SCRATCH or location.path.startswith("/dev/"):
        return True
    if not territory.contains(location.path):
        return False
    *above, name = location.path.removeprefix(territory.project).split("/")
    table = load_table("emptying")
    return (
        any(fnmatchcase(name, product) for product in table["products"])
        or not set(table["builds"]).isdisjoint(above)
        or any(fnmatchcase(p, own) for p in (*above, name) for own in program.get("products", ()))
    )


@cache
def _programs() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By the first word of their names, and by these."""
    programs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for program in load_table("emptying")["program"]:
        for name in program["commands"]:
            programs.setdefault(name.partition(" ")[0], {}).setdefault(name, []).append(program)
    return programs
