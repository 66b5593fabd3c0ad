"""
Whether a line is about what is asked, or about another thing of the same kind.

"Dashboard theme: dark" says nothing of the theme of a public page, and "config_file: TOML" nothing
of the format of a cache file. Measured is what the question asks for (the *theme*), and what the
line and the question have beside it that the other does not.
"""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import lru_cache

from perpetualcc.brain.rules.choices import generic
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.mentions import weak
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import read_terms, values

_ASKED_FOR = re.compile(
    r"\b(?:which|what|welche[rsnm]?|cual|que|quel(?:le)?s?|qual|quais|quale|quali|welke|как\w+)\s+"
    r"((?:[^\W\d_]+[ -]){1,4})"
)
APART = (
    *("t_keyleft", "t_left", "t_apart", "t_head", "t_mods", "t_qmods", "t_unlike"),
    *("t_first", "t_second", "t_lastkey", "t_firstkey"),
)
"""The names of what is measured."""

Worth = Callable[[str], float]


@lru_cache(maxsize=512)
def asked_for(asked: str) -> frozenset[str]:
    """Of "which colour theme should …" the words that name what is asked for."""
    found = _ASKED_FOR.search(asked)
    words = found[1].replace("-", " ").split() if found else []
    empty = word_set("stop") | {"kind", "type", "sort"}
    while words and words[0] in empty:
        del words[0]
    end = next((at for at, word in enumerate(words) if word in empty), len(words))
    return values(read_terms(" ".join(words[:end])))


def stands_apart(
    clause: Clause,
    *,
    asked: AbstractSet[str],
    head: AbstractSet[str],
    topics: AbstractSet[str],
    missing: int,
    left: float,
    total: float,
    worth: Worth,
) -> dict[str, float]:
    """
    What a clause has that a question has not, and the other way round.

    `asked` and `head` are the words of the question, and of what it asks for, as the requirements
    have them; `missing` of its telling words, worth `left` of `total`, are not on the line.
    """
    key = clause.key_stems
    is_topical = bool(broad_topics(clause.key_topics) & topics)
    telling = (clause.key_rest if is_topical else key) - asked - generic() - weak()
    key_left = sum(map(worth, telling))
    more = len(key - asked - word_set("asking"))
    is_head = float(bool(head & key))
    named = [term.value for term in read_terms(clause.statement.key) if term.value]
    said = [
        one for one in (*named, *(term.value for term in clause.terms)) if one and one not in weak()
    ]
    return {
        "t_keyleft": key_left,
        "t_left": left / total,
        "t_apart": min(key_left, left),
        "t_head": is_head,
        "t_mods": float(more),
        "t_qmods": float(missing),
        "t_unlike": is_head * min(more, missing),
        "t_first": _share(said[:2], asked),
        "t_second": _share(said[1:3], asked),
        "t_firstkey": _share(named[:1], asked),
        "t_lastkey": _share(named[-1:], asked),
    }


def _share(words: list[str], asked: AbstractSet[str]) -> float:
    """How many are asked about; one half where there are none."""
    return sum(word in asked for word in words) / len(words) if words else 0.5
