"""Yes/no questions: may I go on, may I do this, does the product have that."""

import re
from dataclasses import dataclass
from functools import cache

from perpetualcc.brain.rules.asking import Asked
from perpetualcc.brain.rules.choices import Choice, generic
from perpetualcc.brain.rules.evidence import Clause
from perpetualcc.brain.rules.mentions import weak
from perpetualcc.brain.rules.nearness import has
from perpetualcc.brain.rules.plan import (
    Step,
    doubts,
    is_unspaced,
    name_in,
    next_of,
    step_by_run,
    step_called,
    with_told,
)
from perpetualcc.brain.rules.scopes import fits
from perpetualcc.brain.rules.tables import table, word_set
from perpetualcc.brain.rules.terms import phrase, read_terms, values
from perpetualcc.brain.rules.text import fold, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import (
    patterns,
)
from perpetualcc.domain.questions import Question
from perpetualcc.domain.requirements import StatementKind

_WHICH = re.compile(r"\b(?:which|what|how|where|when|or)\b")
_ONLY = re.compile(
    r"\b(?:only|single|nur|solo|seulement|uniquement|somente|apenas|soltanto|alleen|bara|ohne|without)\b"
)
_PURPOSE = re.compile(
    r"\s(?:for|as|fur|als|pour|comme|para|como|per|come|voor)"
    r"(?: (?:the|an?|de[rnm]?|die|das|les?|la|l[oa]s|un[ae]?|il|os?|as?|het|een))?"
    r" back-?ups?(?: (?:of|for) (?:the )?\w+)?\W*$"
)
_TWO = 2
# Of what a yes/no question speaks of, so much must be in the clause that answers it.
_ENOUGH = 0.75
# And so much of what a plan is for, in the tasks.
_ENOUGH_OF_A_PLAN = 0.5


@dataclass(frozen=True, slots=True)
class YesNo:
    """The labels that agree and decline."""

    yes: str
    no: str
    """Empty when nothing declines."""


def read_yes_no(question: Question) -> YesNo | None:
    """The two sides of a yes/no question; None for any other, or when two options agree."""
    sides = [(option.label, side_of_label(option.label)) for option in question.options]
    agreeing = [label for label, side in sides if side > 0]
    declining = [label for label, side in sides if side < 0]
    plain = [label for label in agreeing if phrase(label) in _plain_yes()]
    if len(agreeing) > 1 and len(plain) == 1:
        agreeing = plain
    if not agreeing and len(sides) == len(declining) + 1 == _TWO:
        agreeing = [label for label, side in sides if side == 0 and _repeats(label, question.text)]
    if len(agreeing) != 1 or question.multi_select:
        return None
    return YesNo(yes=agreeing[0], no=declining[0] if len(declining) == 1 else "")


def label_that_declines(question: Question, asked: Asked, choices: tuple[Choice, ...]) -> str:
    """
    The option of doing without what is asked for, where none agrees in so many words.

    "Should I add a dark theme?" with "Light only" and "Light and dark". Empty when none, or more
    than one, does without.
    """
    if question.multi_select or not patterns("consent", "polar").search(asked.folded):
        return ""
    plain = [one.label for one in choices if side_of_label(one.label) < 0 or one.refuses]
    if plain:
        return plain[0] if len(plain) == 1 else ""
    only = [one.label for one in choices if one.excluded or _ONLY.search(one.folded)]
    return only[0] if len(only) == 1 else ""


def _repeats(label: str, asked: str) -> bool:
    """ "Include it", and the question is whether to include it."""
    sentence = [one for one in re.split(r"(?<=[.!?])\s+", fold(asked)) if one.strip()][-1:]
    words = [token.word for token in split_tokens(label)]
    said = {stem(token.word) for one in sentence for token in split_tokens(one)}
    return bool(words) and stem(words[0]) in said and not _WHICH.search(" ".join(sentence))


def _plain_yes() -> frozenset[str]:
    return frozenset(table("consent")["affirmative"])


def side_of_label(label: str) -> int:
    """1 for a label that agrees, -1 for one that declines, 0 for any other."""
    words, text = fold(label), f"{phrase(label)} "
    for side, name in ((-1, "negative"), (1, "affirmative")):
        phrases, beginnings = _beginnings(name)
        if text.startswith(phrases) or words.startswith(beginnings):
            return side
    return 0


@cache
def _beginnings(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How such a label begins: with words, or with letters where no blanks part words."""
    begun = table("consent")[name]
    return tuple(f"{phrase(one)} " for one in begun), tuple(
        one for one in begun if not one.isascii()
    )


def is_plain(label: str, asked: Asked) -> bool:
    """Whether a label only agrees: "Yes", "Proceed with the plan", or repeats the question."""
    said = values(read_terms(label)) - word_set("asking") - _GOING_ON - {stem("yes")}
    return len(phrase(label).split()) <= 6 or all(has(asked.terms, word) for word in said)


def asks_to_proceed(asked: Asked, clauses: tuple[Clause, ...]) -> bool:
    """Whether somebody asks for leave to go on with what is agreed, and has no doubts."""
    if asked.is_open or patterns("consent", "hesitation").search(asked.whole):
        return False
    # What will happen may be anything, but for a plan to build a task; what has happened is no
    # reason to stop.
    if not all(
        patterns("consent", "finished").search(one) or _plans_a_task(one, clauses)
        for one in asked.told
    ):
        return False
    found = patterns("consent", "proceed").search(asked.folded)
    asks = patterns("consent", "asks_leave").search(asked.folded.lstrip("¿ "))
    if not found or not asks:
        return False
    if is_unspaced(asked.folded):
        unsure = any(doubts(one, ()) for one in (*asked.told, asked.folded))
        return not unsure and not name_in(asked.folded)
    if "(" in asked.folded:
        # A task in brackets that is none of the requirements'.
        return False
    if not found[0].isascii():
        return len(asked.folded) <= _SHORT
    return _is_agreed(asked.folded, found, clauses)


def step_to_proceed(asked: Asked, plan: tuple[Step, ...]) -> tuple[Step | None, bool]:
    """
    The task that somebody asks leave to begin, and whether its turn has come; None for no task.

    "The reader is done and its tests pass. Shall I go on with the fingerprints?"
    """
    found = patterns("consent", "proceed").search(asked.folded)
    asks = patterns("consent", "asks_leave").search(asked.folded.lstrip("¿ "))
    if asked.is_open or not found or not asks:
        return None, False
    if is_unspaced(asked.folded):
        return _unspaced_step(asked, plan)
    before, after = asked.folded[: found.start()], asked.folded[found.end() :]
    if asks.end() <= found.start() and not values(read_terms(after)) - word_set("asking"):
        # "Soll ich mit der nächsten Aufgabe fortfahren?"
        before, after = before[: asks.end()], before[asks.end() :]
    told = (*asked.told, before)
    is_report = all(patterns("consent", "finished").search(one) for one in asked.told)
    if not is_report or any(doubts(one, plan) for one in (*told, after)):
        return None, False
    now = with_told(plan, told)
    step = step_called(after, now)
    if step is None or step.done:
        return None, False
    hesitations = patterns("consent", "hesitation").finditer(asked.folded)
    if not all(has(step.words, stem(one[0])) for one in hesitations):
        return None, False
    return step, next_of((step,), now) is not None


def _unspaced_step(asked: Asked, plan: tuple[Step, ...]) -> tuple[Step | None, bool]:
    """The same where no blanks part the words: what is named is all of a run of a task's name."""
    if patterns("consent", "hesitation_unspaced").search(asked.whole):
        return None, False
    is_report = all(patterns("consent", "finished").search(one) for one in asked.told)
    if not is_report or any(doubts(one, plan) for one in (*asked.told, asked.folded)):
        return None, False
    now = with_told(plan, asked.told)
    step = step_by_run(asked.folded, now)
    if step is None or step.done:
        return None, False
    return step, next_of((step,), now) is not None


def wants_to_be_asked(clauses: tuple[Clause, ...]) -> bool:
    """Whether a line says to stop or to ask before the work goes on."""
    said = (fold(f"{one.statement.key} {one.statement.text}") for one in clauses)
    return any(
        patterns("consent", "halts").search(one)
        and not patterns("consent", "halts_not").search(one)
        for one in said
    )


def step_that_is_next(
    asked: Asked, choices: tuple[Choice, ...], plan: tuple[Step, ...]
) -> tuple[str, Step] | None:
    """
    The option that names the task whose turn it is, and the task.

    None unless every option names a task, and one of them is the most urgent.
    """
    if not plan or not patterns("consent", "asks_what_is_next").search(asked.folded):
        return None
    now = with_told(plan, asked.told)
    named = [(choice, step_called(choice.folded, now)) for choice in choices]
    real = [(one, step) for one, step in named if not one.escapes and side_of_label(one.label) >= 0]
    steps = [step for _, step in real if step is not None]
    if len(steps) < len(real) or len({step.id for step in steps}) < len(steps):
        return None
    best = next_of(steps, now)
    return next(((one.label, step) for one, step in real if best and step is best), None)


def _is_agreed(asked: str, found: re.Match[str], clauses: tuple[Clause, ...]) -> bool:
    """Whether it is the work itself that is gone on with: the next step, a module, a task."""
    words = values(read_terms(asked[found.end() :])) - word_set("asking") - _GOING_ON
    if not words or patterns("consent", "agreed").search(asked[found.start() :]):
        return True
    return bool(words & _words_of_tasks(clauses))


def _plans_a_task(told: str, clauses: tuple[Clause, ...]) -> bool:
    """ "I have a plan for the delivery worker: a loop and its tests", which is a task."""
    if not patterns("consent", "plans").search(told) or doubts(told, ()):
        return False
    subject = values(read_terms(re.split(r"[:,;]", told)[0])) - word_set("asking") - weak()
    tasks = _words_of_tasks(clauses)
    shared = sum(has(tasks, word) for word in subject - {stem("plan")})
    return bool(shared) and shared >= _ENOUGH_OF_A_PLAN * len(subject - {stem("plan")})


def _words_of_tasks(clauses: tuple[Clause, ...]) -> frozenset[str]:
    return frozenset[str]().union(
        *(one.about for one in clauses if one.statement.kind is StatementKind.TASK)
    )


# Characters of a question in a script without blanks, where words cannot be looked up.
_SHORT = 30
_GOING_ON = frozenset(
    map(stem, ("proceed", "continue", "go", "ahead", "now", "then", "start", "begin"))
)


def leaves_unguarded(asked: Asked, *, agrees: bool) -> bool:
    """
    Whether such an answer does without what keeps others safe, whoever wrote a line about it.

    "No rate limit" and "Should I add a rate limit to the login?": No; "May I drop it?": Yes.
    """
    # "A cloud sync for the backups" is a sync.
    if not patterns("consent", "safeguards").search(_PURPOSE.sub("", asked.folded)):
        return False
    return agrees == bool(patterns("consent", "does_without").search(asked.folded))


def is_routine(asked: Asked) -> bool:
    """Whether it is a standard operation: local, reversible, what anybody would do."""
    if asked.is_open or " or " in asked.folded:
        return False
    if patterns("consent", "elsewhere").search(asked.whole):
        return False
    if _checks().match(asked.folded):
        return True
    asks = patterns("consent", "asks_leave").search(asked.folded)
    return bool(asks and patterns("consent", "routine").search(asked.folded))


@cache
def _checks() -> re.Pattern[str]:
    """ "Should I run the pytest suite before I go on to the grouping?" """
    topics = ("test_framework", "linter", "formatter", "type_checker")
    names = {name for topic in topics for name in table("topics")[topic]["names"]}
    spelled = {one for name in names for one in (name, *table("names")["aliases"].get(name, ()))}
    tool = "|".join(sorted(map(re.escape, spelled), key=len, reverse=True))
    checked = patterns("consent", "checked").pattern.replace("TOOL", f"(?:{tool})")
    time = patterns("consent", "check_time").pattern
    checks = patterns("consent", "checks").pattern
    return re.compile(checks.replace("CHECKED", checked).replace("TIME", time))


def is_operation(asked: Asked) -> bool:
    """Whether leave is asked to do something now that is not a part of building the product."""
    asks = patterns("consent", "asks_leave").search(asked.folded)
    return bool(asks and not patterns("consent", "adopts").search(asked.folded))


def evidence_for(asked: Asked, clauses: tuple[Clause, ...]) -> tuple[Clause, bool] | None:
    """
    The clause that answers a yes/no question, and whether it says yes.

    None when none does, or when they disagree.
    """
    found: list[tuple[Clause, bool]] = []
    names = frozenset(term for term in asked.terms if term.startswith("@"))
    if any(names & clause.open for clause in clauses):
        return None
    for clause in clauses:
        if not fits(asked.scopes, clause.scopes, asked.topics):
            continue
        side = _side_of(asked, clause)
        if side is not None:
            found.append((clause, side))
    if not found or len({side for _, side in found}) > 1:
        return None
    if found[0][1] and _is_denied_beside(found[0][0], asked, clauses):
        return None
    weighed = frozenset().union(*(clause.open for clause in clauses)) & asked.terms
    return None if weighed - word_set("asking") - generic() - found[0][0].about else found[0]


def _is_denied_beside(clause: Clause, asked: Asked, clauses: tuple[Clause, ...]) -> bool:
    """ "Comments are shown without names", and the question is whether names are shown."""
    about = asked.terms - word_set("asking") - clause.chosen
    beside = (one for one in clauses if one.statement is clause.statement)
    return any(one.refused & about for one in beside)


def _side_of(asked: Asked, clause: Clause) -> bool | None:
    name = clause.statement.key.rpartition(" / ")[2]
    if name and (_covers(asked, clause.key_rest) or _covers(asked, values(read_terms(name)))):
        plain = _PLAIN_VALUES.get(_first_word(clause.statement.text))
        if plain is not None:
            return plain
    state = _state_of(asked, clause)
    if state is not None:
        return state
    refused = clause.refused - word_set("asking") - generic()
    listed = frozenset(term for term in refused if term.startswith("@"))
    subject = clause.chosen - word_set("asking") - generic() - word_set("plain_subjects")
    is_told = subject <= asked.terms and patterns("consent", "adopts").search(asked.folded)
    if (
        refused
        and is_told
        and (refused <= asked.terms or (listed & asked.terms and refused - listed <= asked.terms))
    ):
        return False
    names = frozenset(term for term in asked.terms if term.startswith("@"))
    numbers = frozenset(term for term in asked.terms if term.startswith("#"))
    about = (asked.terms - word_set("asking")) - generic()
    about = about - _SHOWING or about
    if not about or numbers - clause.about or asked.terms & _SEVERAL - clause.said_words:
        return None
    if names and not names <= (clause.chosen | clause.refused):
        return None
    # Words that say little do not make a clause fit, but they tell when it does not.
    spoken = asked.terms - word_set("asking") - _SHOWING
    # What a part leaves unsaid may be said of something else.
    own = clause.said_words | clause.heading_stems
    covered = min(len(words & own) / len(words) for words in (about, spoken))
    said = values(clause.terms)
    same = about == said - word_set("asking") - generic()
    if covered < _ENOUGH or (len(about) == 1 and not names and not same):
        return None
    facts = names or about & (clause.chosen | clause.refused)
    if facts <= clause.refused and facts:
        return False
    return True if facts and facts <= clause.chosen else None


def _first_word(value: str) -> str:
    """The "no" of "no, we have been through that"; "no, except …" stays as it is."""
    text = fold(value).strip(" .")
    first, _, rest = text.partition(",")
    is_limited = any(
        word in rest for word in ("except", "unless", "but", "ausser", "sauf", "salvo")
    )
    return text if is_limited else first.strip()


def _state_of(asked: Asked, clause: Clause) -> bool | None:
    """ "Diarization: pyannote, disabled by default", and the question is whether it is enabled."""
    name = clause.statement.key.rpartition(" / ")[2]
    if not name or not _covers(asked, clause.key_rest):
        return None
    asks, says = (
        {state for word in words for state in (_state(word),) if state is not None}
        for words in (phrase(asked.folded).split(), phrase(clause.statement.text).split())
    )
    if len(asks) != 1 or len(says) != 1:
        return None
    return asks == says


def _state(word: str) -> bool | None:
    if patterns("consent", "switched_off").fullmatch(word):
        return False
    return True if patterns("consent", "switched_on").fullmatch(word) else None


# Values of a key that answer "should it …?".
_PLAIN_VALUES = {
    **dict.fromkeys(
        (
            "yes",
            "always",
            "on",
            "true",
            "required",
            "enabled",
            "mandatory",
            "ja",
            "si",
            "oui",
            "sim",
            "да",
        ),
        True,
    ),
    **dict.fromkeys(
        (
            "no",
            "never",
            "off",
            "false",
            "none",
            "disabled",
            "not needed",
            "not planned",
            "not supported",
            "unsupported",
            "out of scope",
            "not allowed",
            "forbidden",
            "nein",
            "nunca",
            "non",
            "nao",
            "нет",
        ),
        False,
    ),
}


_SHOWING = frozenset(map(stem, ["show", "display", "shown", "displayed"]))
# How many is what such a question asks.
_SEVERAL = frozenset(
    map(
        stem,
        ("several", "multiple", "many", "mehrere", "varios", "varias", "plusieurs", "meerdere"),
    )
)


def _covers(asked: Asked, key: frozenset[str]) -> bool:
    words = key - word_set("asking")
    return bool(words) and words <= asked.terms
