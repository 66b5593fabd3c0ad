"""Many expressions as one, and words found by their ends."""

import re

import pytest

from perpetualcc.brain.rules.nearness import is_alike, near_forms
from perpetualcc.brain.rules.tables import table
from perpetualcc.brain.rules.vocabulary import one_of

_TEXTS = (
    "should i delete the table? no, drop the index",
    "ou envoyer les factures, et quand les supprimer?",
    "a|b (c) [d] ^e",
    "when are reminders sent by e-mail",
    "删除 所有 数据",
    "notable tablets",
    "",
)


@pytest.mark.parametrize(
    "expressions",
    [
        [r"\ba|b", r"^c", r"[|(]d\b"],
        [r"\btable\b|^should|x", r"[^]|]e", r"\(c\)"],
        [r"^a(?:\||b)", r"\bd|\[d"],
        *(table("risks")["always"].values()),
        table("risks")["harmless"],
    ],
)
def test_expressions_as_one_find_what_they_find_alone(expressions: list[str]) -> None:
    together, alone = one_of(expressions), [re.compile(one) for one in expressions]
    for text in (*_TEXTS, *expressions):
        starts = [found.start() for one in alone if (found := one.search(text))]
        found = together.search(text)
        assert (found.start() if found else None) == min(starts, default=None)


def test_all_that_are_alike_are_near() -> None:
    words = frozenset(
        {"termin", "termine", "terminen", "impftermin", "scan", "gescannt", "scannen"}
        | {"abgemeldet", "abmelden", "@express", "express", "expresses", "password"}
        | {"passwordless", "zone", "zeitzone", "#30", "go", "@go"}
    )
    for word in words:
        alike = {other for other in words if is_alike(word, other)}
        assert alike <= set(near_forms(word, words)), word
