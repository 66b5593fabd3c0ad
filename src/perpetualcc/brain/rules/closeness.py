"""
How much a clause of the requirements is about a question: by its key, its topic, its words.

The integer part is the tier, which counts first; the rest says how many words are shared.
"""

from perpetualcc.brain.rules.asking import Asked, specific
from perpetualcc.brain.rules.choices import Choice, bland, core, generic
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.scopes import fits
from perpetualcc.brain.rules.tables import word_set

# How close a clause is to a question.
KEYED, WORDED, TOPICAL, NAMED = 4, 3, 2, 1
# A key about another part of the same topic: "Database columns" and the question which database.
_ELSEWHERE = -1
_ENOUGH_WORDS = 0.5
_MANY_WORDS = 0.66
_ONE_WORD = 0.6


def closeness(asked: Asked, clause: Clause, choices: tuple[Choice, ...]) -> float:
    """0 for a clause about something else; the integer part is its tier, the rest its words."""
    if not fits(asked.scopes, clause.scopes, asked.topics):
        return 0.0
    offered = asked.offered - asked.stems
    words = _overlap(asked, clause, offered, asked.measures)
    tier = _tier_of_key(asked, clause, words) if clause.statement.key else None
    if tier == _ELSEWHERE:
        return 0.0
    if not tier:
        text_tier = _tier_of_text(asked, clause, words)
        names = _serves_only(clause, asked.topics)
        if tier is None or names:
            tier = text_tier if tier is None else NAMED
        if tier == 0 and broad_topics(clause.topics) & asked.topics:
            tier = TOPICAL
        if "runtime_version" in asked.topics and _names_in(asked) & clause.chosen:
            tier = max(tier, TOPICAL)
        if clause.refused and clause.chosen and _compares(clause, choices):
            tier = max(tier, TOPICAL)
    plain_language = "language" in asked.topics and "runtime_version" not in asked.topics
    if not clause.statement.key and plain_language and _other_subject(asked, clause):
        return 0.0
    return tier + min(words, 0.99) if tier else 0.0


def _compares(clause: Clause, choices: tuple[Choice, ...]) -> bool:
    """Whether it speaks of several options; two numbers on a line are compared with nothing."""
    told = (one for one in choices if not one.own <= one.numbers)
    return sum(core(one.own) <= clause.about for one in told) > 1


def _other_subject(asked: Asked, clause: Clause) -> bool:
    """In prose, "a gateway written in Rust" says nothing about the language of a dashboard."""
    subject = asked.key_stems - word_set("asking") - word_set("plain_subjects")
    named = frozenset(term for term in subject if term[0] not in "@#")
    return bool(named) and not named & clause.about


def _tier_of_key(asked: Asked, clause: Clause, words: float) -> int | None:
    """How close a key is; None when the text must tell."""
    key_topics = broad_topics(clause.key_topics)
    if key_topics & asked.topics:
        rest = clause.key_rest - bland() - asked.stems - asked.offered
        rest -= asked.measures
        if rest and words < _ENOUGH_WORDS:
            return _ELSEWHERE
        return KEYED if not rest or words >= _MANY_WORDS else None
    if key_topics and specific(clause.key_topics) and asked.topics:
        return WORDED if words >= 0.75 and clause.key_rest & asked.key_stems else 0
    if not key_topics and _key_words(asked, clause) >= _MANY_WORDS:
        return KEYED
    return None


def _tier_of_text(asked: Asked, clause: Clause, words: float) -> int:
    if words >= _MANY_WORDS:
        return WORDED
    topics, own = asked.topics, broad_topics(clause.topics)
    if own & topics and not clause.statement.key:
        return TOPICAL
    if broad_topics(clause.heading_topics) & topics and not specific(clause.topics):
        return TOPICAL
    if words >= _ENOUGH_WORDS and (not own or own & topics):
        return TOPICAL
    if _serves_only(clause, topics) and (own & topics or not specific(clause.topics)):
        return NAMED
    return 0


def _names_in(asked: Asked) -> frozenset[str]:
    return frozenset(term for term in asked.terms if term.startswith("@"))


def _key_words(asked: Asked, clause: Clause) -> float:
    """How much of a key that names no topic is in the question."""
    words = clause.key_rest - generic() or clause.key_rest
    return len(words & asked.stems) / len(words) if words else 0.0


def _overlap(
    asked: Asked, clause: Clause, offered: frozenset[str], measures: frozenset[str]
) -> float:
    """How much of what the question speaks of is spoken of in the clause."""
    words = asked.key_stems - measures or asked.key_stems
    if not asked.key_stems - measures:
        measures = frozenset()
    shared = words & clause.about
    if not shared:
        return 0.0
    said = clause.said_words - generic() - offered - measures
    theirs = {term for term in said if term[0] not in "@#"}
    of_clause = len(shared & theirs) / len(theirs) if theirs else 0.0
    of_question = len(shared) / len(words)
    mutual = (of_question + of_clause) / 2
    if len(shared) == 1:
        # One word in common makes a clause worth reading, and no more.
        return mutual if len(words) == 1 else max(of_question / 2, min(mutual, _ONE_WORD))
    return max(of_question, mutual)


def _serves_only(clause: Clause, topics: frozenset[str]) -> bool:
    """Whether it names a product that is good for the question's topic and nothing else."""
    return any(served <= topics for served in clause.served)
