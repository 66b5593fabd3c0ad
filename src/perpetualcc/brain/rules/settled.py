"""
Questions that name what is a person's, and settle only a mechanism or whether to have something.

How secrets are managed, who issues certificates, how long backups are kept: as a rule, of a kind
of thing, in a single sentence, and about nothing that is there.
"""

from functools import lru_cache

from perpetualcc.brain.rules.stance import is_about_what_is_there, sentences_of
from perpetualcc.brain.rules.text import fold
from perpetualcc.brain.rules.vocabulary import patterns


@lru_cache(maxsize=512)
def rest_of_settled(text: str, labels: tuple[str, ...]) -> str | None:
    """What such a question says besides the mechanism, folded; None of any other question."""
    sentences = sentences_of(text)
    if len(sentences) != 1:
        return None
    found = patterns("settled", "core").match(sentences[0])
    if not found and all(map(_is_way_to_merge, labels)):
        found = patterns("settled", "merging").match(sentences[0])
    rest = sentences[0][found.end() :] if found else ""
    return None if not found or is_about_what_is_there(rest) else rest


def _is_way_to_merge(label: str) -> bool:
    return bool(patterns("settled", "way_to_merge").search(fold(label).strip()))


def may_be_declined(text: str) -> bool:
    """Whether doing without what is asked for leaves everything as safe as it is."""
    *told, asking = sentences_of(text) or [""]
    brought = patterns("settled", "brings").search(asking)
    if not brought:
        return False
    thing = patterns("settled", "beside").split(asking[brought.start() :], maxsplit=1)[0]
    if patterns("settled", "keeps_safe").search(thing):
        return False
    return not any(
        is_about_what_is_there(one) or patterns("settled", "is_taken").search(one)
        for one in (*told, thing)
    )
