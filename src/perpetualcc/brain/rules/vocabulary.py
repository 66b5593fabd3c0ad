"""The tables beside this module, loaded once: names, topics, risks, consent, polarity."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from perpetualcc.brain.rules.tables import table
from perpetualcc.brain.rules.text import Token, fold, singular, split_tokens

Phrases = dict[str, list[tuple[tuple[str, ...], str]]]
"""By first word: the words of a phrase, and what it stands for; the longest phrase first."""

# A sign that is escaped or in a class of characters opens and closes nothing.
_SIGNS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)


def phrases(pairs: Iterable[tuple[str, str]], *, singulars: bool = False) -> Phrases:
    """Index phrases by their first word."""
    index: Phrases = {}
    for words, meaning in pairs:
        key = tuple(singular(one.word) if singulars else one.word for one in split_tokens(words))
        if key:
            index.setdefault(key[0], []).append((key, meaning))
    for entries in index.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return index


def find_phrases(index: Phrases, words: list[str]) -> list[tuple[int, int, str]]:
    """Where phrases occur: start, end and meaning. Longest first; they never overlap."""
    found = []
    at = 0
    while at < len(words):
        for key, meaning in index.get(words[at], ()):
            if words[at : at + len(key)] == list(key):
                found.append((at, at + len(key), meaning))
                at += len(key)
                break
        else:
            at += 1
    return found


@cache
def name_phrases() -> Phrases:
    """Every spelling of every known name."""
    pairs = [(name, name) for topic in table("topics").values() for name in topic["names"]]
    for name, spellings in table("names")["aliases"].items():
        pairs += [(spelling, name) for spelling in (name, *spellings)]
        # "Server-side sessions" and "a server-side session".
        pairs += [(singular(spelling), name) for spelling in spellings if " " in spelling]
    return phrases(dict.fromkeys(pairs))


@cache
def ordinary_names() -> frozenset[str]:
    """Names that are also words of English; see `names.toml`."""
    return frozenset(fold(name) for name in table("names")["ordinary"])


@cache
def topic_phrases() -> Phrases:
    """Every way to call a topic."""
    topics = table("topics").items()
    return phrases(
        ((word, topic) for topic, row in topics for word in row["words"]), singulars=True
    )


@cache
def topics_of_name() -> Mapping[str, frozenset[str]]:
    """What a product can serve as."""
    served: dict[str, set[str]] = {}
    for topic, row in table("topics").items():
        for name in row["names"]:
            served.setdefault(name, set()).add(topic)
    return {name: frozenset(topics) for name, topics in served.items()}


def find_topics(tokens: list[Token]) -> list[tuple[int, int, str]]:
    """The topics a text names, in its order."""
    return find_phrases(topic_phrases(), [singular(token.word) for token in tokens])


@cache
def patterns(name: str, key: str) -> re.Pattern[str]:
    """A list of regular expressions of a table as one."""
    return one_of(table(name)[key])


def one_of(expressions: Iterable[str]) -> re.Pattern[str]:
    r"""
    Any of some regular expressions.

    Those that begin with a word share one `\b`, and those at the beginning one `^`: elsewhere none
    of them is tried, and of hundreds only those with the right first letter. That is five to ten
    times as fast.
    """
    left = [branch for one in expressions for branch in _branches(one)]
    shared = []
    for begin in (r"\b", "^"):
        rest = "|".join(one.removeprefix(begin) for one in left if one.startswith(begin))
        shared += [f"{begin}(?:{rest})"] * bool(rest)
        left = [one for one in left if not one.startswith(begin)]
    return re.compile("|".join([*shared, *left]))


def _branches(expression: str) -> Iterator[str]:
    """What an expression has between the `|` that are in no group."""
    depth = begin = 0
    for sign in _SIGNS.finditer(expression):
        depth += (sign[0] == "(") - (sign[0] == ")")
        if sign[0] == "|" and not depth:
            yield expression[begin : sign.start()]
            begin = sign.end()
    yield expression[begin:]


@cache
def cues(key: str) -> Phrases:
    """A list of words of `polarity.toml`."""
    return phrases((words, key) for words in table("polarity")[key])
