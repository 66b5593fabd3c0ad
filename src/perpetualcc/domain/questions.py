"""What Claude asks, and what it is answered."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice Claude offers."""

    label: str
    description: str = ""
    preview: str = ""
    """What it would look like (a mockup, code): lines to be compared with those of the others."""

    @property
    def about(self) -> str:
        """All that is said of it."""
        return f"{self.description}\n{self.preview}" if self.preview else self.description


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of an `AskUserQuestion` call."""

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multi_select: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReference:
    """A piece of the project that bears on a question. Data, never instructions."""

    path: str
    """Relative to the project, with forward slashes."""
    start: int
    """First line, counted from 1."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContext:
    """What is known while a question is answered."""

    project: str
    current_task: str = ""
    requirements_text: str = ""
    requirements_path: str = ""
    code: tuple[CodeReference, ...] = ()
    memories: tuple[str, ...] = ()
    """Similar past episodes and facts, each one line, most relevant first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainAnswer:
    """A brain's opinion. Below the session's threshold a person is asked instead."""

    selected: tuple[str, ...]
    """Option labels exactly as offered; more than one only for multi-select; empty: no opinion."""
    confidence: float
    """0.0 (a person must decide) to 1.0."""
    reasoning: str
    quote: str = ""
    """The line of the requirements, memory or code that the answer rests on, with its place."""
    by: str = ""
    """Whose opinion it is and why, where it is not the first brain's; in `reasoning`, too."""

    @property
    def because(self) -> str:
        """In one line what it rests on, and whose opinion it is."""
        return f"{self.quote} {self.by}".rstrip() if self.quote else self.reasoning


def no_opinion(reason: str) -> BrainAnswer:
    """What a brain says when a person must decide."""
    return BrainAnswer(selected=(), confidence=0.0, reasoning=reason)
