"""Tests empty the database that they run against: never unasked the one of production."""

import re
from collections.abc import Iterator
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind

_TESTS = frozenset({"test", "tests", "spec", "specs"})
_STAGE = re.compile(
    r"(?!(?:NODE|BABEL|VITE)_)(?:\w+_)?(?:ENV|ENVIRONMENT|STAGE|SETTINGS_MODULE|PROFILES_ACTIVE)"
)
"""Variables that say whose settings are meant. `NODE_ENV` says how code is built."""
_OPTIONS = frozenset(
    {"--settings", "--ds", "--env", "--environment", "--stage", "-Dspring.profiles.active",
     "--spring.profiles.active"}
)  # fmt: skip
_PRODUCTION = re.compile(r"(?<![A-Za-z])prod(?:uction)?(?![A-Za-z]|[_-]test)", re.IGNORECASE)


def tests_production(call: Call, rule: CommandRule) -> Findings:
    """`RAILS_ENV=production rails test`, `manage.py test --settings=app.settings.prod`."""
    if not _tests(call, rule):
        return []
    named = [f"{name}={value}" for name, value in _stages(call) if _PRODUCTION.search(value)]
    why = f"{named[0][:80]}: tests empty the database that they run against" if named else ""
    return [call.finding(Risk.HIGH, "tests-production", why, EffectKind.DELETE)] if named else []


def _tests(call: Call, rule: CommandRule) -> bool:
    if EffectKind.EXECUTE not in rule.effects:
        return False
    words = [*call.arguments.path.split(), *(w.text for w in call.arguments.operands[:2])]
    named = {part for word in words for part in word.split(":")}
    return rule.rule == "test-project" or not _TESTS.isdisjoint(named)


def _stages(call: Call) -> Iterator[tuple[str, str]]:
    for one in call.judge.environment(call.command.assignments):
        if _STAGE.fullmatch(one.name):
            yield one.name, one.value.text
    texts = [word.text for word in call.command.words]
    for text, following in pairwise((*texts, "")):
        name, equals, value = text.partition("=")
        if name in _OPTIONS:
            yield name, value if equals else following
        elif equals and _STAGE.fullmatch(name):  # `make test STAGE=prod`
            yield name, value
