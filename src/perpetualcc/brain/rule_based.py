"""
The brain without AI: it answers what the requirements decide, and leaves the rest to a person.

Pure: no network, no clock, no randomness. It never answers from the question alone, except for
"may I go on?" and standard operations (seed 000, Phase 3).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from perpetualcc.brain.port import BrainUsage
from perpetualcc.brain.rules.asking import Asked, read_question
from perpetualcc.brain.rules.cases import is_no_default, is_said_of_another
from perpetualcc.brain.rules.choices import Choice, read_choices
from perpetualcc.brain.rules.consent import (
    YesNo,
    asks_to_proceed,
    evidence_for,
    is_operation,
    is_plain,
    is_routine,
    label_that_declines,
    leaves_unguarded,
    read_yes_no,
    side_of_label,
    step_that_is_next,
    step_to_proceed,
    wants_to_be_asked,
)
from perpetualcc.brain.rules.evidence import Clause, exception_of, read_evidence
from perpetualcc.brain.rules.guard import risk_of, risk_of_choice
from perpetualcc.brain.rules.matching import match_options
from perpetualcc.brain.rules.permission import advise
from perpetualcc.brain.rules.plan import Step, read_plan
from perpetualcc.brain.rules.refusals import is_refused, refusal_of
from perpetualcc.brain.rules.scopes import of_product, places
from perpetualcc.brain.rules.settled import may_be_declined
from perpetualcc.brain.rules.structure import option_in_project
from perpetualcc.brain.rules.text import fold
from perpetualcc.brain.rules.vocabulary import patterns
from perpetualcc.brain.rules.weighing import Landscape, Weighed, weigh
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext, no_opinion
from perpetualcc.domain.requirements import Requirements, StatementKind
from perpetualcc.domain.tools import Assessment, ToolCall

Parse = Callable[[str, str], Requirements]
"""Reads requirements from their text and path; raises `PerpetualError` when they make no sense."""

# Seed 000, Phase 3. A match of the requirements is surer than anybody's routine.
PROCEED = 0.85
STANDARD = 0.75
INFERRED = 0.7
SUGGESTED = 0.6
"""Below the threshold unless somebody lowers it: a person is asked, with this as a suggestion."""
STATED = 0.9


@dataclass(frozen=True, slots=True)
class Likely:
    """How likely all measures together must find an option."""

    found: float
    """One that no rule chose."""
    ruled: float
    """One that a rule did: most of these are."""
    refused: float
    """Doing without what a line refuses."""


SURE, PROBABLE = Likely(0.58, 0.63, 0.54), Likely(0.5, 0.5, 0.45)
"""To answer, and to suggest. Of two sets whose authors had not seen the rules, and that nothing
was learned or chosen from, 90 of 90 answers were right, and 90 of 122 questions answered. With
.54, .58 and .5 more are, and one that is risky."""

MAX_OPTIONS = 40
"""Claude offers four; a list of hundreds is not a question that rules were written for."""
_MAX_CHARACTERS = 4000


class RuleBasedBrain:
    """Answers by rules; see the module."""

    def __init__(self, parse: Parse, *, weighs: bool = True) -> None:
        self._read = lru_cache(maxsize=128)(lambda text, path: Reading(parse(text, path), text))
        self._weighs = weighs
        """Whether what the rules find no line for is weighed; off only to fit the weights."""

    @property
    def name(self) -> str:
        """What decisions are recorded under."""
        return "none"

    @property
    def usage(self) -> BrainUsage:
        """The rules cost nothing."""
        return BrainUsage()

    async def answer_question(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """Answer from the requirements, or say with confidence 0.0 why a person must."""
        return self.answer(question, context)

    def answer(self, question: Question, context: QuestionContext) -> BrainAnswer:
        """The same, for callers without a loop."""
        left = left_to_a_person(question)
        if left is None:
            return unless_risky(question, self._answer(question, context))
        if _unanswerable(question) or not may_be_declined(question.text):
            return left
        answer = self._answer(question, context)
        return unless_risky(question, answer) if _declines(answer) else left

    def _answer(self, question: Question, context: QuestionContext) -> BrainAnswer:
        try:
            reading = self.read(context)
        except PerpetualError as error:
            return no_opinion(f"The requirements cannot be read: {error.message}")
        choices = read_choices(question)
        asked = reading.asked(question, choices)
        clauses = reading.clauses
        yes_no = asks_consent(question, asked)
        without = ""
        if yes_no is not None:
            answer = _consent(asked, yes_no, reading, context)
        else:
            without = label_that_declines(question, asked, choices)
            refusal = refusal_of(asked, clauses) if without else None
            if refusal is not None:
                answer = _quoted((without,), STANDARD, refusal, context, said=_REFUSED)
            else:
                answer = _matched(question, asked, choices, reading, context)
        if self._weighs and clauses and is_to_be_weighed(question, asked, answer):
            answer = _weighed(question, asked, choices, reading, answer, context)
        agreeing = yes_no.yes if yes_no else None
        declining = yes_no.no if yes_no else without
        sides = [label == agreeing for label in answer.selected if label in (agreeing, declining)]
        if any(leaves_unguarded(asked, agrees=agrees) for agrees in sides):
            return no_opinion("Only a person may do without a safeguard")
        return answer

    async def evaluate_permission(
        self, call: ToolCall, assessment: Assessment, context: QuestionContext
    ) -> Advice:
        """Approve what is local, reversible and inside the project; leave the rest to a person."""
        return advise(call, assessment)

    async def summarize(self, text: str, *, words: int = 120) -> str:
        """The first words: rules do not understand, but they do not invent either."""
        kept = text.split()
        return " ".join(kept[:words]) + (" …" if len(kept) > words else "")

    def read(self, context: QuestionContext) -> "Reading":
        """What the requirements say, read once for each text."""
        if not context.requirements_text.strip():
            return Reading(Requirements(source=""), "")
        return self._read(context.requirements_text, context.requirements_path or "requirements.md")


class Reading:
    """Requirements as clauses, and where their words stand."""

    def __init__(self, requirements: Requirements, text: str) -> None:
        self.clauses = read_evidence(requirements)
        self._requirements, self._text = requirements, text

    @cached_property
    def plan(self) -> tuple[Step, ...]:
        """The tasks, read when one is asked for first."""
        return read_plan(self._requirements, self._text)

    @cached_property
    def wants_to_be_asked(self) -> bool:
        """Whether a line says to stop or to ask before the work goes on."""
        return wants_to_be_asked(self.clauses)

    @cached_property
    def _own_scopes(self) -> frozenset[str]:
        told = [(one.statement.kind is StatementKind.OVERVIEW, one.scopes) for one in self.clauses]
        return of_product(
            (scopes for is_overview, scopes in told if is_overview),
            (scopes for is_overview, scopes in told if not is_overview),
        )

    def asked(self, question: Question, choices: tuple[Choice, ...]) -> Asked:
        """What is asked, of this product."""
        asked = read_question(question, choices)
        return replace(asked, scopes=asked.scopes - self._own_scopes)

    @cached_property
    def land(self) -> Landscape:
        """Made when something is weighed first."""
        return Landscape(self.clauses)


def left_to_a_person(question: Question) -> BrainAnswer | None:
    """No opinion, and why: no brain can answer a question of this form, or none may."""
    if problem := _unanswerable(question):
        return no_opinion(problem)
    if risk := risk_of(question):
        return no_opinion(f"Only a person may answer: {risk}")
    return None


def _unanswerable(question: Question) -> str:
    """Why no brain can answer a question of this form; empty when one can."""
    labels = [" ".join(fold(option.label).split()) for option in question.options]
    if not question.text.strip():
        return "The question is empty"
    if not labels:
        return "The question offers no options"
    if len(labels) == 1:
        return "The question offers only one option"
    if len(labels) > MAX_OPTIONS:
        return f"The question offers {len(labels)} options"
    if not all(labels) or len(set(labels)) < len(labels):
        return "Two of the options have the same label"
    longest = max(len(f"{one.label}{one.about}") for one in question.options)
    if max(len(question.text), longest) > _MAX_CHARACTERS:
        return "The question is too long for rules"
    return ""


def asks_consent(question: Question, asked: Asked) -> YesNo | None:
    """Its yes and its no, when that is all that is asked."""
    return None if asked.is_open else read_yes_no(question)


def is_to_be_weighed(question: Question, asked: Asked, ruled: BrainAnswer) -> bool:
    """Whether all measures have a say: in what no rule found, and in what one read in a line."""
    if question.multi_select:
        return False
    is_read = ruled.reasoning.startswith(_SAID)
    return not ruled.selected or (is_read and asks_consent(question, asked) is None)


def unless_risky(question: Question, answer: BrainAnswer) -> BrainAnswer:
    """The answer, if its options are not a person's to choose."""
    risk = risk_of_choice(question, answer.selected)
    return no_opinion(f"Only a person may answer: {risk}") if risk else answer


def _declines(answer: BrainAnswer) -> bool:
    """Whether a line refuses what is asked for; weighing alone is not enough."""
    is_no = [side_of_label(label) < 0 for label in answer.selected] == [True]
    return is_no and bool(answer.quote) and answer.confidence >= STANDARD


def _consent(asked: Asked, sides: YesNo, reading: Reading, context: QuestionContext) -> BrainAnswer:
    clauses = reading.clauses
    found = evidence_for(asked, clauses)
    if found is not None and is_said_of_another(asked, found[0], clauses):
        return no_opinion(f"A person must decide: line {found[0].statement.line} says it of others")
    # They say how the product is to be, and not that anything is to be done now.
    if found is not None and not (found[1] and is_operation(asked)):
        clause, agrees = found
        label = sides.yes if agrees else sides.no
        if not label:
            return no_opinion("The requirements decline, and no option does")
        return _quoted((label,), STATED, clause, context)
    refusal = refusal_of(asked, clauses)
    if refusal is not None and is_said_of_another(asked, refusal, clauses):
        return no_opinion(f"A person must decide: line {refusal.statement.line} says it of others")
    if refusal is not None and sides.no:
        return _quoted((sides.no,), STANDARD, refusal, context)
    return _leave(asked, sides, reading, context)


def _leave(asked: Asked, sides: YesNo, reading: "Reading", context: QuestionContext) -> BrainAnswer:
    """Leave to go on, with a task of the requirements or with what anybody would do."""
    step, has_come = step_to_proceed(asked, reading.plan)
    if step is not None and not reading.wants_to_be_asked and is_plain(sides.yes, asked):
        if not has_come:
            return no_opinion(f"The task in line {step.line} waits for another")
        return _planned(sides.yes, step, context)
    if is_refused(asked, reading.clauses):
        return no_opinion(_REFUSING)
    if not is_plain(sides.yes, asked):
        return no_opinion("Agreeing would mean more than going on")
    if asks_to_proceed(asked, reading.clauses) and not reading.wants_to_be_asked:
        return BrainAnswer(
            selected=(sides.yes,), confidence=PROCEED, reasoning="Going on with what was agreed"
        )
    if is_routine(asked):
        return BrainAnswer(
            selected=(sides.yes,), confidence=STANDARD, reasoning="A standard, local operation"
        )
    return no_opinion(_SILENT if context.requirements_text.strip() else _NOTHING)


def _matched(
    question: Question,
    asked: Asked,
    choices: tuple[Choice, ...],
    reading: Reading,
    context: QuestionContext,
) -> BrainAnswer:
    turn = None if question.multi_select else step_that_is_next(asked, choices, reading.plan)
    if turn is not None:
        return _planned(*turn, context)
    match = match_options(asked, choices, reading.clauses, many=question.multi_select)
    if match.chosen:
        labels = tuple(one.choice.label for one in match.chosen)
        said = _LEFT if match.confidence == INFERRED else _SAID
        return _quoted(labels, match.confidence, match.chosen[0].clause, context, said=said)
    if match.problem:
        return no_opinion(f"A person must decide: {match.problem}")
    place = option_in_project(question, asked, context.project)
    if place:
        return BrainAnswer(
            selected=(place,),
            confidence=INFERRED,
            reasoning="It is the only place offered that the project has",
        )
    return no_opinion(_SILENT if context.requirements_text.strip() else _NOTHING)


def _planned(label: str, step: Step, context: QuestionContext) -> BrainAnswer:
    source = context.requirements_path or "requirements"
    return BrainAnswer(
        selected=(label,),
        confidence=PROCEED,
        reasoning=f"It is the turn of the task in line {step.line}",
        quote=f"{source}:{step.line}: {step.quote}",
    )


_SAID = "The requirements say so in line"
_REFUSED = "The requirements refuse it in line"
_LEFT = "The requirements leave no other, by line"
_SILENT = "The requirements do not say"
_NOTHING = "There are no requirements that could say (pcc start --requirements FILE)"
_UNSURE = "The requirements speak of it, and not clearly enough"
_REFUSING = "The requirements refuse something the question speaks of"


def can_be_weighed(question: Question, asked: Asked, one: Weighed, ruled: BrainAnswer) -> bool:
    """
    Whether an option may be chosen by its weight, after what the rules made of the question.

    Never to agree, and never to decline what somebody would do now: only to build or not to build.
    """
    measures, choice = one.measures, one.choice
    if choice.label in ruled.selected:
        return True
    if choice.escapes or choice.is_universal or choice.twin or measures["yes"]:
        return False
    if patterns("consent", "asks_what_to_do").search(asked.folded):
        return False
    if choice.names and measures["t_other"]:
        # A product that is named for another part.
        return False
    if one.clause is not None and (
        is_no_default(asked, choice, one.clause) or choice.names & one.clause.open
    ):
        return False
    where = places(one.clause.scopes) if one.clause else frozenset[str]()
    if where and places(asked.scopes) and not where & places(asked.scopes):
        return False
    if measures["word_refused"] and ruled.reasoning.endswith("refuses it"):
        return False
    excepted = exception_of(one.clause.statement.text) if one.clause else None
    if excepted is not None and not excepted & choice.every:
        return False
    if asks_consent(question, asked) is None:
        return True
    brings = patterns("consent", "brings").search(asked.folded)
    is_told = patterns("consent", "of_the_product").search(asked.folded)
    return bool(measures["no"] and (brings or (is_told and not is_operation(asked))))


def _weighed(
    question: Question,
    asked: Asked,
    choices: tuple[Choice, ...],
    reading: Reading,
    ruled: BrainAnswer,
    context: QuestionContext,
) -> BrainAnswer:
    """What the rules chose, if all measures together say so too; else what these say alone."""
    weighed = weigh(question, asked, choices, reading.land, ruled)
    likely, best = max(((one.likely, one) for one in weighed), key=lambda pair: pair[0])
    is_ruled = best.choice.label in ruled.selected
    if (
        likely >= _wanted(PROBABLE, ruled, is_ruled=is_ruled)
        and best.clause is not None
        and can_be_weighed(question, asked, best, ruled)
    ):
        found = ruled
        if not is_ruled:
            found = _quoted((best.choice.label,), INFERRED, best.clause, context)
        is_sure = likely >= _wanted(SURE, ruled, is_ruled=is_ruled)
        return found if is_sure else replace(found, confidence=SUGGESTED)
    return no_opinion(_UNSURE) if ruled.selected else ruled


def _wanted(likely: Likely, ruled: BrainAnswer, *, is_ruled: bool) -> float:
    if ruled.reasoning == _REFUSING:
        return likely.refused
    return likely.ruled if is_ruled else likely.found


def _quoted(
    labels: tuple[str, ...],
    confidence: float,
    clause: Clause,
    context: QuestionContext,
    said: str = _SAID,
) -> BrainAnswer:
    statement = clause.statement
    source = context.requirements_path or "requirements"
    return BrainAnswer(
        selected=labels,
        confidence=confidence,
        reasoning=f"{said} {statement.line}",
        quote=f"{source}:{statement.line}: {statement.quote}",
    )
