"""Which part of a product a sentence is about: what holds for tests need not hold for it all."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from perpetualcc.brain.rules.tables import table

_PLACES = frozenset({"production", "staging", "development", "ci", "tests"})
# What a sentence means that names no part.
_NEUTRAL = frozenset({"backend", "frontend"})
_TELLING = frozenset(
    {
        "tests",
        "development",
        "production",
        "staging",
        "mobile",
        "cli",
        "frontend",
        "backend",
        "jobs",
    }
    | {"analytics", "sessions", "embeddings", "admin", "desktop", "firmware", "scripts", "ci"}
)
# Parts for which the general rule holds, as long as nothing else is said for them.
_ORDINARY = frozenset({"production", "jobs", "admin", "gateway", "internal", "cli", "chat", "ci"})
# What holds here is no rule for the rest; what holds for the only app there is, is.
_SECONDARY = frozenset(
    {"tests", "development", "production", "staging", "legacy", "scripts", "training", "analytics"}
)


def scopes_of(words: Iterable[str], heading: Iterable[str] = ()) -> frozenset[str]:
    """The parts that some words name."""
    known = _by_word()
    return frozenset(known[word] for word in (*words, *heading) if word in known)


def telling(scopes: frozenset[str]) -> frozenset[str]:
    """Of the scopes of a header, those that are no mere label: "Test DB", and no "Offline"."""
    return scopes & _TELLING


@lru_cache(maxsize=4096)
def fits(asked: frozenset[str], said: frozenset[str], topics: frozenset[str]) -> bool:
    """Whether what is said about one part may answer a question about another."""
    implies = table("scopes")["implied"]
    implied = {scope for topic in topics for scope in implies.get(topic, ())}
    asked, said = asked - implied, said - implied
    if asked & said:
        # "Frontend tests" are no "backend tests".
        return not (asked - said and said - asked)
    if asked and said:
        return False
    return asked <= _NEUTRAL | _ORDINARY and not said & _SECONDARY


def places(scopes: frozenset[str]) -> frozenset[str]:
    """Of the scopes, those that say where a product runs: it does so in one place at a time."""
    return scopes & _PLACES


def of_product(
    overview: Iterable[frozenset[str]], others: Iterable[frozenset[str]]
) -> frozenset[str]:
    """
    The parts that are the product itself: naming them in a question says nothing.

    Those of which the overview tells ("a VS Code extension"), and those for which nothing is
    said apart; but what holds for all need not hold for tests or for one's own machine.
    """
    apart = frozenset[str]().union(*others)
    unsaid = frozenset(_by_word().values()) - apart
    return (frozenset[str]().union(*overview) | unsaid) - _SECONDARY


@cache
def _by_word() -> Mapping[str, str]:
    return {
        word: scope for scope, words in table("scopes")["words"].items() for word in words.split()
    }
