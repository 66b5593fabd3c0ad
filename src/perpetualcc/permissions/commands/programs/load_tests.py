"""Programs that put a service under load: how much, and on whom."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.urls import HostKind, host_of, kind_of

_AT_ONCE = frozenset(
    {"-c", "--connections", "--concurrency", "--clients", "-u", "--users", "--vus", "-s", "--stage",
     "-q", "-r", "-R", "--rate", "-rate", "--spawn-rate", "--rps", "-qps", "--count", "-J"}
)  # fmt: skip
_IN_ALL = frozenset({"-n", "--requests", "-a", "-i", "--iterations", "--num"})
_MOST_AT_ONCE, _MOST_IN_ALL = 100, 10_000
"""Users at a time or requests a second, and requests, above which a trial is a load."""
_NUMBER = re.compile(r"(?:^|[:=])(\d{1,9})(?![\w.])")
"""`500`, `users=500`, `1m:500`; and not `30s`."""
_OF_USERS = re.compile(r"\w*(?:users?|threads?|vus|clients|rate|rps|concurrency)=", re.IGNORECASE)
_ENVIRONMENT = frozenset({"-e", "--env", "--environment"})
_PRODUCTION = re.compile(r"(?:^|=)(?:prod|production|live)$", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s'\",]+")


def is_much(call: Call) -> bool:
    """`ab -n 100 -c 5` asks whether it works, `k6 run -u 400` how long it does."""
    return any(
        number >= (_MOST_IN_ALL if name in _IN_ALL else _MOST_AT_ONCE)
        for name, number in _amounts(call)
    )


def load(call: Call) -> Finding:
    """The finding for what `is_much`."""
    why = "Puts another machine under load, whoever answers for it"
    return call.finding(Risk.HIGH, "load", why, EffectKind.NETWORK)


@handles("load-test")
def load_test(call: Call) -> Findings:
    """`k6 run`, `locust -f`: whom it asks stands in its script, unless an address is given."""
    if _is_here(call):
        return []
    if is_much(call) or _names_production(call):
        return [load(call)]
    if _amounts(call):
        return []
    why = "How much load it makes, and on whom, stands in its script"
    return [call.finding(Risk.MEDIUM, "load", why, EffectKind.NETWORK)]


def _amounts(call: Call) -> list[tuple[str, int]]:
    return [
        (given.name, int(number))
        for given in call.arguments.given
        if given.value and given.name in _AT_ONCE | _IN_ALL
        if given.name != "-J" or _OF_USERS.match(given.value.text)
        for number in _NUMBER.findall(given.value.text)
    ]


def _names_production(call: Call) -> bool:
    return any(
        given.value and given.name in _ENVIRONMENT and _PRODUCTION.search(given.value.text)
        for given in call.arguments.given
    )


def _is_here(call: Call) -> bool:
    named = [one for word in call.command.words for one in _ADDRESS.findall(word.text)]
    return bool(named) and all(kind_of(host_of(one)) is HostKind.LOOPBACK for one in named)
