"""
Where packages, images and settings come from, when nothing can prove what is there.

`npx --registry=http://x`, `GOPROXY=http://x go mod download`, `helm repo add a http://x`: who is
between here and there decides what is run.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.urls import HostKind, host_of, kind_of

_PLAIN = re.compile(r"(?:^|[=+@:,|\"'\s])http://([^\s\"',|]+)", re.IGNORECASE)
_SAYS_WHERE = re.compile(
    r"registr|index|source|mirror|repo(?!rt)|channel|substituter|find-?links|goproxy|\bfeed"
    r"|\btap\b|taskfile|justfile|hosted-url|module|\bplugin (?:add|install)",
    re.IGNORECASE,
)
"""In the names of options, settings, variables and subcommands."""
_NAMED_SOURCE = re.compile(r"(?:repositor|repos?\b|registr|mirror|source|channel)[\w.-]*")


def judge_sources(call: Call) -> Findings:
    """A finding for each place of packages that cannot prove what it is."""
    rule, words = call.arguments.rule, call.command.words
    told = call.judge.environment(call.command.assignments)
    texts = (*(word.text for word in words), *(one.value.text for one in told))
    if rule is None or rule.rule == "fetch" or not any("://" in text for text in texts):
        return []
    found = [
        (name, match[1])
        for name, value in _named(call)
        if "http://" in value.lower() and _SAYS_WHERE.search(name)
        for match in _PLAIN.finditer(value)
        if kind_of(host_of(f"http://{match[1]}")) is not HostKind.LOOPBACK
    ]
    return [
        call.finding(
            Risk.HIGH,
            "remote-code",
            f"{name[:40]}: http://{place[:80]} cannot prove what it is",
            EffectKind.EXECUTE,
            EffectKind.NETWORK,
        )
        for name, place in dict.fromkeys(found)
    ]


def _named(call: Call) -> Iterator[tuple[str, str]]:
    """Settings with their values; an operand by the words before it."""
    for before, word in pairwise(call.command.words):
        text = word.text
        if "://" not in text:
            continue
        name, equals, value = text.partition("=")
        is_named = equals and "://" not in name
        yield (name, value) if is_named else (before.text, text)
        if not is_named and before.text[:1] != "-":
            operands = [one.text for one in call.arguments.operands]
            named = [one for one in operands if _NAMED_SOURCE.fullmatch(one)]
            yield " ".join([*call.arguments.path.split()[1:], *operands[:1], *named]), text
    for one in call.judge.environment(call.command.assignments):
        yield one.name, one.value.text
