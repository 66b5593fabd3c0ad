"""
A second look, when no clause is close enough to a question by its words alone.

The options themselves tell what a question is about: a line that sets one of them against
another, a value that is one of them word for word, or the only one that the requirements speak of
at all. What is said for another part, or about another topic, still counts for nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from perpetualcc.brain.rules.asking import Asked, specific
from perpetualcc.brain.rules.choices import Choice, bland, core, generic
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.nearness import Nearness
from perpetualcc.brain.rules.scopes import fits, telling
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import phrase, values
from perpetualcc.brain.rules.text import stem
from perpetualcc.brain.rules.vocabulary import topics_of_name
from perpetualcc.domain.requirements import StatementKind

# Of the words of a question that say something, so much must be in the only line with an option.
_A_THIRD = 0.33
# So many words of a question about a number may be missing from the key of that number.
_ONE_MISSING = 1
# Words that begin with so many letters the same are forms of one.
_LONG = 6


@dataclass(frozen=True, slots=True)
class Mention:
    """One option, and the line it rests on."""

    choice: Choice
    clause: Clause
    confidence: float


def find_mention(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...], nearness: Nearness
) -> Mention | None:
    """The option that the requirements single out; None when none or several are."""
    real = tuple(choice for choice in choices if not choice.refuses)
    usable = tuple(clause for clause in clauses if _may_answer(asked, clause))
    for look in (_by_contrast, _by_value, _by_only_mention):
        found = [
            one
            for one in look(asked, real, usable)
            if not _is_elsewhere(asked, one.choice, one.clause)
        ]
        if len({one.choice.label for one in found}) > 1:
            return None
        if found and not _is_doubted(found[0].choice, clauses):
            return found[0]
    return _by_nearness(asked, real, clauses, nearness)


def _by_nearness(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...], nearness: Nearness
) -> Mention | None:
    near = nearness.nearest(choices, among=lambda clause: _may_be_near(asked, clause))
    if near is None or _is_elsewhere(asked, near.choice, near.clause):
        return None
    return None if _is_doubted(near.choice, clauses) else Mention(near.choice, near.clause, 0.75)


def _may_be_near(asked: Asked, clause: Clause) -> bool:
    """Whether it is said for the same part, as far as parts are named, and of the same topic."""
    scopes = telling(asked.scopes)
    if not fits(scopes, clause.scopes, asked.topics) and not asked.scopes & clause.scopes:
        return False
    own = specific(clause.key_topics)
    return not own or _shares_topic(asked, own)


def _may_answer(asked: Asked, clause: Clause) -> bool:
    if clause.statement.kind is StatementKind.TASK or clause.says_none:
        return False
    if not fits(asked.scopes, clause.scopes, asked.topics):
        return False
    if specific(clause.key_topics) and not _shares_topic(asked, specific(clause.key_topics)):
        return False
    left = clause.key_rest - weak() - bland() - asked.offered - asked.measures
    return all(_is_like(word, asked.stems) for word in left)


def _is_like(word: str, others: frozenset[str]) -> bool:
    """The same word, or another form of it: `erzeugung` and `erzeug`."""
    return any(
        word == other or (len(word) > _LONG and word[:_LONG] == other[:_LONG]) for other in others
    )


def _shares_topic(asked: Asked, topics: frozenset[str]) -> bool:
    return not asked.topics or bool(broad_topics(topics) & asked.topics)


def _is_elsewhere(asked: Asked, choice: Choice, clause: Clause) -> bool:
    """Whether a sentence is about another topic, and could mean this option for it."""
    own = specific(clause.topics) or specific(clause.heading_topics)
    if not own or _shares_topic(asked, own):
        return False
    served = frozenset[str]().union(
        *(topics_of_name().get(name[1:], frozenset()) for name in choice.names)
    )
    return not served & asked.topics or bool(served & own)


def _is_doubted(choice: Choice, clauses: tuple[Clause, ...]) -> bool:
    return any(_in(choice, clause.refused) or _in(choice, clause.open) for clause in clauses)


def _in(choice: Choice, said: frozenset[str]) -> bool:
    """Whether something is said of this option, by its names or else by its words."""
    if choice.twin:
        return False
    if choice.names and choice.names <= said:
        return True
    if choice.names and not choice.plain:
        return False
    if choice.plain and choice.plain <= said:
        return True
    return not choice.numbers and bool(choice.own) and core(choice.own) <= said


def _by_contrast(
    _: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> Iterator[Mention]:
    """One option is preferred to another one on the same line."""
    lines: dict[int, list[Clause]] = {}
    for clause in clauses:
        lines.setdefault(id(clause.statement), []).append(clause)
    for said in lines.values():
        chosen = frozenset[str]().union(*(clause.chosen for clause in said))
        refused = frozenset[str]().union(*(clause.refused for clause in said))
        ours = [choice for choice in choices if _in(choice, chosen) and not _in(choice, refused)]
        others = [choice for choice in choices if choice not in ours and _in(choice, refused)]
        if len(ours) == 1 and others:
            clause = next((one for one in said if _in(ours[0], one.chosen)), said[0])
            yield Mention(ours[0], clause, 0.8)


def _by_value(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> Iterator[Mention]:
    """A key that the question speaks of has an option as its value."""
    for clause in clauses:
        if not clause.statement.key:
            continue
        key = clause.key_stems - weak() - bland()
        shared = key & asked.stems
        if not shared and not broad_topics(clause.key_topics) & asked.topics:
            continue
        for choice in choices:
            if _is_value(choice, clause) and (
                not choice.numbers or _about_the_number(asked, clause, key)
            ):
                yield Mention(choice, clause, 0.8)


def _is_value(choice: Choice, clause: Clause) -> bool:
    value = phrase(clause.statement.text)
    if value.isdecimal():
        return choice.folded.split()[:1] == [value]
    said = values(clause.terms)
    if not said or not said <= clause.chosen:
        return False
    return value == choice.folded or any(
        said - generic() == spelling - generic() != frozenset()
        for spelling in (choice.every, *choice.spellings)
    )


def _about_the_number(asked: Asked, clause: Clause, key: frozenset[str]) -> bool:
    missing = asked.key_stems - clause.about - weak() - asked.measures
    return key <= asked.stems | asked.measures and len(missing) <= _ONE_MISSING


def _by_only_mention(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> Iterator[Mention]:
    """Of all the options only one is spoken of at all, near what the question is about."""
    mentioned = [
        choice
        for choice in choices
        if any(_in(choice, clause.chosen | clause.open) for clause in clauses)
    ]
    if len(mentioned) != 1 or mentioned[0].numbers:
        return
    choice = mentioned[0]
    more = frozenset(term for term in choice.own if term[0] not in "@#") - generic() - asked.stems
    for clause in clauses:
        if more <= clause.about and _in(choice, clause.chosen) and _is_near(asked, choice, clause):
            yield Mention(choice, clause, 0.75)
    if not any(_is_near(asked, choice, one) for one in clauses):
        yield from _by_sole_product(asked, choice, clauses)


def _by_sole_product(
    asked: Asked, choice: Choice, clauses: tuple[Clause, ...]
) -> Iterator[Mention]:
    """The only thing in all the requirements that could serve: one database, one web server."""
    if not choice.names or asked.topics & {"language", "ui_language", "runtime_version"}:
        return
    served = topics_of_name()
    serving = {
        term
        for clause in clauses
        for term in clause.chosen | clause.open | clause.refused
        if term[0] == "@" and served.get(term[1:], frozenset()) & asked.topics
    }
    if serving and serving == choice.names:
        for clause in clauses:
            if choice.own <= clause.chosen and not clause.condition:
                yield Mention(choice, clause, 0.75)


def _is_near(asked: Asked, choice: Choice, clause: Clause) -> bool:
    served = topics_of_name()
    serves = any(served.get(name[1:], frozenset()) & asked.topics for name in choice.names)
    wanted = asked.key_stems - weak() - choice.every
    shared = wanted & clause.said_words
    left = frozenset(
        term
        for term in clause.said_words - weak() - bland() - choice.every - asked.stems
        if term[0] not in "@#"
    )
    # "nginx on Debian" can only be the web server; a language may be another part's.
    only = (
        "language" not in asked.topics
        and choice.names <= clause.chosen
        and all(
            frozenset() < served.get(one[1:], frozenset()) <= asked.topics for one in choice.names
        )
    )
    if serves and (shared or not left or only):
        return True
    if choice.names and not serves and any(served.get(name[1:]) for name in choice.names):
        # A product that is known to be for something else.
        return False
    return bool(shared) and len(shared) >= _A_THIRD * len(wanted)


@cache
def weak() -> frozenset[str]:
    """Stems that do not make a line one about the question."""
    listed = frozenset(stem(word) for word in word_set("weak"))
    return listed | generic() | word_set("asking") | word_set("plain_subjects")
