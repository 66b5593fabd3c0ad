"""The brains of this engine's sessions."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from perpetualcc.brain.completion import Complete
from perpetualcc.brain.factory import open_brain
from perpetualcc.brain.fallback import FallbackBrain
from perpetualcc.brain.port import Brain, BrainUsage
from perpetualcc.brain.settings import BrainSettings, BrainType, ClaudeSettings
from perpetualcc.claude import processes
from perpetualcc.claude.completion import ClaudeCompletion
from perpetualcc.config import environment
from perpetualcc.daemon.habits import in_words, surer_answer
from perpetualcc.daemon.library import Library
from perpetualcc.daemon.recollection import Recollection
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import main_tree
from perpetualcc.domain.ids import RunId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.questions import BrainAnswer, Question, QuestionContext
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import Task
from perpetualcc.memory import Procedure
from perpetualcc.requirements import parse_statements, read_text

log = logging.getLogger(__name__)


T = TypeVar("T")

Book = Callable[[Session, int, float], None]
"""What a brain has used for a session, in tokens and dollars."""


@dataclass(slots=True)
class _Mind:
    brain: Brain
    booked: BrainUsage = field(default_factory=BrainUsage)


class Minds:
    """One brain for each kind of session, what it is told of the session, and what it uses."""

    def __init__(self, settings: BrainSettings, locations: Locations, book: Book) -> None:
        self._settings = settings
        self._locations = locations
        self._book = book
        self._minds: dict[tuple[str, str, float], _Mind] = {}

    async def ask(self, session: Session, use: Callable[[Brain], Awaitable[T]]) -> T:
        """
        Use the session's brain. What it uses is the session's, whatever comes of it; where others
        with this brain ask at the same moment, it may be theirs.

        Raises:
            PerpetualError: a package, a key or a model is missing; the hint says what to type.
        """
        mind = self._of(session.options)
        try:
            return await use(mind.brain)
        finally:
            before, mind.booked = mind.booked, mind.brain.usage
            tokens = mind.booked.tokens - before.tokens
            if tokens:
                self._book(session, tokens, mind.booked.cost_usd - before.cost_usd)

    def _of(self, options: SessionOptions) -> _Mind:
        key = (options.brain, options.model, options.confidence)
        if key not in self._minds:
            self._minds[key] = _Mind(self._opened(options))
        return self._minds[key]

    def _opened(self, options: SessionOptions) -> Brain:
        """A second brain that cannot be had (its key is not in our environment) costs no first."""
        try:
            return self._open(options)
        except PerpetualError as error:
            if not self._settings.second:
                raise
            log.warning("asked without a second brain: %s", error.message)
            return self._open(options, has_second=False)

    def check(self, options: SessionOptions) -> None:
        """Raises PerpetualError when a session with these options could not have its brain."""
        self._open(options)

    def _open(self, options: SessionOptions, *, has_second: bool = True) -> Brain:
        wanted = brain_settings(self._settings, options)
        return open_brain(
            wanted if has_second else replace(wanted, second=""),
            parse=parse_statements,
            environment=environment(),
            open_claude=self._open_claude,
        )

    def _open_claude(self, settings: ClaudeSettings) -> Complete:
        return ClaudeCompletion(
            settings, environment=processes.mark(self._locations.data, RunId("brain"))
        )

    async def summarize(self, session: Session, text: str) -> str:
        """The brain's summary of a text; empty without a brain, or when it cannot be asked."""
        if session.options.brain == BrainType.NONE:
            return ""
        try:
            return await self.ask(session, lambda brain: _first(brain).summarize(text))
        except PerpetualError as error:
            log.warning("no summary of session %s: %s", session.id, error.message)
            return ""

    def context(self, session: Session, task: Task | None = None) -> QuestionContext:
        """What the brain is told. Requirements that cannot be read are no requirements."""
        path = session.options.requirements
        return QuestionContext(
            project=str(session.project),
            current_task=task.prompt if task else "",
            requirements_text=_text_of(path),
            requirements_path=path,
        )


def _first(brain: Brain) -> Brain:
    return brain.first if isinstance(brain, FallbackBrain) else brain


def brain_settings(configured: BrainSettings, options: SessionOptions) -> BrainSettings:
    """
    What the configuration says, with what the session was started with.

    Raises:
        PerpetualError: no brain has that name.
    """
    try:
        kind = BrainType(options.brain)
    except ValueError as error:
        names = ", ".join(BrainType)
        raise PerpetualError(
            f"No brain is called {options.brain!r}", hint=f"Brains: {names}"
        ) from error
    chosen = replace(configured, type=kind, confidence_threshold=options.confidence)
    return chosen.of_model(options.model)


def _text_of(path: str) -> str:
    if not path:
        return ""
    try:
        return read_text(Path(path))
    except PerpetualError as error:
        log.warning("requirements %s: %s", path, error.message)
        return ""


class BrainAnswerer:
    """`agent.ports.Answerer`."""

    def __init__(self, minds: Minds, library: Library, recollection: Recollection) -> None:
        self._minds = minds
        self._library = library
        self._recollection = recollection

    async def answer(
        self, questions: Sequence[Question], session: Session, task: Task
    ) -> Sequence[BrainAnswer]:
        known = self._minds.context(session, task)
        return [await self._one(question, session, known) for question in questions]

    async def _one(
        self, question: Question, session: Session, known: QuestionContext
    ) -> BrainAnswer:
        """Memory first, then the brain; the same answer as before is a surer one."""
        habits = self._recollection.habits
        habit = await habits.for_question(str(main_tree(session.project)), question.text)
        context = await self._context(question, session, known, habit)
        return surer_answer(await self._answer(question, session, context), habit)

    async def _context(
        self,
        question: Question,
        session: Session,
        known: QuestionContext,
        habit: Procedure | None,
    ) -> QuestionContext:
        """With the code and the memories that bear on this question."""
        # What is offered often stands in the code where the question's own words do not.
        asked = " ".join([question.text, *(option.label for option in question.options)])
        code = await self._library.for_question(session.project, asked)
        memories = await self._recollection.about(session.project, question.text)
        before = [f"This question was {in_words(habit)}"] if habit else []
        return replace(known, code=code, memories=(*before, *memories))

    async def _answer(
        self, question: Question, session: Session, context: QuestionContext
    ) -> BrainAnswer:
        try:
            return await self._minds.ask(
                session, lambda one: one.answer_question(question, context)
            )
        except PerpetualError as error:
            return BrainAnswer(selected=(), confidence=0.0, reasoning=error.message)
