"""
Caches put where people's own files are: `mypy --cache-dir=src`, `RUFF_CACHE_DIR=src ruff check`.

Tools call all that lies in their cache their own: they tell git to ignore it, and empty it.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.emptying import may_go
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.paths import Zone

_CACHE = re.compile(
    r"cache[-_.]?(?:dir(?:ectory)?|folder|location|path|root|home|prefix|file)$", re.IGNORECASE
)
_MADE = {"products": ["*cache*", ".*"]}


def judge_caches(call: Call, rule: CommandRule) -> Findings:
    """A finding for each place of code, or the whole project, that is to be a cache."""
    if rule.risk is not Risk.LOW or EffectKind.EXECUTE not in rule.effects:
        return []
    return [
        call.finding(
            Risk.MEDIUM, "cache-over-code", f"{name}: keeps a cache where code is", EffectKind.WRITE
        )
        for name, value in _named(call)
        if _CACHE.search(name.strip()) and value and _holds_code(value.strip(), call)
    ]


def _named(call: Call) -> Iterator[tuple[str, str]]:
    words = [word.text for word in call.command.words]
    for before, word in pairwise(words) if any("ache" in word for word in words) else ():
        name, equals, value = word.rpartition("=")
        if equals:
            yield name, value
        elif before[:1] == "-":
            yield before, word
    for one in call.judge.environment(call.command.assignments):
        yield one.name, one.value.text


def _holds_code(value: str, call: Call) -> bool:
    territory = call.judge.territory
    location = territory.locate(value, call.cwds)
    if location.zone is not Zone.SAFE and not territory.is_all(location.path):
        return False
    return not may_go(value, _MADE, call)
