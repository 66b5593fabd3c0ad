"""Should a correction last, and where does it hold?"""

from dataclasses import dataclass

from perpetualcc.learning.corrections.features import Sentence
from perpetualcc.learning.corrections.judgement import Scope
from perpetualcc.learning.corrections.lexicon import Lexicon

THRESHOLD = 1.0

WEIGHTS: dict[str, float] = {
    "henceforth": 2.5,  # from now on, next time, remember
    "always": 1.5,  # always, never, every time
    "norm": 1.5,  # we use, our convention, I prefer
    "everywhere": 1.5,
    "project": 1.0,
    "told": 1.0,  # said before: it did not stick
    "prohibit": 1.0,  # "don't add comments": what one does not want once, one seldom wants later
    "demand": 0.5,
    "project_rule": 1.0,
    "convention": 1.0,
    "tools": 0.5,
    "tool": 0.5,
    "substitution": 0.5,
    "excess": 0.0,
    # It is about the thing at hand.
    "once": -1.5,
    "specific": -0.5,  # names a file, a function, a number
    "undo": -1.0,
    "repair": -0.5,
    "wrong": -0.5,
}
_STRONG = frozenset({"henceforth", "always", "norm", "everywhere"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """What was found and what the rules make of it."""

    found: frozenset[str]
    score: float
    """Above 0 the rules call it lasting; the model has the last word."""
    scope: Scope
    is_exception: bool
    """The user says that it is for this time: no sum of evidence makes a rule of that."""


def judge(lexicon: Lexicon, best: Sentence, sentences: tuple[Sentence, ...]) -> Lasting:
    """Weigh what says "for good" against what says "this one"."""
    scopes = ("henceforth", "always", "norm", "everywhere", "project", "once")
    found = {
        name for name in scopes for sentence in sentences if _counts(name, sentence, best, lexicon)
    }
    found |= best.features & WEIGHTS.keys() - set(scopes)
    if "henceforth" in found and "once" in found:
        found.discard("once")
    scope = (
        Scope.GLOBAL if "everywhere" in found and not _only_here(lexicon, best) else Scope.PROJECT
    )
    score = sum(WEIGHTS.get(name, 0.0) for name in found) - THRESHOLD
    return Lasting(
        found=frozenset(found),
        score=score,
        scope=scope,
        is_exception=lexicon.has("exception", best.folded) and "henceforth" not in found,
    )


def _counts(name: str, sentence: Sentence, best: Sentence, lexicon: Lexicon) -> bool:
    if sentence is not best and sentence.features & {
        "reported",
        "self",
        "product",
        "question_mark",
    }:
        return False
    return lexicon.has(name, sentence.folded)


def _only_here(lexicon: Lexicon, best: Sentence) -> bool:
    """A named project is narrower than a habit: "I prefer tabs in this repo"."""
    match = lexicon.search("project", best.folded)
    return match is not None and " " in match.group().strip() and not lexicon.spaced
