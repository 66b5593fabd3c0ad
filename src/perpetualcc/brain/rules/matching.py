"""
Which option the requirements choose, and on which line that rests.

A clause counts as far as it is about the question: by its key, by its topic, by its words. The
closest clauses decide; when they choose two options, or one that another line refuses, nobody is
answered.
"""

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, core, generic
from perpetualcc.brain.rules.closeness import KEYED, TOPICAL, closeness
from perpetualcc.brain.rules.doubts import (
    Found,
    Match,
    doubt_of,
    is_another_parts,
    says_more,
    told_apart,
)
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.listings import doubt_of_list, find_listing, half_named, several
from perpetualcc.brain.rules.mentions import find_mention, weak
from perpetualcc.brain.rules.nearness import Nearness, has
from perpetualcc.brain.rules.sayings import Says, holds, says
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.vocabulary import topics_of_name

# Clauses this close to the closest one count like it.
_MARGIN = 0.15
_NEXT_TO_NOTHING = 0.3


def match_options(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...], *, many: bool
) -> Match:
    """Find the option, or with `many` the options, that the requirements choose."""
    match = _match(asked, choices, clauses, many=many)
    if many and match.chosen:
        real = tuple(choice for choice in choices if not choice.escapes)
        if doubt := doubt_of_list(match.chosen, asked, real, clauses):
            return Match(problem=doubt)
    return match


def _match(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...], *, many: bool
) -> Match:
    real = tuple(choice for choice in choices if not choice.escapes)
    nearness = Nearness(asked, clauses, weak())
    close = [(closeness(asked, clause, real), clause) for clause in clauses]
    close = [(near, clause) for near, clause in close if near > 0]
    close.sort(key=lambda pair: -pair[0])
    found = _choosing(asked, real, clauses, close, many=many)
    elsewhere = "" if _is_told(found, asked) else _not_offered(asked, real, close)
    if elsewhere:
        return Match(problem=elsewhere)
    if not found:
        match = (
            _from_list(asked, choices, clauses)
            if many
            else _mentioned(asked, real, clauses, nearness)
        )
        return match or _by_elimination(asked, real, clauses, close)
    tier = [one for one in found if int(one.closeness) == int(found[0].closeness)]
    if many:
        match = several(tier, real)
        if match.chosen and (left := half_named(match.chosen, real, clauses)):
            match = Match(problem=f"{left} may be meant as well")
    else:
        match = _single(_for_this_case(tier, asked), asked)
        apart = told_apart(tier, nearness) if match.problem else None
        if (
            apart is not None
            and not _is_excepted(apart.chosen[0].clause, asked, clauses)
            and not is_another_parts(apart.chosen[0], real, clauses, nearness)
        ):
            return apart
    if match.problem or not match.chosen:
        return match
    doubt = _why_not(match, asked, real, clauses, nearness, many=many)
    return Match(problem=doubt) if doubt else _unless_refused(match, asked, clauses, close, found)


def _from_list(
    asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> Match | None:
    listing = find_listing(asked, choices, clauses)
    if listing is None:
        return None
    return Match(
        chosen=tuple(Found(one, listing.clause, 0.0) for one in listing.choices), confidence=0.8
    )


def _choosing(
    asked: Asked,
    real: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
    close: list[tuple[float, Clause]],
    *,
    many: bool,
) -> list[Found]:
    found = [
        Found(choice, clause, near)
        for near, clause in close
        if _is_met(clause, asked)
        for choice in real
        if says(clause, choice, near, asked) is Says.CHOOSES
    ]
    if many and found:
        # Beside a known name, the plain words of the same list count as much.
        listing = found[0]
        found += [
            Found(choice, clause, listing.closeness)
            for clause in clauses
            if clause.statement is listing.clause.statement
            for choice in real
            if says(clause, choice, TOPICAL, asked) is Says.CHOOSES
        ]
    return found


def _is_met(clause: Clause, asked: Asked) -> bool:
    """Whether the question is about what the clause is "only for"."""
    told = clause.condition - weak()
    return not told or any(has(asked.stems, word) for word in told)


def _mentioned(
    asked: Asked, real: tuple[Choice, ...], clauses: tuple[Clause, ...], nearness: Nearness
) -> Match | None:
    mention = find_mention(asked, real, clauses, nearness)
    if mention is None:
        return None
    one = Found(mention.choice, mention.clause, 0.0)
    if doubt := doubt_of(one, asked, real, clauses, nearness, _speaks_of):
        return Match(problem=doubt)
    if _is_excepted(one.clause, asked, clauses):
        return Match(problem=f"line {one.clause.statement.line} makes an exception")
    return Match(chosen=(one,), confidence=mention.confidence)


def _why_not(
    match: Match,
    asked: Asked,
    real: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
    nearness: Nearness,
    *,
    many: bool,
) -> str:
    """Why what was found may be about something else; empty when nothing says so."""
    best = match.chosen[0]
    if not many and (doubt := doubt_of(best, asked, real, clauses, nearness, _speaks_of)):
        return doubt
    if any(_is_excepted(one.clause, asked, clauses) for one in match.chosen):
        return f"line {best.clause.statement.line} makes an exception"
    if not many and _is_one_of_many(best, asked, real, clauses):
        return f"line {best.clause.statement.line} names another for else"
    return ""


def _is_told(found: list[Found], asked: Asked) -> bool:
    """Whether the closest clause that chooses an option is one about this question for certain."""
    if not found:
        return False
    best = found[0]
    shared = asked.key_stems & best.clause.said_words - weak()
    return best.closeness >= KEYED or (best.closeness >= TOPICAL and bool(shared))


def _not_offered(
    asked: Asked, choices: tuple[Choice, ...], close: list[tuple[float, Clause]]
) -> str:
    """Why nothing weaker may answer: the key of this topic names a product that is no option."""
    served = topics_of_name()
    offered = frozenset[str]().union(*(choice.every | choice.described for choice in choices))
    if not any(served.get(term[1:], frozenset()) & asked.topics for term in offered):
        return ""
    for near, clause in close:
        names = {
            term[1:]
            for term in clause.chosen
            if near >= KEYED and served.get(term[1:], frozenset()) & asked.topics
        }
        if names and not {f"@{name}" for name in names} & offered:
            return f"line {clause.statement.line} names {min(names)}, which is not offered"
    return ""


def _is_one_of_many(
    one: Found, asked: Asked, choices: tuple[Choice, ...], clauses: tuple[Clause, ...]
) -> bool:
    """Whether its line, with which the question shares next to nothing, has another option too."""
    if one.closeness - int(one.closeness) >= _NEXT_TO_NOTHING:
        return False
    return any(
        clause.statement is one.clause.statement
        and clause is not one.clause
        and not asked.stems & one.clause.said_words > asked.stems & clause.said_words
        and _speaks_of(clause, choice)
        for clause in clauses
        for choice in choices
        if choice is not one.choice
    )


def _speaks_of(clause: Clause, choice: Choice) -> bool:
    said = clause.chosen | clause.open
    return holds(clause, choice, said, TOPICAL) or bool(choice.plain and choice.plain <= said)


def _is_excepted(clause: Clause, asked: Asked, clauses: tuple[Clause, ...]) -> bool:
    """Whether the question is about what its line makes an exception of."""
    return any(
        other.is_exception
        and other.statement is clause.statement
        and (asked.stems & other.said_words - weak() or asked.scopes & other.scopes)
        for other in clauses
    )


def _for_this_case(tier: list[Found], asked: Asked) -> list[Found]:
    """
    The clauses that share with the question all that the others share, and more.

    "30 minutes, on the scanners 8 hours": the second one answers a question about scanners.
    """
    shared = [asked.stems & (one.clause.about - one.clause.heading_stems) for one in tier]
    everything = frozenset[str]().union(*shared)
    special = [one for one, words in zip(tier, shared, strict=True) if words == everything]
    rest = [words for words in shared if words != everything]
    same = len({one.choice.label for one in special}) == 1
    return special if special and same and all(words < everything for words in rest) else tier


def _single(tier: list[Found], asked: Asked) -> Match:
    labels = {one.choice.label for one in tier}
    if len(labels) > 1:
        best = tier[0].closeness
        tier = [one for one in tier if one.closeness >= best - _MARGIN]
        labels = {one.choice.label for one in tier}
    if len(labels) > 1:
        tier = _fullest(_serving(tier, asked))
        labels = {one.choice.label for one in tier}
    if len(labels) > 1:
        whole = [one for one in tier if one.choice.own <= one.clause.chosen]
        if len({one.choice.label for one in whole}) == 1:
            return Match(chosen=(whole[0],), confidence=0.9)
        lines = ", ".join(sorted({str(one.clause.statement.line) for one in tier}))
        return Match(problem=f"the requirements name {' and '.join(sorted(labels))} (line {lines})")
    return Match(chosen=(tier[0],), confidence=0.9 if tier[0].closeness >= TOPICAL else 0.8)


def _serving(tier: list[Found], asked: Asked) -> list[Found]:
    """Asked for a framework, "Java with Spring" says Spring."""
    served = topics_of_name()
    fitting = [
        one
        for one in tier
        if any(served.get(name[1:], frozenset()) & asked.topics for name in one.choice.names)
    ]
    return fitting if fitting and all(one.choice.names for one in tier) else tier


def _fullest(tier: list[Found]) -> list[Found]:
    """Of options that one clause chooses, the one that says all the others say."""
    for one in tier:
        if all(
            other.clause is one.clause and (other.choice.own < one.choice.own or other is one)
            for other in tier
        ):
            return [one]
    return tier


def _unless_refused(
    match: Match,
    asked: Asked,
    clauses: tuple[Clause, ...],
    close: list[tuple[float, Clause]],
    found: list[Found],
) -> Match:
    near = {id(clause): closeness_ for closeness_, clause in close}
    for one in match.chosen:
        for clause in clauses:
            closeness_ = near.get(id(clause), 0.0)
            if clause is one.clause:
                continue
            if _refuses(clause, one.choice, asked, closeness_):
                return Match(
                    problem=f"line {one.clause.statement.line} chooses {one.choice.label} and line "
                    f"{clause.statement.line} refuses it"
                )
    rival = next(
        (
            other
            for other in found
            if other.choice.label not in {one.choice.label for one in match.chosen}
            and int(other.closeness) >= TOPICAL
            and int(match.chosen[0].closeness) < KEYED
            and other.closeness >= match.chosen[0].closeness - 0.75
            and not says_more(match.chosen[0].clause, other.clause, asked)
        ),
        None,
    )
    if rival is not None:
        return Match(
            problem=f"line {match.chosen[0].clause.statement.line} and line "
            f"{rival.clause.statement.line} name different options"
        )
    return match


def _refuses(clause: Clause, choice: Choice, asked: Asked, near: float) -> bool:
    if choice.refuses or not clause.refused:
        return False
    elsewhere = clause.topics and asked.topics and not broad_topics(clause.topics) & asked.topics
    if elsewhere and near <= 0:
        return False
    names = choice.names
    if names:
        return bool(names & clause.refused)
    words = core(choice.own)
    return words <= clause.refused and (near > 0 or _is_flat(clause, words))


def _is_flat(clause: Clause, words: frozenset[str]) -> bool:
    """ "No sidecars.": all that the line says, and it says it of everything."""
    said = values(read_terms(clause.statement.text))
    return bool(words) and not clause.statement.key and not said - words - weak()


def _by_elimination(
    asked: Asked,
    choices: tuple[Choice, ...],
    clauses: tuple[Clause, ...],
    close: list[tuple[float, Clause]],
) -> Match:
    """When every option but one is refused, the one that is left (an inference: 0.7)."""
    near = {id(clause): value for value, clause in close}
    offered = asked.offered
    refused: dict[str, Clause] = {}
    for clause in clauses:
        for choice in choices:
            if _refuses(clause, choice, asked, near.get(id(clause), 0.0)) and not (
                (clause.refused | clause.chosen)
                - word_set("asking")
                - word_set("plain_subjects")
                - generic()
                - offered
                - asked.stems
            ):
                refused.setdefault(choice.label, clause)
    left = [choice for choice in choices if choice.label not in refused]
    if len(choices) < 2 or len(left) != 1 or left[0].refuses:
        return Match()
    weighed = any(says(clause, left[0], value, asked) is Says.WEIGHS for value, clause in close)
    if weighed:
        return Match()
    clause = next(iter(refused.values()))
    return Match(chosen=(Found(left[0], clause, 0.0),), confidence=0.7)
